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
	MaxBurnKopH  int64 // highest burn rate of the account, kopecks per hour; 0 for no limit
}

// Change is what the plan of one resource changes.
type Change struct {
	StartsKopH int64 // sum of the prices of the instances that it rents and starts
	AddedKopH  int64 // rise of the burn rate
	// Replaced are the instances that are destroyed before anything is rented. Their cost does not count, and exceeding a
	// limit is certain: nothing else makes room.
	Replaced []string
	// NeedsKopH is the price of an instance that is rented after another one was destroyed for it; 0 for none. A balance
	// that cannot cover it is an error, unless it is ignored.
	NeedsKopH int64
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

// Check compares the plan of one resource with the account. Other resources of the plan do not count: they can make
// room, so that a burn rate above the limit is an error only if nothing can prevent it.
func (a *Account) Check(ctx context.Context, change Change) Problems {
	if !a.Active() || change.StartsKopH == 0 && change.AddedKopH == 0 {
		return nil
	}
	balance, err := a.balance.Get(ctx, balanceTTL, 0, a.client.GetBalance)
	problems := Problems{}
	if shortage := a.checkFunds(balance, change); shortage != nil && err == nil {
		problems = append(problems, shortage)
	}
	if err == nil && a.limits.MaxBurnKopH > 0 && change.StartsKopH > 0 {
		var excess *Error
		if excess, err = a.checkBurn(ctx, change); excess != nil {
			certain := len(change.Replaced) > 0 || change.AddedKopH > a.limits.MaxBurnKopH
			excess.Warning = !certain
			problems = append(problems, excess)
		}
	}
	if err != nil {
		fatal := a.Enforced() || rental.IsUnauthorized(err)
		return Problems{{Kind: AccountUnreadable, Err: err, Warning: !fatal}}
	}
	return problems
}

// checkBurn returns an error if the change exceeds the limit in two readings: servers may have been stopped or
// destroyed since the first one.
func (a *Account) checkBurn(ctx context.Context, change Change) (*Error, error) {
	limit := a.limits.MaxBurnKopH
	for age := maxAge; ; age = 0 {
		now, err := a.read(ctx, age)
		if err != nil {
			return nil, err
		}
		burn := a.ledger.burn(now, change.Replaced)
		switch after := burn + change.AddedKopH; {
		case after <= limit:
			return nil, nil
		case age == 0:
			return &Error{Kind: LimitExceeded, BurnKopH: burn, AfterKopH: after, LimitKopH: limit}, nil
		}
	}
}

func (a *Account) checkFunds(balance rental.Balance, change Change) *Error {
	if a.limits.RequireFunds == FundsOff || change.StartsKopH == 0 {
		return nil
	}
	if change.NeedsKopH > 0 {
		if shortage := MissingFunds(balance, change.NeedsKopH); shortage != nil {
			return shortage
		}
	}
	shortage := MissingFunds(balance, change.StartsKopH)
	if shortage != nil {
		shortage.Warning = a.limits.RequireFunds == FundsWarn
	}
	return shortage
}
