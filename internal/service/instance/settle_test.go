package instance

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

func TestJudge(t *testing.T) {
	const (
		run, stop, nowhere = rental.DesiredRunning, rental.DesiredStopped, rental.DesiredState("")
		restart            = outbidRestart
	)
	for _, test := range []struct {
		status   rental.InstanceStatus
		desired  rental.DesiredState
		asked    bool
		wanted   rental.DesiredState
		onOutbid string
		want     step
	}{
		// Where it is wanted.
		{"running", run, false, run, restart, stepNone},
		{"running", nowhere, false, run, restart, stepNone},
		{"stopped", stop, false, stop, restart, stepNone},
		{"stopped", nowhere, false, stop, restart, stepNone},

		// On its way.
		{"creating", run, false, run, restart, stepWait},
		{"starting", run, false, run, restart, stepWait},
		{"stopping", stop, false, stop, restart, stepWait},
		{"creating", run, false, stop, restart, stepWait},
		{"starting", run, false, stop, restart, stepWait},
		{"stopping", stop, false, run, restart, stepWait},
		{"hibernating", run, false, run, restart, stepWait},

		// Has to be asked for, once.
		{"stopped", stop, false, run, restart, stepStart},
		{"stopped", nowhere, false, run, restart, stepStart},
		{"stopped", run, false, run, restart, stepStart},
		{"stopped", run, true, run, restart, stepWait},
		{"stopped", stop, true, run, restart, stepWait},
		{"running", run, false, stop, restart, stepStop},
		{"running", nowhere, false, stop, restart, stepStop},
		{"running", run, true, stop, restart, stepWait},
		{"running", stop, false, stop, restart, stepWait},
		{"running", stop, false, run, restart, stepWait},
		{"stopped", run, false, stop, restart, stepStop},
		{"stopped", run, true, stop, restart, stepWait},

		// Outbid.
		{"outbid", run, false, run, restart, stepStart},
		{"outbid", run, true, run, restart, stepWait},
		{"outbid", run, false, run, outbidKeep, stepNone},
		{"outbid", run, false, run, outbidReplace, stepReplace},
		{"outbid", run, false, stop, restart, stepStop},
		{"outbid", run, true, stop, restart, stepWait},
		{"outbid", stop, false, stop, restart, stepNone},
		{"outbid", stop, false, stop, outbidReplace, stepNone},

		// Beyond help, and gone.
		{"failed", run, false, run, restart, stepReplace},
		{"failed", stop, false, stop, outbidKeep, stepReplace},
		{"destroying", rental.DesiredDestroyed, false, run, restart, stepGone},
		{"destroyed", rental.DesiredDestroyed, false, stop, restart, stepGone},
		{"running", rental.DesiredDestroyed, false, run, restart, stepGone},
		{"creating", rental.DesiredDestroyed, false, run, restart, stepGone},
	} {
		got := judge(sighting{test.status, test.desired, test.asked}, test.wanted, test.onOutbid)
		if got != test.want {
			t.Errorf("%s heading for %q (asked: %t), wanted %s, on_outbid %s: %s, want %s",
				test.status, test.desired, test.asked, test.wanted, test.onOutbid, got, test.want)
		}
	}
}

// Once a start or stop was asked for, no sequence of answers makes it be asked
// for again in the same wait: a service that lags must not be hammered.
func TestJudgeNeverAsksTwice(t *testing.T) {
	statuses := []rental.InstanceStatus{"creating", "starting", "running", "stopping", "stopped", "destroying", "destroyed", "failed", "outbid", "new"}
	for _, status := range statuses {
		for _, desired := range []rental.DesiredState{"", "running", "stopped", "destroyed", "new"} {
			for _, wanted := range []rental.DesiredState{"running", "stopped"} {
				for _, onOutbid := range []string{outbidRestart, outbidKeep, outbidReplace} {
					if got := judge(sighting{status, desired, true}, wanted, onOutbid); got == stepStart || got == stepStop {
						t.Errorf("%s heading for %q, wanted %s, on_outbid %s: asked again to %s", status, desired, wanted, onOutbid, got)
					}
				}
			}
		}
	}
}
