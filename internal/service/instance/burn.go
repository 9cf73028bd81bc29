package instance

import (
	"context"
	"maps"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// burnReservations are the servers that this process is renting or starting. The balance and the listing may not contain
// their prices yet. Its zero value is empty.
type burnReservations struct {
	mu       sync.Mutex
	renting  int64            // of servers without an id so far, kopecks per hour
	starting map[string]int64 // running prices by server, kopecks per hour
	changed  chan struct{}    // closed by the next change; nil while nobody looks
}

// burnReservation is one of them.
type burnReservation struct {
	all  *burnReservations // nil if nothing is reserved
	id   string            // empty until the server is rented
	kopH int64
}

// reserveBurn enforces max_burn_kop_h right before a server is rented (without an id) or started, in a process whose plans
// have no totals. kopH is its running price, added what it adds to the burn rate. With an error among the diagnostics,
// the server must not be rented or started. The caller calls release when the server runs or the attempt is over.
func reserveBurn(ctx context.Context, meta *tfkit.Meta, id string, kopH, added int64, diags *diag.Diagnostics) *burnReservation {
	if meta.Run.Single() || meta.Spending.MaxBurnKopH == 0 {
		return &burnReservation{}
	}
	f := fleetOf(meta)
	all := &f.spending.burn
	for {
		renting, starting, changed := all.snapshot()
		burn, err := f.burnWith(ctx, meta, starting)
		if err != nil {
			addUnreadableAccount(meta, diags, err)
			return &burnReservation{}
		}
		text := ""
		if added > 0 {
			text = tooMuchBurn(burn+renting, added, meta.Spending.MaxBurnKopH)
		}
		if text != "" && renting > 0 {
			// A server whose request is unanswered may be in the listing, too, and be counted twice.
			select {
			case <-changed:
			case <-ctx.Done(): // the next request fails with its error
			}
			continue
		}
		r := &burnReservation{all, id, kopH}
		if !all.addUnless(changed, r) {
			continue // what was read may or may not contain another server
		}
		if text != "" {
			diags.AddError(tooMuchBurnSummary, text)
		}
		return r
	}
}

// burnWith returns the burn rate, kopecks per hour, that the account reaches when these servers run.
func (f *fleet) burnWith(ctx context.Context, meta *tfkit.Meta, starting map[string]int64) (int64, error) {
	balance, err := meta.Client.GetBalance(ctx)
	if err != nil {
		return 0, err
	}
	money, unlisted, added := account{balance, map[string]int64{}}, maps.Clone(starting), int64(0)
	for inst, err := range meta.Client.ListInstances(ctx, rental.ListInstancesQuery{Status: rental.ListActive}) {
		if err != nil {
			return 0, err
		}
		money.listed[inst.ID] = kopHNow(inst)
		added += max(0, starting[inst.ID]-kopHNow(inst))
		delete(unlisted, inst.ID)
	}
	for _, kopH := range unlisted {
		added += kopH
	}
	return f.burnRate(meta, money) + added, nil
}

// rented says which server was rented, and its price.
func (r *burnReservation) rented(inst rental.Instance) {
	if r.all == nil {
		return
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.all.remove(r)
	r.id, r.kopH = inst.ID, inst.Price.RunningKopH
	r.all.add(r)
}

// release ends the reservation.
func (r *burnReservation) release() {
	if r.all == nil {
		return
	}
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.all.remove(r)
}

// snapshot returns the reservations, and a channel that is closed when they change.
func (b *burnReservations) snapshot() (renting int64, starting map[string]int64, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.renting, maps.Clone(b.starting), b.changed
}

// addUnless is false, and adds nothing, if there were changes since a snapshot.
func (b *burnReservations) addUnless(changed <-chan struct{}, r *burnReservation) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-changed:
		return false
	default:
		b.add(r)
		return true
	}
}

// add and remove are called with the lock held.
func (b *burnReservations) add(r *burnReservation) {
	b.notify()
	if r.id == "" {
		b.renting += r.kopH
		return
	}
	if b.starting == nil {
		b.starting = map[string]int64{}
	}
	b.starting[r.id] = r.kopH
}

func (b *burnReservations) remove(r *burnReservation) {
	b.notify()
	if r.id == "" {
		b.renting -= r.kopH
		return
	}
	delete(b.starting, r.id)
}

func (b *burnReservations) notify() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}
