package spending

import "fmt"

// AboveBurnLimit means that, with an instance, the account would cost more than the limit. It costs NowKopH without it.
type AboveBurnLimit struct{ NowKopH, ThenKopH, LimitKopH int64 }

func (e AboveBurnLimit) Error() string {
	return fmt.Sprintf("the account would cost %d kopecks per hour, and the limit is %d", e.ThenKopH, e.LimitKopH)
}

// NothingRented reports that nothing was rented.
func (AboveBurnLimit) NothingRented() bool { return true }

// NotEnoughFunds means that the balance does not cover the funded hours of what a plan starts.
type NotEnoughFunds struct{ StartsKopH, NeedKop, HaveKop int64 }

func (e NotEnoughFunds) Error() string {
	return fmt.Sprintf("the balance must be %d kopecks, and is %d", e.NeedKop, e.HaveKop)
}

// AccountUnreadable means that the account could not be compared with a limit.
type AccountUnreadable struct{ Err error }

func (e AccountUnreadable) Error() string { return "the account cannot be read: " + e.Err.Error() }

// Unwrap returns the error of the API.
func (e AccountUnreadable) Unwrap() error { return e.Err }

// NothingRented reports that nothing was rented.
func (AccountUnreadable) NothingRented() bool { return true }
