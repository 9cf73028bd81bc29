package market

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// NoOffer means that no offer could be rented.
type NoOffer struct {
	Counts Counts
	Waited time.Duration // for an offer
	Last   error         // why the last offer that was tried was not rented; nil if nothing was tried
}

func (e NoOffer) Error() string {
	if e.Last != nil {
		return "no offer could be rented: " + e.Last.Error()
	}
	return "no offer could be rented"
}

// NothingRented reports that nothing was rented.
func (NoOffer) NothingRented() bool { return true }

// OffersUnreadable means that the list of offers, or the configured offer, could not be read.
type OffersUnreadable struct{ Err error }

func (e OffersUnreadable) Error() string { return "the offers cannot be read: " + e.Err.Error() }

// Unwrap returns the error of the API.
func (e OffersUnreadable) Unwrap() error { return e.Err }

// NothingRented reports that nothing was rented.
func (OffersUnreadable) NothingRented() bool { return true }

// NotTried means that an earlier failure, Cause, ended this, too.
type NotTried struct{ Cause error }

func (e NotTried) Error() string { return "not tried: " + e.Cause.Error() }

// NothingRented reports that nothing was rented.
func (NotTried) NothingRented() bool { return true }

// unreadableEntries is the error of a list that contains offers none of which can be read.
type unreadableEntries struct {
	count int
	first rental.Skipped
}

func (u unreadableEntries) Error() string {
	return fmt.Sprintf("the API returned %d offers that cannot be read. The first one (%s): %v", u.count,
		cmp.Or(u.first.ID, "without an id"), u.first.Err)
}
