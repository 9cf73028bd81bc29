package lifecycle

import "github.com/gpurent/terraform-provider-gpurent/internal/rental"

// OutbidPolicy is what to do with an interruptible instance that was outbid.
type OutbidPolicy string

// The values of OutbidPolicy.
const (
	OutbidRestart OutbidPolicy = "restart" // place a new bid
	OutbidKeep    OutbidPolicy = "keep"    // leave it outbid
	OutbidReplace OutbidPolicy = "replace" // rent another instance
)

// Action is the next step that takes an instance to its desired state.
type Action string

// The values of Action.
const (
	ActionNone    Action = "none"    // it has reached the desired state
	ActionWait    Action = "wait"    // it is changing, or in a status that this version does not know
	ActionStart   Action = "start"   // it has to be started, or needs a new bid
	ActionStop    Action = "stop"    // it has to be stopped
	ActionReplace Action = "replace" // it failed, or was outbid: only a replacement can reach the state
	ActionMissing Action = "missing" // it is destroyed, or about to be
)

// NextAction returns the next action for an instance. It depends only on Status and DesiredState, and applies to an
// instance for which this run has requested no start or stop.
func NextAction(inst rental.Instance, wanted rental.DesiredState, onOutbid OutbidPolicy) Action {
	if inst.DesiredState == rental.DesiredDestroyed {
		return ActionMissing
	}
	switch inst.Status {
	case rental.StatusDestroying, rental.StatusDestroyed:
		return ActionMissing
	case rental.StatusFailed:
		return ActionReplace
	case rental.StatusRunning:
		return nextWhileRunning(inst, wanted)
	case rental.StatusStopped:
		return nextWhileStopped(inst, wanted)
	case rental.StatusOutbid:
		return nextWhileOutbid(inst, wanted, onOutbid)
	default:
		return ActionWait
	}
}

func nextWhileRunning(inst rental.Instance, wanted rental.DesiredState) Action {
	stopping := inst.DesiredState == rental.DesiredStopped
	switch {
	case stopping:
		return ActionWait // the API accepts a start only after the stop
	case wanted == rental.DesiredRunning:
		return ActionNone
	default:
		return ActionStop
	}
}

func nextWhileStopped(inst rental.Instance, wanted rental.DesiredState) Action {
	starting := inst.DesiredState == rental.DesiredRunning
	switch {
	case wanted == rental.DesiredStopped && starting:
		return ActionStop
	case wanted == rental.DesiredStopped:
		return ActionNone
	default:
		return ActionStart
	}
}

func nextWhileOutbid(inst rental.Instance, wanted rental.DesiredState, onOutbid OutbidPolicy) Action {
	switch {
	case wanted == rental.DesiredStopped && inst.DesiredState == rental.DesiredStopped:
		return ActionNone // neither billed for a GPU nor bidding for one
	case wanted == rental.DesiredStopped:
		return ActionStop
	case onOutbid == OutbidKeep:
		return ActionNone
	case onOutbid == OutbidReplace:
		return ActionReplace
	default:
		return ActionStart
	}
}
