package lifecycle

import (
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxUnreadable is the number of unreadable responses after which the outcome counts as unknown. A success without an
// id and an error that does not come from the API are unreadable, and a repetition is unlikely to help.
const maxUnreadable = 3

// attempts records the requests for one instance under one key. Until the outcome is known no other offer may be tried,
// because an instance may have been rented.
type attempts struct {
	pauses        backoff.Exponential
	made          int
	unreadable    int
	responseLost  error     // error of the last request whose response was lost; nil while none was
	inFlightUntil time.Time // until then a request whose response was lost may be in flight
	refused       bool      // the last response proves that nothing was rented
}

// next returns whether to repeat the request after err, and the pause before.
func (a *attempts) next(err error) (pause time.Duration, again bool) {
	pause = a.pauses.Pause(a.made)
	a.made++
	response, _ := errors.AsType[*rental.Error](err)
	if response != nil && response.InFlightUntil.After(a.inFlightUntil) {
		a.inFlightUntil = response.InFlightUntil
	}
	inFlight := time.Until(a.inFlightUntil)
	switch {
	case rental.IsUnreachable(err) && response.Attempts == 0:
		return 0, false // the client has given up
	case rental.IsUnauthorized(err), rental.IsForbidden(err):
		// The API checks permissions before the idempotency key, so a repetition cannot show what was rented.
		if rental.IsOutcomeUnknown(err) || inFlight > 0 {
			a.responseLost = err
		}
		return 0, false
	case rental.IsOutcomeUnknown(err):
		a.responseLost = err
		if response.Foreign && response.Status < 500 || response.Status/100 == 2 {
			a.unreadable++
		}
		return pause, a.unreadable < maxUnreadable
	case provesNothingRented(err) && inFlight > 0:
		// A request whose response was lost may still be in flight, although its repetition was refused.
		a.responseLost = err
		return inFlight, true
	case provesNothingRented(err):
		a.refused = true
		return 0, false
	}
	return pause, a.responseLost != nil
}

// provesNothingRented reports whether an error means that nothing was rented under the key. If an earlier attempt had
// succeeded, its repetition would return the instance.
func provesNothingRented(err error) bool {
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}
