package instance

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Values of on_outbid: what to do about an interruptible server whose bid was
// passed by the market.
const (
	outbidRestart = "restart"
	outbidKeep    = "keep"
	outbidReplace = "replace"
)

// step is what a server needs next on its way to where it is wanted.
type step int

const (
	stepNone    step = iota // it is where it is wanted
	stepWait                // it is on its way, or in a status this version does not know
	stepStart               // it has to be started, or its bid renewed
	stepStop                // it has to be stopped
	stepReplace             // nothing brings this one back: only a new server helps
	stepGone                // it is destroyed, or about to be
)

func (s step) String() string {
	return [...]string{"none", "wait", "start", "stop", "replace", "gone"}[s]
}

// sighting is what decides the next step.
type sighting struct {
	status  rental.InstanceStatus
	desired rental.DesiredState // where the service is taking it; empty when it does not say
}

// judge returns the next step for a server that no start or stop was requested for. It
// is used at plan and while waiting.
func judge(seen sighting, wanted rental.DesiredState, onOutbid string) step {
	if seen.desired == rental.DesiredDestroyed {
		return stepGone
	}
	switch seen.status {
	case rental.StatusDestroying, rental.StatusDestroyed:
		return stepGone
	case rental.StatusFailed:
		return stepReplace
	case rental.StatusRunning:
		return judgeRunning(seen, wanted)
	case rental.StatusStopped:
		return judgeStopped(seen, wanted)
	case rental.StatusOutbid:
		return judgeOutbid(seen, wanted, onOutbid)
	default:
		return stepWait
	}
}

func judgeRunning(seen sighting, wanted rental.DesiredState) step {
	headingDown := seen.desired == rental.DesiredStopped
	switch {
	case wanted == rental.DesiredRunning && headingDown:
		return stepWait // a stop is under way: a start is possible only after it
	case wanted == rental.DesiredRunning:
		return stepNone
	case headingDown:
		return stepWait
	default:
		return stepStop
	}
}

func judgeStopped(seen sighting, wanted rental.DesiredState) step {
	headingUp := seen.desired == rental.DesiredRunning
	switch {
	case wanted == rental.DesiredStopped && headingUp:
		return stepStop
	case wanted == rental.DesiredStopped:
		return stepNone
	default:
		return stepStart
	}
}

func judgeOutbid(seen sighting, wanted rental.DesiredState, onOutbid string) step {
	switch {
	case wanted == rental.DesiredStopped && seen.desired == rental.DesiredStopped:
		return stepNone // no GPU is billed and none is asked for: as good as stopped
	case wanted == rental.DesiredStopped:
		return stepStop
	case onOutbid == outbidKeep:
		return stepNone
	case onOutbid == outbidReplace:
		return stepReplace
	default:
		return stepStart
	}
}
