package lifecycle

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// nextActions are the next actions for each status and desired state of an instance: wanted running with on_outbid
// restart, keep and replace, then wanted stopped with the same three. A dash is a response without a desired state.
const nextActions = `
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

func TestNextAction(t *testing.T) {
	statuses := []rental.InstanceStatus{
		rental.StatusCreating, rental.StatusStarting, rental.StatusRunning, rental.StatusStopping, rental.StatusStopped,
		rental.StatusDestroying, rental.StatusDestroyed, rental.StatusFailed, rental.StatusOutbid, "hibernating",
	}
	type observation struct {
		status  rental.InstanceStatus
		desired rental.DesiredState
	}
	rows := map[observation][]string{}
	for line := range strings.Lines(strings.TrimSpace(nextActions)) {
		fields := strings.Fields(line)
		rows[observation{rental.InstanceStatus(fields[0]), rental.DesiredState(strings.Trim(fields[1], "-"))}] = fields[2:]
	}
	for _, status := range statuses {
		for _, desired := range []rental.DesiredState{
			"", rental.DesiredRunning, rental.DesiredStopped, rental.DesiredDestroyed,
		} {
			row := rows[observation{status, desired}]
			if len(row) != 6 {
				t.Fatalf("%s with the desired state %q has %d actions", status, desired, len(row))
			}
			inst := rental.Instance{Status: status, DesiredState: desired}
			for n, wanted := range []rental.DesiredState{rental.DesiredRunning, rental.DesiredStopped} {
				for m, onOutbid := range []OutbidPolicy{OutbidRestart, OutbidKeep, OutbidReplace} {
					if got := NextAction(inst, wanted, onOutbid); string(got) != row[3*n+m] {
						t.Errorf("%s with the desired state %q, wanted %s, on_outbid %s: %s, want %s",
							status, desired, wanted, onOutbid, got, row[3*n+m])
					}
				}
			}
		}
	}
}
