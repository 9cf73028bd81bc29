package lifecycle

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// nextActions are the next actions for each status and desired state of an instance: wanted running with on_outbid
// restart, keep and replace, then wanted stopped with the same three. An asterisk is any
// value. The first line that matches counts.
const nextActions = `
*            destroyed  missing missing missing    missing missing missing
destroying   *          missing missing missing    missing missing missing
destroyed    *          missing missing missing    missing missing missing
creating     *          wait    wait    wait       wait    wait    wait
starting     *          wait    wait    wait       wait    wait    wait
stopping     *          wait    wait    wait       wait    wait    wait
hibernating  *          wait    wait    wait       wait    wait    wait
failed       *          replace replace replace    replace replace replace
running      stopped    wait    wait    wait       wait    wait    wait
running      *          none    none    none       stop    stop    stop
stopped      running    start   start   start      stop    stop    stop
stopped      *          start   start   start      none    none    none
outbid       stopped    start   none    replace    none    none    none
outbid       *          start   none    replace    stop    stop    stop
`

func TestNextAction(t *testing.T) {
	statuses := []rental.InstanceStatus{
		rental.StatusCreating, rental.StatusStarting, rental.StatusRunning, rental.StatusStopping, rental.StatusStopped,
		rental.StatusDestroying, rental.StatusDestroyed, rental.StatusFailed, rental.StatusOutbid, "hibernating",
	}
	find := func(status, desired string) []string {
		for line := range strings.Lines(strings.TrimSpace(nextActions)) {
			fields := strings.Fields(line)
			if (fields[0] == "*" || fields[0] == status) && (fields[1] == "*" || fields[1] == desired) {
				return fields[2:]
			}
		}
		return make([]string, 6)
	}
	for _, status := range statuses {
		for _, desired := range []rental.DesiredState{
			"", rental.DesiredRunning, rental.DesiredStopped, rental.DesiredDestroyed,
		} {
			row, inst := find(string(status), string(desired)), rental.Instance{Status: status, DesiredState: desired}
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
