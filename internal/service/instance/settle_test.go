package instance

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// verdicts are what a server needs next, as an apply finds it: for each status and where the service is taking it, when it
// is wanted running (on_outbid restart, keep, replace) and when it is wanted stopped (the same three). A dash is a service
// that does not say where it is taking the server.
const verdicts = `
creating     -          wait    wait    wait       wait    wait    wait
creating     running    wait    wait    wait       wait    wait    wait
creating     stopped    wait    wait    wait       wait    wait    wait
creating     destroyed  gone    gone    gone       gone    gone    gone
starting     -          wait    wait    wait       wait    wait    wait
starting     running    wait    wait    wait       wait    wait    wait
starting     stopped    wait    wait    wait       wait    wait    wait
starting     destroyed  gone    gone    gone       gone    gone    gone
running      -          none    none    none       stop    stop    stop
running      running    none    none    none       stop    stop    stop
running      stopped    wait    wait    wait       wait    wait    wait
running      destroyed  gone    gone    gone       gone    gone    gone
stopping     -          wait    wait    wait       wait    wait    wait
stopping     running    wait    wait    wait       wait    wait    wait
stopping     stopped    wait    wait    wait       wait    wait    wait
stopping     destroyed  gone    gone    gone       gone    gone    gone
stopped      -          start   start   start      none    none    none
stopped      running    start   start   start      stop    stop    stop
stopped      stopped    start   start   start      none    none    none
stopped      destroyed  gone    gone    gone       gone    gone    gone
destroying   -          gone    gone    gone       gone    gone    gone
destroying   running    gone    gone    gone       gone    gone    gone
destroying   stopped    gone    gone    gone       gone    gone    gone
destroying   destroyed  gone    gone    gone       gone    gone    gone
destroyed    -          gone    gone    gone       gone    gone    gone
destroyed    running    gone    gone    gone       gone    gone    gone
destroyed    stopped    gone    gone    gone       gone    gone    gone
destroyed    destroyed  gone    gone    gone       gone    gone    gone
failed       -          replace replace replace    replace replace replace
failed       running    replace replace replace    replace replace replace
failed       stopped    replace replace replace    replace replace replace
failed       destroyed  gone    gone    gone       gone    gone    gone
outbid       -          start   none    replace    stop    stop    stop
outbid       running    start   none    replace    stop    stop    stop
outbid       stopped    start   none    replace    none    none    none
outbid       destroyed  gone    gone    gone       gone    gone    gone
hibernating  -          wait    wait    wait       wait    wait    wait
hibernating  running    wait    wait    wait       wait    wait    wait
hibernating  stopped    wait    wait    wait       wait    wait    wait
hibernating  destroyed  gone    gone    gone       gone    gone    gone
`

// statuses are the nine of the service, and one that this version does not know.
var statuses = []rental.InstanceStatus{
	rental.StatusCreating, rental.StatusStarting, rental.StatusRunning, rental.StatusStopping, rental.StatusStopped,
	rental.StatusDestroying, rental.StatusDestroyed, rental.StatusFailed, rental.StatusOutbid, "hibernating",
}

var headings = []rental.DesiredState{"", rental.DesiredRunning, rental.DesiredStopped, rental.DesiredDestroyed}

func TestVerdicts(t *testing.T) {
	rows := map[sighting][]string{}
	for line := range strings.Lines(strings.TrimSpace(verdicts)) {
		fields := strings.Fields(line)
		rows[sighting{status: rental.InstanceStatus(fields[0]), desired: rental.DesiredState(strings.Trim(fields[1], "-"))}] = fields[2:]
	}
	for _, status := range statuses {
		for _, desired := range headings {
			seen := sighting{status: status, desired: desired}
			row := rows[seen]
			if len(row) != 6 {
				t.Fatalf("%s heading for %q has %d verdicts", status, desired, len(row))
			}
			for n, wanted := range []rental.DesiredState{rental.DesiredRunning, rental.DesiredStopped} {
				for m, onOutbid := range []string{outbidRestart, outbidKeep, outbidReplace} {
					if got := judge(seen, wanted, onOutbid).String(); got != row[3*n+m] {
						t.Errorf("%s heading for %q, wanted %s, on_outbid %s: %s, want %s", status, desired, wanted, onOutbid, got, row[3*n+m])
					}
				}
			}
		}
	}
}
