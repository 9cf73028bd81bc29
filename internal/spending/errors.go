package spending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Kind classifies the problems that a check finds.
type Kind int

// The values of Kind.
const (
	// NotEnoughFunds: the balance does not cover FundedHours of the instances that the plan starts.
	NotEnoughFunds Kind = iota + 1
	// BurnLimitExceeded: the plan raises the burn rate above the limit.
	BurnLimitExceeded
	// AccountUnreadable: the account could not be read, with Err.
	AccountUnreadable
)

// Error is a problem that a check found.
type Error struct {
	Kind    Kind
	Warning bool // the limits do not require an error

	// NotEnoughFunds: the instances that the plan starts cost StartsKopH per hour and require NeedKop. The account has
	// HaveKop.
	StartsKopH, NeedKop, HaveKop int64
	// BurnLimitExceeded: the current burn rate, the rate with the plan, and the limit.
	BurnKopH, PlannedKopH, LimitKopH int64

	Err error
}

// Error is a short text for logs. Callers translate Kind into a message for users.
func (e *Error) Error() string {
	switch e.Kind {
	case NotEnoughFunds:
		return fmt.Sprintf("the account has %d kopecks and needs %d", e.HaveKop, e.NeedKop)
	case BurnLimitExceeded:
		return fmt.Sprintf("the burn rate would be %d kopecks per hour, and the limit is %d", e.PlannedKopH, e.LimitKopH)
	case AccountUnreadable:
		return fmt.Sprintf("the account cannot be read: %s", e.Err)
	}
	return ""
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Problems holds the errors and warnings of a check.
type Problems []*Error

// Errors returns the problems that are not warnings, of type Problems; nil for none.
func (p Problems) Errors() error {
	failing := slices.DeleteFunc(slices.Clone(p), func(problem *Error) bool { return problem.Warning })
	if len(failing) == 0 {
		return nil
	}
	return failing
}

// Error is a short text for logs.
func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Error()
	}
	return strings.Join(texts, "; ")
}

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
