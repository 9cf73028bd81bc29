// Package spending compares prices with the limits of the provider configuration: when an instance is planned, each
// resource alone, and right before an instance is rented or started. It is about instances and prices and does not
// depend on Terraform. All prices are in kopecks per hour.
package spending

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// FundsPolicy decides whether a balance that does not cover a resource is an error, a warning or ignored.
type FundsPolicy string

// The values of FundsPolicy.
const (
	FundsError FundsPolicy = "error"
	FundsWarn  FundsPolicy = "warn"
	FundsOff   FundsPolicy = "off"
)

// Limits holds the limits of the provider configuration.
type Limits struct {
	RequireFunds FundsPolicy
	MaxBurnKopH  int64 // highest burn rate of the account, kopecks per hour. Zero means no limit.
}

// Change is what the plan of one resource changes.
type Change struct {
	StartsKopH int64 // sum of the prices of the instances that it rents and starts
	AddedKopH  int64 // rise of the burn rate
	// Replaced are the instances that are destroyed before anything is rented. Their cost does not count, and exceeding a
	// limit is certain: nothing else makes room.
	Replaced []string
	// Replacements are instances that are rented, each after another one was destroyed for it. AddedKopH does not contain
	// them: an old instance makes room only for its own replacement, because others are rented before it is destroyed.
	Replacements []Replacement
}

// needsKopH is the lowest price of what is rented after something was destroyed for it, or zero.
func (c Change) needsKopH() (needs int64) {
	if len(c.Replaced) > 0 {
		return c.StartsKopH
	}
	for i, r := range c.Replacements {
		if i == 0 || r.KopH < needs {
			needs = r.KopH
		}
	}
	return needs
}

// Replacement is an instance that is rented, and the id of the one that is destroyed for it.
type Replacement struct {
	ID   string
	KopH int64
}

// StartOf returns the change of a plan that starts an instance. The price of a new bid is not known before the apply.
func StartOf(inst rental.Instance) Change {
	running := inst.Price.RunningKopH
	return Change{StartsKopH: running, AddedKopH: running - inst.BurnKopH()}
}

// Active reports whether a plan has anything to check.
func (a *Account) Active() bool { return a.limits.RequireFunds != FundsOff || a.limits.MaxBurnKopH > 0 }

// Enforced reports whether a limit is configured that fails a plan. It then also fails if the account cannot be read.
func (a *Account) Enforced() bool {
	return a.limits.RequireFunds == FundsError || a.limits.MaxBurnKopH > 0
}

// Problem is what a plan exceeds: NotEnoughFunds or AboveBurnLimit, or AccountUnreadable.
type Problem struct {
	Err     error
	Warning bool // the plan continues
}

// Check compares the plan of one resource with the account. Other resources of the plan do not count: they can make
// room, so that a burn rate above the limit is an error only if nothing can prevent it.
func (a *Account) Check(ctx context.Context, change Change) (problems []Problem) {
	if !a.Active() || change.StartsKopH == 0 {
		return nil
	}
	now, err := a.read(ctx, planAge)
	excess := a.checkBurn(now, change)
	if err == nil && excess != nil { // instances may have been stopped or destroyed since then
		now, err = a.read(ctx, 0)
		excess = a.checkBurn(now, change)
	}
	if err != nil {
		fatal := a.Enforced() || rental.IsUnauthorized(err)
		return []Problem{{Err: AccountUnreadable{err}, Warning: !fatal}}
	}
	if shortage := a.checkFunds(now.balance, change); shortage != nil {
		problems = append(problems, *shortage)
	}
	if excess != nil {
		problems = append(problems, *excess)
	}
	return problems
}

// checkBurn returns a problem if the change exceeds the limit, and the burn rate is certain.
func (a *Account) checkBurn(now reading, change Change) *Problem {
	limit := a.limits.MaxBurnKopH
	burn, certain := a.ledger.without(now, change.Replaced)
	then := burn + change.AddedKopH
	for _, r := range change.Replacements {
		then += max(0, r.KopH-now.listed[r.ID])
	}
	if limit == 0 || then <= limit || !certain {
		return nil
	}
	return &Problem{
		Err:     AboveBurnLimit{NowKopH: burn, ThenKopH: then, LimitKopH: limit},
		Warning: len(change.Replaced) == 0 && change.AddedKopH <= limit,
	}
}

func (a *Account) checkFunds(balance rental.Balance, change Change) *Problem {
	if a.limits.RequireFunds == FundsOff {
		return nil
	}
	if needs := change.needsKopH(); needs > 0 { // it would be destroyed, and nothing could be rented
		if err := missingFunds(balance, needs); err != nil {
			return &Problem{Err: err}
		}
	}
	if err := missingFunds(balance, change.StartsKopH); err != nil {
		return &Problem{Err: err, Warning: a.limits.RequireFunds == FundsWarn}
	}
	return nil
}

// fundedHours is the number of hours for which the balance must cover an instance before the API starts it.
const fundedHours = 2

// missingFunds returns an error if the account does not cover the funded hours of all starts.
func missingFunds(balance rental.Balance, startsKopH int64) error {
	have, need := balance.AvailableKop+balance.CreditLimitKop, fundedHours*startsKopH
	if have >= need {
		return nil
	}
	return NotEnoughFunds{StartsKopH: startsKopH, NeedKop: need, HaveKop: have}
}
