package spending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Kind is the result of a check.
type Kind int

// The values of Kind.
const (
	// NotEnoughFunds: the account does not cover FundedHours of what the plan starts.
	NotEnoughFunds Kind = iota + 1
	// BurnLimitExceeded: the plan raises the burn rate above the limit.
	BurnLimitExceeded
	// AccountUnreadable: the account could not be read, with Err.
	AccountUnreadable
)

// Error is what a check found.
type Error struct {
	Kind    Kind
	Warning bool // the limits do not fail the plan for it

	// NotEnoughFunds: all instances that the plan starts cost StartsKopH, and need NeedKop of which the account has
	// HaveKop.
	StartsKopH, NeedKop, HaveKop int64
	// BurnLimitExceeded: the burn rate now, with the plan, and its limit.
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

// Problems are what a check found: errors and warnings.
type Problems []*Error

// Errors returns those that are no warnings, as a Problems; nil for none.
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

// FundedHours is how many hours of running the API requires the account to cover before it starts an instance.
const FundedHours = 2

// MissingFunds returns an error if the account does not cover the funded hours of all starts, else nil.
func MissingFunds(balance rental.Balance, startsKopH int64) *Error {
	have, need := balance.AvailableKop+balance.CreditLimitKop, FundedHours*startsKopH
	if have >= need {
		return nil
	}
	return &Error{Kind: NotEnoughFunds, StartsKopH: startsKopH, NeedKop: need, HaveKop: have}
}
