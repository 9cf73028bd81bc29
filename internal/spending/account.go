package spending

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
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
	ledger  *Ledger
}

// NewAccount returns the account of a client.
func NewAccount(limits Limits, client *rental.Client) *Account {
	return &Account{limits: limits, client: client, ledger: NewLedger(limits.MaxBurnKopH)}
}

// reading is the account at one time.
type reading struct {
	balance rental.Balance
	listed  map[string]int64 // cost of the active instances by id; empty without a burn limit
	began   time.Time
}

// Hold returns the comparison of an instance with the burn limit, nil without a limit.
func (a *Account) Hold() HoldFunc {
	if a.limits.MaxBurnKopH == 0 {
		return nil
	}
	return a.hold
}

// hold implements HoldFunc: it adds the price to the burn rate just read. It refuses the price only if the burn rate
// is certain: after requests in flight have ended, unless the caller has a hold for the same instance already, and
// while the API does not lag.
func (a *Account) hold(ctx context.Context, id string, kopH int64) (Hold, error) {
	for age := maxAge; ; age = 0 {
		now, err := a.read(ctx, age)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, &failure.Error{Kind: failure.AccountUnreadable, Err: err}
		}
		hold, err := a.ledger.Hold(id, kopH)
		if err == nil {
			return hold, nil
		}
		if first := age > 0; first || a.ledger.await(ctx, id) {
			continue
		}
		if !a.ledger.mayLag(now) {
			return nil, err
		}
		_ = backoff.Sleep(ctx, lagInterval) //nolint:errcheck // the next iteration checks ctx
	}
}

// Destroyed records that the API has accepted the destruction of an instance.
func (a *Account) Destroyed(id string) { a.ledger.Destroyed(id) }

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
	if now.balance = balance; err != nil || a.limits.MaxBurnKopH == 0 {
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

// observe replaces the prices with those of a newer reading. What this process has rented, started or destroyed a
// moment ago stays, because the reading may lack it.
func (l *Ledger) observe(now reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.began.Before(l.readAt) {
		return
	}
	prices := map[string]price{}
	for id, kopH := range now.listed {
		prices[id] = price{kopH: kopH}
	}
	for id, own := range l.prices {
		listed, found := prices[id]
		if own.at.IsZero() || now.began.Sub(own.at) > lag || own.rented && found {
			continue
		}
		if !own.gone {
			own.kopH = max(own.kopH, listed.kopH)
		}
		prices[id] = own
	}
	l.prices, l.readAt = prices, now.began
	l.other = max(0, now.balance.BurnKopH-now.sum())
}

// mayLag reports whether the sum may be too high, because the API returned the account without a change that this
// process made: the burn rate can contain an instance that is destroyed, or that the list lacks, an instance that was
// started may be stopped again, and one whose rental has an unknown outcome may be listed.
func (l *Ledger) mayLag(now reading) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, own := range l.prices {
		recent := !own.at.IsZero() && now.began.Sub(own.at) <= lag
		if recent && (l.other > 0 || own.kopH > now.listed[id]) {
			return true
		}
	}
	return false
}
