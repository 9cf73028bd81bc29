package spending

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxAge is how old a reading of the account may be when an instance is rented or started, or as long as a reading
	// takes. What others rent in that time is not noticed.
	maxAge = 5 * time.Second
	// planAge is maxAge for plans, which an apply checks again.
	planAge = 30 * time.Second
	// lag is how long the API may return the account without a change that it has accepted.
	lag = 30 * time.Second
	// lagInterval is the pause between two readings while the API may lag.
	lagInterval = 5 * time.Second
)

// Account compares prices with the balance and the burn rate of the account. It is safe for concurrent use.
type Account struct {
	limits  Limits
	client  *rental.Client
	reading rental.Cached[reading]
	ledger  ledger
}

// NewAccount returns the account of a client.
func NewAccount(limits Limits, client *rental.Client) *Account {
	return &Account{limits: limits, client: client, ledger: ledger{
		limit: limits.MaxBurnKopH, prices: map[string]price{}, reserved: map[*reservation]bool{},
	}}
}

// reading is the account at one time.
type reading struct {
	balance rental.Balance
	listed  map[string]int64 // cost of the active instances by id; empty without a burn limit
	began   time.Time
}

// Spend runs a request that rents or starts an instance if the limit allows its price, kopH, in addition to what the
// account costs, and otherwise returns AboveBurnLimit. id is the instance that is started, or that the new one
// replaces: only a rise of its price counts. Without an id, the price is that of another instance. The request returns
// the id of the instance that is or may be billed, even with an error, which Spend returns. Until then, its price is
// reserved. A write that the request sends with its context is compared again right before it is sent, because it may
// have waited for the request limit.
//
// A refusal must be certain: while other requests are in flight, or the API may lag, Spend reads the account again, for
// as long as an accepted change may be missing.
func (a *Account) Spend(
	ctx context.Context, id string, kopH int64, request func(context.Context) (id string, err error),
) error {
	if !a.Limited() {
		_, err := request(ctx)
		return err
	}
	reserved, err := a.reserve(ctx, id, kopH)
	if err != nil {
		return err
	}
	billed, err := request(rental.BeforeSend(ctx, func(ctx context.Context) error {
		a.ledger.settle(reserved, "")
		again, err := a.reserve(ctx, id, kopH)
		if err == nil {
			reserved = again
		}
		return err
	}))
	a.ledger.settle(reserved, billed)
	if notSent, ok := errors.AsType[rental.NotSent](err); ok {
		return notSent.Err
	}
	return err
}

func (a *Account) reserve(ctx context.Context, id string, kopH int64) (*reservation, error) {
	deadline := time.Now().Add(lag + lagInterval)
	for age := maxAge; ; age = 0 {
		now, err := a.read(ctx, age)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, AccountUnreadable{err}
		}
		reserved, certain, err := a.ledger.reserve(now, id, kopH)
		switch {
		case err == nil:
			return reserved, nil
		case age > 0:
			continue // the reading may be a few seconds old
		case certain || time.Now().After(deadline):
			return nil, err
		}
		_ = backoff.Sleep(ctx, lagInterval) //nolint:errcheck // the next iteration checks ctx
	}
}

// Limited reports whether there is a burn limit, so that Spend needs the price of what it compares.
func (a *Account) Limited() bool { return a.limits.MaxBurnKopH > 0 }

// Destroyed records that the API has accepted the destruction of an instance.
func (a *Account) Destroyed(id string) { a.ledger.destroyed(id) }

// read returns the account as it was at most so long ago, and adds it to the ledger.
func (a *Account) read(ctx context.Context, age time.Duration) (reading, error) {
	now, err := a.reading.Get(ctx, age, 0, a.load)
	if err == nil && time.Since(now.began) > max(age, maxAge) { // it took long, and another call began it
		now, err = a.reading.Get(ctx, 0, 0, a.load)
	}
	if err == nil {
		a.ledger.observe(now)
	}
	return now, err
}

func (a *Account) load(ctx context.Context) (reading, error) {
	now := reading{began: time.Now(), listed: map[string]int64{}}
	balance, err := a.client.GetBalance(ctx)
	if now.balance = balance; err != nil || !a.Limited() {
		return now, err
	}
	var failed []rental.Instance
	for inst, err := range a.client.ListInstances(ctx, rental.ListInstancesQuery{Status: rental.ListActive}) {
		if err != nil {
			return reading{}, err
		}
		now.listed[inst.ID] = inst.BurnKopH()
		if inst.Status == rental.StatusFailed {
			failed = append(failed, inst)
		}
	}
	// What the account costs above the sum of its instances is most likely the price of those that failed: the API may
	// bill them until they are destroyed, and a replacement then makes room.
	for _, inst := range failed {
		now.listed[inst.ID] += max(0, min(balance.BurnKopH-now.sum(), inst.Price.RunningKopH))
	}
	return now, nil
}

// sum is the cost of all listed instances.
func (r reading) sum() (kopH int64) {
	for _, cost := range r.listed {
		kopH += cost
	}
	return kopH
}
