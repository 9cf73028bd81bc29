package placement

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// ErrorKind classifies the errors of Create.
type ErrorKind int

// The values of ErrorKind. Nothing was rented unless a comment states otherwise.
const (
	// Interrupted: the context ended first, with Err. If Create waited for an offer, Waited is above 0 and the fields of
	// NoOffer are set.
	Interrupted ErrorKind = iota + 1
	// OutcomeUnknown: an instance may have been rented. Err is the error of the last request. A creation with Key returns
	// it, if Key is not empty; otherwise, one with the same source of keys does.
	OutcomeUnknown
	// KeysUsedUp: the instances of the key and of all later generations are destroyed.
	KeysUsedUp
	// NoOffer: no offer of the queries could be rented, with WaitForOffer during all of Waited. See Matching, Reserved,
	// Tried; Last is about the last offer or the last list, or nil.
	NoOffer
	// OfferGone: the offer OfferID is not available.
	OfferGone
	// OfferRefused: the API refused to rent OfferID, with Err. Available is the availability of the offer afterwards.
	OfferRefused
	// OfferAboveCap: OfferID costs PriceKopH, which is above LimitKopH.
	OfferAboveCap
	// NotInterruptible: OfferID cannot be rented as interruptible.
	NotInterruptible
	// NotLost: Instance was rented before under the key, and it is too old, or its age is unknown, for a run that was
	// killed to be the most likely reason. Age is 0 if it is unknown.
	NotLost
	// OtherArguments: Instance, which was rented under the key, differs from the request in Difference.
	OtherArguments
	// InUse: the API returned Instance, which another object has. Replayed: both may have the same key.
	InUse
	// OffersUnreadable: the offers could not be read, with Err. OfferID is the offer, empty for a list.
	OffersUnreadable
)

// Availability describes an offer, for example after the API refused to rent it.
type Availability int

// The values of Availability.
const (
	AvailabilityUnknown Availability = iota
	Available
	NotAvailable
	AboveCap       // it costs more than the cap, whether or not it is available
	NoPriceForType // it cannot be rented as the requested type
)

// Error is the error of Create.
type Error struct {
	Kind      ErrorKind
	OfferID   string
	Available Availability
	PriceKopH int64 // kopecks per hour
	LimitKopH int64 // kopecks per hour
	Err       error

	Key        string
	Replayed   bool
	Instance   rental.Instance
	Age        time.Duration
	Within     time.Duration // the oldest age that the request accepts
	Difference Difference

	Listed                    bool // the offers were read
	Matching, Reserved, Tried int  // numbers of offers of the queries
	Last                      error
	Waited                    time.Duration
}

// add adds the numbers of another query.
func (e *Error) add(other Error) {
	e.Listed = e.Listed || other.Listed
	e.Matching += other.Matching
	e.Reserved += other.Reserved
	e.Tried += other.Tried
	if other.Last != nil {
		e.Last = other.Last
	}
}

// Error is a short text for logs. Callers translate Kind into a message for users.
func (e *Error) Error() string {
	text := "no instance was created: " + e.Kind.String()
	if e.OfferID != "" {
		text += fmt.Sprintf(" (offer %s)", e.OfferID)
	}
	if err := cmp.Or(e.Err, e.Last); err != nil {
		text += ": " + err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// String returns a short text for logs.
func (k ErrorKind) String() string {
	return [...]string{
		"none", "interrupted", "the outcome is unknown", "all idempotency keys are used up",
		"no offer", "the offer is not available", "the offer was refused", "the offer is above the price cap",
		"the offer is not interruptible", "the instance of the key is not lost",
		"the instance of the key has other arguments", "the instance is in use",
		"the offers cannot be read",
	}[k]
}

// KindOf returns the kind of an error, 0 if it is not an Error.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}
