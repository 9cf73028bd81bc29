package lifecycle

import (
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Interrupted means that the context ended before anything was rented.
type Interrupted struct{ Err error }

func (e Interrupted) Error() string { return "interrupted: " + e.Err.Error() }

// Unwrap returns the error of the context.
func (e Interrupted) Unwrap() error { return e.Err }

// NothingRented reports that nothing was rented.
func (Interrupted) NothingRented() bool { return true }

// OutcomeUnknown means that an instance may have been rented. Err is the error of the last request whose response was
// lost.
type OutcomeUnknown struct {
	Key        string // the idempotency key of the request
	Seed       KeySeed
	Generation int // of the key
	Err        error
}

func (e OutcomeUnknown) Error() string {
	return "the outcome of the create request is unknown: " + e.Err.Error()
}

// Unwrap returns Err.
func (e OutcomeUnknown) Unwrap() error { return e.Err }

// OfferUnavailable means that the offer is not available, so that nothing was requested.
type OfferUnavailable struct{ OfferID string }

func (e OfferUnavailable) Error() string { return fmt.Sprintf("offer %s is not available", e.OfferID) }

// NothingRented reports that nothing was rented.
func (OfferUnavailable) NothingRented() bool { return true }

// NotInterruptible means that the offer has no price for the rental type.
type NotInterruptible struct{ OfferID string }

func (e NotInterruptible) Error() string {
	return fmt.Sprintf("offer %s cannot be rented as interruptible", e.OfferID)
}

// NothingRented reports that nothing was rented.
func (NotInterruptible) NothingRented() bool { return true }

// OfferAboveCap means that the offer costs more than the price cap.
type OfferAboveCap struct {
	OfferID            string
	PriceKopH, CapKopH int64
}

func (e OfferAboveCap) Error() string {
	return fmt.Sprintf("offer %s costs %d kopecks per hour, and the cap is %d", e.OfferID, e.PriceKopH, e.CapKopH)
}

// NothingRented reports that nothing was rented.
func (OfferAboveCap) NothingRented() bool { return true }

// OfferRefused means that the API refused to rent from the offer. Afterwards is what the API then returned about the
// offer.
type OfferRefused struct {
	OfferID    string
	Afterwards Availability
	Err        error
}

// Availability describes an offer after a refusal.
type Availability int

// The values of Availability.
const (
	AvailabilityUnknown Availability = iota
	Available                        // the reason is another one
	NotAvailable
)

func (e OfferRefused) Error() string {
	return fmt.Sprintf("offer %s was refused: %s", e.OfferID, e.Err)
}

// Unwrap returns the error of the API.
func (e OfferRefused) Unwrap() error { return e.Err }

// NothingRented reports that nothing was rented.
func (OfferRefused) NothingRented() bool { return true }

// NotRecent means that the instance was rented before under a chosen key, and not within recover_within, or at an
// unknown time, so that another state may have it.
type NotRecent struct {
	Instance      rental.Instance
	RecoverWithin time.Duration
}

func (e NotRecent) Error() string { return "not a recent instance: " + e.Instance.ID }

// NothingRented reports that nothing was rented.
func (NotRecent) NothingRented() bool { return true }

// ReplayDiffers means that the instance that was rented before under the key differs from the order.
type ReplayDiffers struct {
	Instance    rental.Instance
	Differences []Difference
}

func (e ReplayDiffers) Error() string { return "the instance of the key differs: " + e.Instance.ID }

// NothingRented reports that nothing was rented.
func (ReplayDiffers) NothingRented() bool { return true }

// InUse means that the API returned an instance that another object has.
type InUse struct{ Instance rental.Instance }

func (e InUse) Error() string { return "another object has instance " + e.Instance.ID }

// NothingRented reports that nothing was rented.
func (InUse) NothingRented() bool { return true }

// RentedBefore returns the instance that was rented before under the key and that must not be taken, if that is the
// error.
func RentedBefore(err error) (inst rental.Instance, ok bool) {
	if e, ok := errors.AsType[NotRecent](err); ok {
		return e.Instance, true
	}
	if e, ok := errors.AsType[ReplayDiffers](err); ok {
		return e.Instance, true
	}
	e, ok := errors.AsType[InUse](err)
	return e.Instance, ok
}

// NotAsOrdered means that the new instance does not meet its order.
type NotAsOrdered struct{ Differences []Difference }

func (NotAsOrdered) Error() string { return "the instance is not as ordered" }

// AboveCap means that the instance costs more than the price cap.
type AboveCap struct{ PriceKopH, CapKopH int64 }

func (e AboveCap) Error() string {
	return fmt.Sprintf("the instance costs %d kopecks per hour, and the cap is %d", e.PriceKopH, e.CapKopH)
}

// Rejected means that a new instance must not run because of Reason: NotAsOrdered, AboveCap or spending.AboveBurnLimit.
// Err is the error of its removal if Removal is NotRemoved.
type Rejected struct {
	Reason  error
	Removal Removal
	Err     error
}

// Removal is what became of a new instance that must not run.
type Removal int

// The values of Removal.
const (
	NotRemoved Removal = iota // the instance is billed
	Destroyed                 // the API accepted its destruction
	Stopped                   // the API accepted its stop: this creation may not have rented it
)

func (e Rejected) Error() string { return "rejected: " + e.Reason.Error() }

// Unwrap returns Reason.
func (e Rejected) Unwrap() error { return e.Reason }

// StoppedAgain means that the instance was started, costs too much for Reason, which is AboveCap or
// spending.AboveBurnLimit, and was stopped.
type StoppedAgain struct{ Reason error }

func (e StoppedAgain) Error() string { return "stopped again: " + e.Reason.Error() }

// Unwrap returns Reason.
func (e StoppedAgain) Unwrap() error { return e.Reason }

// StillRunning is StoppedAgain if the stop failed with Err.
type StillRunning struct{ Reason, Err error }

func (e StillRunning) Error() string { return "not stopped again: " + e.Reason.Error() }

// Unwrap returns Reason.
func (e StillRunning) Unwrap() error { return e.Reason }

// NotReady means that the context ended, with Err, before the instance was in the desired state and ready.
type NotReady struct {
	Err error
	// LastRead is the error of the last read; nil if it succeeded.
	LastRead error
	Unmet    []Unmet
}

func (e NotReady) Error() string { return "not ready: " + e.Err.Error() }

// Unwrap returns the error of the context.
func (e NotReady) Unwrap() error { return e.Err }

// Unmet is a condition that an instance does not meet.
type Unmet struct {
	Condition string // "ssh_reachable", "urls_reachable" or "log_pattern"
	Err       error  // what was observed last
}

// Missing means that the instance was destroyed outside this run, or the API does not find it.
type Missing struct{}

func (Missing) Error() string { return "destroyed, or not found" }

// NeedsReplacement means that the instance failed, or was outbid and is to be replaced.
type NeedsReplacement struct{}

func (NeedsReplacement) Error() string { return "needs a replacement" }

// Reverted means that the API accepted a start or stop, and the instance later returned to its earlier state.
type Reverted struct{}

func (Reverted) Error() string { return "returned to its earlier state" }

// OutbidAgain means that the instance was outbid after each of Starts starts.
type OutbidAgain struct{ Starts int }

func (e OutbidAgain) Error() string { return fmt.Sprintf("outbid after each of %d starts", e.Starts) }

// StateRefused means that the API refused a start or stop because of the status of the instance.
type StateRefused struct {
	Wanted rental.DesiredState
	Err    error
}

func (e StateRefused) Error() string { return fmt.Sprintf("%s refused: %s", e.Wanted, e.Err) }

// Unwrap returns the error of the API.
func (e StateRefused) Unwrap() error { return e.Err }

// Difference is a difference between an instance and its order.
type Difference struct {
	Attribute         string // "template", "disk_gb", "type", "image", "gpu.count", "gpu.vram_gb" or "gpu.slug"
	Actual, Requested string
	// Harmful: the instance does not meet the order.
	Harmful bool
}
