package spending

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// pendingInstances holds the instances with a reservation, which this process is renting or starting. The burn rate of
// the account may not contain them yet.
type pendingInstances struct {
	reserving chan struct{} // full from the read of the account to the reservation, so that none is missed

	mu       sync.Mutex
	renting  int64            // sum of the prices of instances without an id
	starting map[string]int64 // running prices by instance
	changed  chan struct{}    // closed by the next change; nil without waiters
	// account is the account as it was at readAt. It serves only if that is after changedAt, because it may lack an
	// instance whose reservation has ended since.
	account           account
	readAt, changedAt time.Time
}

// maxAccountAge is how long several reservations use one reading of the account. What other runs rent in that time is
// not noticed.
const maxAccountAge = 5 * time.Second

// Reservation is the price of an instance that is being rented or started.
type Reservation struct {
	pending *pendingInstances // nil if nothing is reserved
	id      string            // empty until the instance is rented
	kopH    int64
}

// reserve compares an instance with the burn limit and the current burn rate before it is rented (id is empty) or
// started. kopH is the running price of the instance and addedKopH the rise of the burn rate. If Problems contains an
// error, the instance must not be rented or started. The caller must call Release when the instance runs or the attempt
// is over.
func (t *Tracker) reserve(ctx context.Context, id string, kopH, addedKopH int64) (*Reservation, Problems) {
	pending := &t.pending
	select {
	case pending.reserving <- struct{}{}:
	case <-ctx.Done():
		return &Reservation{}, t.unreadable(ctx.Err())
	}
	defer func() { <-pending.reserving }()
	for {
		renting, starting, changed := pending.snapshot()
		if id != "" {
			starting[id] = kopH - addedKopH // its present cost, also if it has a reservation for an earlier start
		}
		money, shared, err := t.currentAccount(ctx)
		if err != nil {
			return &Reservation{}, t.unreadable(err)
		}
		var problems Problems
		if addedKopH > 0 {
			problems = t.checkBurn(t.burnWith(money, starting)+renting, addedKopH)
		}
		if len(problems) > 0 && shared {
			pending.forgetAccount() // an instance may have been stopped or destroyed since
			continue
		}
		if len(problems) > 0 && renting > 0 {
			// An instance whose create request is in flight may be in the listing, too, and be counted twice.
			select {
			case <-changed:
			case <-ctx.Done(): // the next request fails with its error
			}
			continue
		}
		return pending.hold(id, kopH), problems
	}
}

// currentAccount returns the account as it is now. shared reports whether an earlier reservation has read it, some
// seconds ago.
func (t *Tracker) currentAccount(ctx context.Context) (money account, shared bool, err error) {
	if money, shared = t.pending.recentAccount(); shared {
		return money, true, nil
	}
	money, err = t.readCurrentAccount(ctx)
	return money, false, err
}

// readCurrentAccount reads the account for this reservation and those of the next seconds.
func (t *Tracker) readCurrentAccount(ctx context.Context) (account, error) {
	began := time.Now()
	balance, err := t.client.GetBalance(ctx)
	if err != nil {
		return account{}, err
	}
	money := account{balance, map[string]int64{}}
	for inst, err := range t.client.ListInstances(ctx, rental.ListInstancesQuery{Status: rental.ListActive}) {
		if err != nil {
			return account{}, err
		}
		money.listed[inst.ID] = inst.BurnKopH()
	}
	t.pending.mu.Lock()
	defer t.pending.mu.Unlock()
	t.pending.account, t.pending.readAt = money, began
	return money, nil
}

// burnWith returns the burn rate of the account with these instances running.
func (t *Tracker) burnWith(money account, starting map[string]int64) int64 {
	added := int64(0)
	for id, kopH := range starting {
		added += max(0, kopH-money.listed[id])
	}
	return t.burnRate(money, false) + added
}

// Rented records the id and the price of the instance that was rented.
func (r *Reservation) Rented(inst rental.Instance) {
	if r.pending == nil {
		return
	}
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	r.pending.remove(r)
	r.id, r.kopH = inst.ID, inst.Price.RunningKopH
	r.pending.add(r)
}

// Release ends the reservation.
func (r *Reservation) Release() {
	if r.pending == nil {
		return
	}
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	r.pending.remove(r)
	r.pending.changedAt = time.Now()
}

// hold adds a reservation without a check.
func (p *pendingInstances) hold(id string, kopH int64) *Reservation {
	p.mu.Lock()
	defer p.mu.Unlock()
	reservation := &Reservation{p, id, kopH}
	p.add(reservation)
	return reservation
}

// recentAccount returns the account as an earlier reservation has read it. It is false if that is too old.
func (p *pendingInstances) recentAccount() (account, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account, p.readAt.After(p.changedAt) && time.Since(p.readAt) < maxAccountAge
}

// forgetAccount makes the next reservation read the account.
func (p *pendingInstances) forgetAccount() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changedAt = time.Now()
}

// snapshot returns the reservations, and a channel that is closed when they change.
func (p *pendingInstances) snapshot() (renting int64, starting map[string]int64, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	starting = map[string]int64{}
	maps.Copy(starting, p.starting)
	return p.renting, starting, p.changed
}

// add and remove are called with the lock held.
func (p *pendingInstances) add(r *Reservation) {
	p.notify()
	if r.id == "" {
		p.renting += r.kopH
		return
	}
	if p.starting == nil {
		p.starting = map[string]int64{}
	}
	p.starting[r.id] = r.kopH
}

func (p *pendingInstances) remove(r *Reservation) {
	p.notify()
	if r.id == "" {
		p.renting -= r.kopH
		return
	}
	delete(p.starting, r.id)
}

func (p *pendingInstances) notify() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}
