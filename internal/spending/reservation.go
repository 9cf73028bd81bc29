package spending

import (
	"context"
	"maps"
	"sync"

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
}

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
		burn, err := t.burnWith(ctx, starting)
		if err != nil {
			return &Reservation{}, t.unreadable(err)
		}
		var problems Problems
		if addedKopH > 0 {
			problems = t.checkBurn(burn+renting, addedKopH)
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

// burnWith returns the burn rate of the account with these instances running.
func (t *Tracker) burnWith(ctx context.Context, starting map[string]int64) (int64, error) {
	balance, err := t.client.GetBalance(ctx)
	if err != nil {
		return 0, err
	}
	money, unlisted, added := account{balance, map[string]int64{}}, maps.Clone(starting), int64(0)
	for inst, err := range t.client.ListInstances(ctx, rental.ListInstancesQuery{Status: rental.ListActive}) {
		if err != nil {
			return 0, err
		}
		money.listed[inst.ID] = inst.BurnKopH()
		added += max(0, starting[inst.ID]-inst.BurnKopH())
		delete(unlisted, inst.ID)
	}
	for _, kopH := range unlisted {
		added += kopH
	}
	return t.burnRate(money, t.destroyed.kopH(false)) + added, nil
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
}

// hold adds a reservation without a check.
func (p *pendingInstances) hold(id string, kopH int64) *Reservation {
	p.mu.Lock()
	defer p.mu.Unlock()
	reservation := &Reservation{p, id, kopH}
	p.add(reservation)
	return reservation
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
