package instance

import (
	"context"
	"iter"
	"math"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fleet is what the instances of one run must know of one another and of the
// service, so that they neither take each other's place nor ask the same twice.
type fleet struct {
	keys      keyring
	ids       idSet        // servers that this run knows: from the state, or rented by it
	replacing idSet        // servers that a plan replaces or destroys: a creation may take them over
	offers    reservations // by this apply
	planned   reservations // by this plan, for its estimate
	failures  failedOffers
	spending  spendingPlan
	state     stateServers // that this run has read
	destroyed destroyedServers
	watch     watcher
	boots     habit // of servers that this run rents

	servers tfkit.Snapshot[rental.Instance] // active ones
	ever    tfkit.Snapshot[rental.Instance] // with those that are destroyed
	account tfkit.Remembered[account]
	funds   tfkit.Remembered[rental.Balance] // the same, as it is now
	active  tfkit.Remembered[map[string]rental.Instance]
	market  market
}

func fleetOf(meta *tfkit.Meta) *fleet { return tfkit.Shared[fleet](meta) }

func (r *instanceResource) fleet() *fleet { return fleetOf(r.Meta) }

// glance is how old an answer may be that only warns or estimates. The service
// itself refreshes its market about every minute.
const glance = time.Minute

// instances returns the active instances by id as they were at the beginning of a single run, so that
// servers that the run rents are not among them. With an error rental.IsListTooLong it returns the first ones.
func (f *fleet) instances(ctx context.Context, meta *tfkit.Meta) (map[string]rental.Instance, error) {
	return f.active.Get(ctx, meta.MaxAge(math.MaxInt64), func(ctx context.Context) (map[string]rental.Instance, error) {
		return f.servers.All(ctx, f.source(meta, rental.ListActive))
	})
}

// find returns a server, destroyed ones too.
func (f *fleet) find(ctx context.Context, meta *tfkit.Meta, id string) (inst rental.Instance, found bool, err error) {
	return f.servers.Find(ctx, f.source(meta, rental.ListActive), id)
}

// list returns the servers of a status, rental.ListActive or rental.ListAll, in the
// service's order.
func (f *fleet) list(ctx context.Context, meta *tfkit.Meta, status string) ([]rental.Instance, error) {
	all := &f.servers
	if status == rental.ListAll {
		all = &f.ever
	}
	return all.List(ctx, f.source(meta, status))
}

// source is where the account's instances come from. What this run has waited for is
// younger than any listing from before the wait was over, as after a write.
func (f *fleet) source(meta *tfkit.Meta, status string) tfkit.Source[rental.Instance] {
	client := meta.Client
	return tfkit.Source[rental.Instance]{
		MaxAge: meta.MaxAge(tfkit.ListingMaxAge),
		ID:     func(inst rental.Instance) string { return inst.ID },
		All: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return client.ListInstances(ctx, rental.ListInstancesQuery{Status: status, ListOptions: options})
		},
		One:    client.GetInstance,
		Writes: func() uint64 { return client.Writes("instances") + f.watch.over.Load() },
	}
}

// forget removes what is recorded of a server that is destroyed.
func (f *fleet) forget(id string) {
	f.keys.release(id)
	f.replacing.remove(id)
	f.state.remove(id)
}

// idSet is a set of instance ids. Its zero value is empty.
type idSet struct{ all sync.Map }

func (s *idSet) add(id string) { s.all.Store(id, true) }

func (s *idSet) has(id string) bool {
	_, there := s.all.Load(id)
	return there
}

func (s *idSet) remove(id string) { s.all.Delete(id) }

// reservations are the offers that siblings have taken or are about to take.
// Its zero value has none.
type reservations struct {
	mu    sync.Mutex
	taken map[string]time.Time // when the reservation ends; zero for no end
}

// reserve is false for an offer that is reserved already.
func (r *reservations) reserve(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end, taken := r.taken[id]; taken && (end.IsZero() || time.Now().Before(end)) {
		return false
	}
	if r.taken == nil {
		r.taken = map[string]time.Time{}
	}
	r.taken[id] = time.Time{}
	return true
}

// releaseAfter gives back an offer when the time has passed.
func (r *reservations) releaseAfter(id string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken[id] = time.Now().Add(d)
}

// failedOffers are the offers whose server failed lately. Its zero value has none.
type failedOffers struct{ at sync.Map }

// avoidFailed is how long an offer whose server failed is taken only when there is no other.
const avoidFailed = 10 * time.Minute

func (f *failedOffers) add(offerID string) { f.at.Store(offerID, time.Now()) }

func (f *failedOffers) has(offerID string) bool {
	at, there := f.at.Load(offerID)
	return there && time.Since(at.(time.Time)) < avoidFailed
}

// release gives back an offer that may suit a sibling.
func (r *reservations) release(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, id)
}
