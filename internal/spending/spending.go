// Package spending compares a plan with the balance of the account and with the configured limits. Terraform plans one
// instance at a time, so the package sums up the instances of a plan. It is about instances and prices and does not
// depend on Terraform. All prices are in kopecks per hour.
package spending

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// FundsPolicy decides whether a balance that does not cover a plan is an error, a warning or ignored.
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

// Change is the effect of the plan for one instance. The zero value changes nothing.
type Change struct {
	StartsKopH int64 // its running price if the plan starts it, else 0
	AddedKopH  int64 // rise of the burn rate
	// Creates: an instance is created. It is compared with the limit even if it costs less than the one that it replaces,
	// because nothing offsets its price after that one is destroyed.
	Creates bool
}

// Tracker checks the limits for one configured provider. It is safe for concurrent use.
type Tracker struct {
	limits Limits
	client *rental.Client
	cache  *rental.Cache
	// single reports whether this process serves a single plan or apply. Totals exist only then.
	single func() bool

	account   rental.Cached[account]
	destroyed destroyedInstances
	pending   pendingInstances

	mu      sync.Mutex
	starts  int64 // prices of the instances that the plan starts
	added   int64 // rise of the burn rate by the plan
	warned  map[Kind]bool
	planned map[string][]int64 // prices of the planned instances that Check has added, by key
	counted map[string]int64   // running prices that the plan contains, by started or created instance
	priced  int                // starts whose offers the plan has read
}

// New returns a Tracker. single reports whether this process serves a single plan or apply.
func New(limits Limits, client *rental.Client, cache *rental.Cache, single func() bool) *Tracker {
	return &Tracker{
		limits: limits, client: client, cache: cache, single: single, warned: map[Kind]bool{}, planned: map[string][]int64{},
		counted: map[string]int64{},
		pending: pendingInstances{reserving: make(chan struct{}, 1)},
	}
}

// Active reports whether there is anything to check.
func (t *Tracker) Active() bool { return t.limits.RequireFunds != FundsOff || t.limits.MaxBurnKopH > 0 }

// Enforced reports whether a limit is configured that fails a plan. It then also fails if the account cannot be read.
func (t *Tracker) Enforced() bool {
	return t.limits.RequireFunds == FundsError || t.limits.MaxBurnKopH > 0
}

// Check adds one change to the plan and compares the plan so far with the account.
func (t *Tracker) Check(ctx context.Context, change Change) Problems {
	if !t.Active() || change == (Change{}) {
		return nil
	}
	starts, added := change.StartsKopH, change.AddedKopH
	if t.single() {
		starts, added = t.add(change)
	}
	account, err := t.readAccount(ctx)
	if err != nil {
		return t.unreadable(err)
	}
	var problems Problems
	if change.StartsKopH > 0 {
		problems = t.checkFunds(account.Balance, starts)
	}
	if change.Creates || added > 0 {
		problems = append(problems, t.checkBurn(t.burnRate(account, t.single()), added)...)
	}
	return problems
}

func (t *Tracker) add(change Change) (starts, added int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.starts += change.StartsKopH
	t.added += change.AddedKopH
	return t.starts, t.added
}

// withPlan returns the sums of the plan with another start.
func (t *Tracker) withPlan(kopH int64) (starts, added int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.starts + kopH, t.added + kopH
}

// firstWarning returns true for the first warning of a kind in a single run, and for every warning in other processes.
func (t *Tracker) firstWarning(kind Kind) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.single() || !t.warned[kind]
	t.warned[kind] = true
	return first
}

func (t *Tracker) checkFunds(balance rental.Balance, starts int64) Problems {
	shortage := MissingFunds(balance, starts)
	switch {
	case shortage == nil || t.limits.RequireFunds == FundsOff:
		return nil
	case t.limits.RequireFunds == FundsError:
		return Problems{shortage}
	case t.firstWarning(NotEnoughFunds):
		shortage.Warning = true
		return Problems{shortage}
	}
	return nil
}

func (t *Tracker) checkBurn(burn, added int64) Problems {
	after, limit := burn+added, t.limits.MaxBurnKopH
	if limit == 0 || after <= limit {
		return nil
	}
	return Problems{{Kind: BurnLimitExceeded, BurnKopH: burn, PlannedKopH: after, LimitKopH: limit}}
}

// unreadable returns the problem of an account that cannot be read. An invalid API key is always an error.
func (t *Tracker) unreadable(err error) Problems {
	problem := &Error{Kind: AccountUnreadable, Err: err}
	if !rental.IsUnauthorized(err) && !t.Enforced() {
		problem.Warning = true
		if !t.firstWarning(AccountUnreadable) {
			return nil
		}
	}
	return Problems{problem}
}

// account is the balance of the account and the cost of its active instances.
type account struct {
	rental.Balance
	listed map[string]int64 // by instance; nil without a burn limit
}

// readAccount returns the account at the beginning of a single run, so that instances that the run starts are not
// counted twice. In other processes it returns the current account.
func (t *Tracker) readAccount(ctx context.Context) (account, error) {
	maxAge := time.Duration(0)
	if t.single() {
		maxAge = math.MaxInt64
	}
	return t.account.Get(ctx, maxAge, 0, func(ctx context.Context) (account, error) {
		balance, err := t.client.GetBalance(ctx)
		if err != nil || t.limits.MaxBurnKopH == 0 {
			return account{Balance: balance}, err
		}
		active, err := t.cache.InitialInstances(ctx)
		if err != nil {
			return account{}, err
		}
		money := account{balance, map[string]int64{}}
		for _, inst := range active.Items {
			money.listed[inst.ID] = inst.BurnKopH()
		}
		return money, nil
	})
}

// burnRate returns the burn rate of the account without the instances that this process has destroyed. The rate that
// the API returned may omit instances that do not run yet, and may contain destroyed instances. planned: the account
// was read before the run changed it, and the caller adds the rise by the plan.
func (t *Tracker) burnRate(money account, planned bool) int64 {
	listed := int64(0)
	for id, kopH := range money.listed {
		listed += t.destroyed.remaining(id, kopH, planned)
	}
	return max(listed, money.BurnKopH-t.destroyed.kopH(planned))
}
