// Package failure has the error type of the domain packages: spending, lifecycle, market and fleet. They return values
// of this type, errors of the API (rental.Error), and nothing else that callers distinguish.
package failure

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Kind classifies errors. It is a short text; the resources translate it into a message for users.
type Kind string

// The values of Kind. For the kinds of the first group, nothing was rented unless a comment states otherwise.
const (
	// Interrupted: the context ended first, with Err. A wait for offers sets Offers. A wait for an instance sets Last, the
	// error of the last read or nil, and Missing.
	Interrupted Kind = "interrupted"
	// OutcomeUnknown: an instance may have been rented under Key, which is that of Generation. Err is the error of the
	// last request. If ConfiguredKey is not empty, a creation needs it as the configured key to find the instance. It
	// finds an instance up to the age Within.
	OutcomeUnknown Kind = "the outcome of the create request is unknown"
	// NoOffer: no offer could be rented: see Offers. Last is about the last offer or the last list, or nil.
	NoOffer Kind = "no offer could be rented"
	// OfferRefused: OfferID cannot be rented: see Availability. Err is the error of the API, nil if nothing was requested.
	OfferRefused Kind = "the offer cannot be rented"
	// OffersUnreadable: the offers could not be read, with Err. OfferID is the offer, empty for a list.
	OffersUnreadable Kind = "the offers cannot be read"
	// NotLost: Instance was rented before under a chosen key, and it is too old, or its age is unknown, for an interrupted
	// apply to be the most likely reason. Age is 0 if it is unknown, and Within is the highest age.
	NotLost Kind = "the instance of the key is not lost"
	// OtherArguments: Instance, which was rented under the key, differs from the order in Differences.
	OtherArguments Kind = "the instance of the key has other arguments"
	// InUse: the API returned Instance, which another object has.
	InUse Kind = "the instance is in use"
	// NotTried: an earlier failure, Err, ended this, too.
	NotTried Kind = "not tried"

	// NotAsRequested: the new instance differs from its order in Differences. See Removal.
	NotAsRequested Kind = "the instance is not as requested"
	// AboveLimit: an offer, an instance or a sum of prices costs PriceKopH, and Limit is LimitKopH. See Removal. NowKopH
	// is the sum without the instance.
	AboveLimit Kind = "above a price limit"

	// Gone: the instance was destroyed outside this run, or the API does not find it.
	Gone Kind = "destroyed elsewhere"
	// NeedsReplacement: the instance failed, or was outbid and is to be replaced.
	NeedsReplacement Kind = "needs a replacement"
	// Reverted: the API accepted a start or stop, and the instance later returned to its earlier state.
	Reverted Kind = "returned to its earlier state"
	// OutbidAgain: the instance was outbid after each of Starts starts.
	OutbidAgain Kind = "outbid again"
	// KeptOutbid: the instance was outbid, and stays so.
	KeptOutbid Kind = "kept outbid"
	// StateRefused: the API refused a start or stop because of the status of the instance, with Err.
	StateRefused Kind = "the API refused the change of state"
	// NotDestroyed: the instance could not be destroyed, with Err. Accepted reports whether the API accepted the request.
	NotDestroyed Kind = "not destroyed"
	// NotPlanned: the instance would have to be destroyed, and the plan has not shown that.
	NotPlanned Kind = "not planned"

	// NotEnoughFunds: the balance does not cover the funded hours of what a plan starts. See StartsKopH, NeedKop, HaveKop.
	NotEnoughFunds Kind = "not enough funds"
	// AccountUnreadable: the account could not be compared with a limit, with Err.
	AccountUnreadable Kind = "the account cannot be read"
)

// Availability describes an offer that cannot be rented.
type Availability int

// The values of Availability.
const (
	AvailabilityUnknown Availability = iota
	Available                        // the API refuses to rent it for another reason
	NotAvailable
	NoPriceForType // it cannot be rented as the requested type
)

// Limit is a limit of the user.
type Limit int

// The values of Limit.
const (
	MaxPrice Limit = iota // of one instance, without its disk
	MaxBurn               // of the account
)

// Removal is what happened to an instance that must not run.
type Removal int

// The values of Removal.
const (
	NothingRequested Removal = iota // nothing was rented or started
	Destroyed                       // the API accepted its destruction
	Stopped                         // the API accepted its stop
	NotRemoved                      // its destruction or stop failed, with Err: it is billed
)

// Offers describes a search for offers.
type Offers struct {
	Listed bool // they were read
	// Needed is the number of instances that lack an offer, and Found the number of offers for them.
	Needed, Found int
	// Matching is the number of offers that match the queries. Reserved of them are used by this process or were refused a
	// moment ago, and Tried of them were tried.
	Matching, Reserved, Tried int
	Split                     bool // there are more offers, but not with the same country or GPU
	Waited                    time.Duration
}

// Missing is a condition that an instance does not meet.
type Missing struct {
	Condition string // "ssh_reachable", "urls_reachable" or "log_pattern"
	Err       error  // what was observed last
}

// Difference is a difference between an instance and its order.
type Difference struct {
	Attribute         string // "template", "disk_gb", "type", "image", "gpu.count", "gpu.vram_gb" or "gpu.slug"
	Actual, Requested string
	// Harmful: the instance does not meet the order.
	Harmful bool
}

// Error is an error of a domain package. Kind determines which fields are set.
type Error struct {
	Kind Kind
	Err  error

	OfferID      string
	Availability Availability
	Offers       Offers
	Last         error

	Instance           rental.Instance
	Differences        []Difference
	Key, ConfiguredKey string
	Generation         int
	Age, Within        time.Duration

	Limit                         Limit
	PriceKopH, NowKopH, LimitKopH int64
	Removal                       Removal

	Wanted   rental.DesiredState
	Missing  []Missing
	Starts   int
	Accepted bool

	StartsKopH, NeedKop, HaveKop int64
	// Warning: a plan continues with it.
	Warning bool
}

// Error is a short text.
func (e *Error) Error() string {
	text := string(e.Kind)
	if e.OfferID != "" {
		text += fmt.Sprintf(" (offer %s)", e.OfferID)
	}
	if e.LimitKopH > 0 {
		text += fmt.Sprintf(": %d kopecks per hour, and the limit is %d", e.PriceKopH, e.LimitKopH)
	}
	if err := cmp.Or(e.Err, e.Last); err != nil {
		text += ": " + err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// As returns err as an Error; its zero value if it is none, so that the caller can read Kind.
func As(err error) Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return *e
	}
	return Error{}
}

// KindOf returns the kind of an error, empty if it is not an Error.
func KindOf(err error) Kind { return As(err).Kind }

// Exceeds reports whether an error is about a limit.
func Exceeds(err error, limit Limit) bool {
	e := As(err)
	return e.Kind == AboveLimit && e.Limit == limit
}
