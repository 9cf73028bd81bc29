package reconcile

import (
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
)

// ErrorKind classifies the errors of this package.
type ErrorKind int

// The values of ErrorKind.
const (
	// NoOffer: no offer was left for the slot. Choice describes the offers, and Err is the last refusal; nil for none.
	NoOffer ErrorKind = iota + 1
	// OverBudget: the price of the cheapest offer, or of a new bid, would exceed MaxTotalKopH.
	OverBudget
	// NotTried: an earlier failure, Err, applies to the slot, too. Nothing was requested.
	NotTried
	// AboveCap: the new instance costs PriceKopH, which is above the cap LimitKopH. It was destroyed, unless Err is set.
	AboveCap
	// AboveTotal: with the new instance, the fleet costs PriceKopH, which is above LimitKopH. It was destroyed, unless Err
	// is set.
	AboveTotal
	// NotAsRequested: the new instance differs from its request in Differences. It was destroyed, unless Err is set.
	NotAsRequested
	// NotDestroyed: the instance could not be destroyed, with Err. Confirmed reports whether the API accepted the request.
	NotDestroyed
	// NotPlanned: the instance of a protected member would have to be destroyed.
	NotPlanned
	// KeptOutbid: the instance was outbid, and OnOutbid leaves it so.
	KeptOutbid
)

// Error is the reason why a slot is not as described.
type Error struct {
	Kind                 ErrorKind
	PriceKopH, LimitKopH int64
	Differences          []placement.Difference
	Stopped              bool // the instance was stopped instead of destroyed, because an earlier run rented it
	Confirmed            bool
	Err                  error
}

// Error is a short text for logs. Callers translate Kind into a message for users.
func (e *Error) Error() string {
	text := [...]string{
		"none", "no offer", "over budget", "not tried", "above the price cap", "above the total price cap",
		"not as requested", "not destroyed", "not planned", "kept outbid",
	}[e.Kind]
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error, 0 if it is not an Error.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}

// Failure is the reason why a slot is not as described.
type Failure struct {
	Slot int
	// Member is the instance in the slot as it was last read, before it was rolled back; nil if there was none.
	Member *Member
	Err    error
}

// OfOtherObject reports whether the instance of the slot may belong to another fleet.
func (f Failure) OfOtherObject() bool { return ofOtherObject(f.Err) }
