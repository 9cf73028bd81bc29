package spending

import (
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Kind classifies the errors of this package.
type Kind int

// The values of Kind.
const (
	// NotEnoughFunds: the balance does not cover FundedHours of the instances that a plan starts.
	NotEnoughFunds Kind = iota + 1
	// LimitExceeded: the instances would cost more than the limit.
	LimitExceeded
	// AccountUnreadable: the account could not be read, with Err.
	AccountUnreadable
)

// Error is a problem that a comparison found.
type Error struct {
	Kind    Kind
	Warning bool // the limits do not require an error

	// NotEnoughFunds: the instances that the plan starts cost StartsKopH per hour and require NeedKop. The account has
	// HaveKop.
	StartsKopH, NeedKop, HaveKop int64
	// LimitExceeded: the costs now, the costs afterwards, and the limit.
	BurnKopH, AfterKopH, LimitKopH int64

	Err error
}

// Error is a short text for logs. Callers translate Kind into a message for users.
func (e *Error) Error() string {
	switch e.Kind {
	case NotEnoughFunds:
		return fmt.Sprintf("the account has %d kopecks and needs %d", e.HaveKop, e.NeedKop)
	case LimitExceeded:
		return fmt.Sprintf("the price would be %d kopecks per hour, and the limit is %d", e.AfterKopH, e.LimitKopH)
	case AccountUnreadable:
		return fmt.Sprintf("the account cannot be read: %s", e.Err)
	}
	return ""
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Problems holds the errors and warnings of a plan.
type Problems []*Error

// FundedHours is the number of hours for which the balance must cover an instance before the API starts it.
const FundedHours = 2

// MissingFunds returns an error if the account does not cover the funded hours of all starts, else nil.
func MissingFunds(balance rental.Balance, startsKopH int64) *Error {
	have, need := balance.AvailableKop+balance.CreditLimitKop, FundedHours*startsKopH
	if have >= need {
		return nil
	}
	return &Error{Kind: NotEnoughFunds, StartsKopH: startsKopH, NeedKop: need, HaveKop: have}
}
