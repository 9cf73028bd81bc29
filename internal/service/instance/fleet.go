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
	takenOver idSet        // servers of earlier runs that a creation of this run stands for
	offers    reservations // by this apply
	planned   reservations // by this plan, for its estimate
	spending  spendingPlan
	watch     watcher
	boots     habit    // of servers that this run rents
	known     sync.Map // templates by slug that were found

	servers tfkit.Snapshot[rental.Instance] // active ones
	ever    tfkit.Snapshot[rental.Instance] // with those that are destroyed
	account tfkit.Remembered[rental.Balance]
	funds   tfkit.Remembered[rental.Balance] // the same, as it is now
	active  tfkit.Remembered[map[string]rental.Instance]
	market  market
}

func fleetOf(meta *tfkit.Meta) *fleet { return tfkit.Shared[fleet](meta) }

func (r *instanceResource) fleet() *fleet { return fleetOf(r.Meta) }

// glance is how old an answer may be that only warns or estimates. The service
// itself refreshes its market about every minute.
const glance = time.Minute

// balance is the account's money as the run found it: not asked for again, so
// that what the run has started meanwhile is not counted twice.
func (f *fleet) balance(ctx context.Context, client *rental.Client) (rental.Balance, error) {
	return f.account.Get(ctx, math.MaxInt64, client.GetBalance)
}

// instances are the active ones, by id, as the run found them: not asked for
// again, so that none of its own is among them.
func (f *fleet) instances(ctx context.Context, client *rental.Client) (map[string]rental.Instance, error) {
	return f.active.Get(ctx, math.MaxInt64, func(ctx context.Context) (map[string]rental.Instance, error) {
		return f.servers.All(ctx, f.source(client, rental.ListActive))
	})
}

// template is one that the run has found once: what a template is never changes.
func (f *fleet) template(ctx context.Context, meta *tfkit.Meta, slug string) (template rental.Template, found bool, err error) {
	if known, ok := f.known.Load(slug); ok {
		return known.(rental.Template), true, nil
	}
	template, found, err = tfkit.FindTemplate(ctx, meta, slug)
	if found {
		f.known.Store(slug, template)
	}
	return template, found, err
}

// find returns a server, destroyed ones too.
func (f *fleet) find(ctx context.Context, client *rental.Client, id string) (inst rental.Instance, found bool, err error) {
	return f.servers.Find(ctx, f.source(client, rental.ListActive), id)
}

// list returns the servers of a status, rental.ListActive or rental.ListAll, in the
// service's order.
func (f *fleet) list(ctx context.Context, client *rental.Client, status string) ([]rental.Instance, error) {
	all := &f.servers
	if status == rental.ListAll {
		all = &f.ever
	}
	return all.List(ctx, f.source(client, status))
}

// source is where the account's instances come from. What this run has waited for is
// younger than any listing from before the wait was over, as after a write.
func (f *fleet) source(client *rental.Client, status string) tfkit.Source[rental.Instance] {
	return tfkit.Source[rental.Instance]{
		ID: func(inst rental.Instance) string { return inst.ID },
		All: func(ctx context.Context) iter.Seq2[rental.Instance, error] {
			return client.ListInstances(ctx, rental.ListInstancesQuery{Status: status})
		},
		One:    client.GetInstance,
		Writes: func() uint64 { return client.Writes("instances") + f.watch.over.Load() },
	}
}

// idSet is a set of instance ids. Its zero value is empty.
type idSet struct{ all sync.Map }

func (s *idSet) add(id string) { s.all.Store(id, true) }

func (s *idSet) has(id string) bool {
	_, there := s.all.Load(id)
	return there
}

// reservations are the offers that siblings have taken or are about to take.
// Its zero value has none.
type reservations struct {
	mu    sync.Mutex
	taken map[string]bool
}

// reserve is false for an offer that is reserved already.
func (r *reservations) reserve(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[id] {
		return false
	}
	if r.taken == nil {
		r.taken = map[string]bool{}
	}
	r.taken[id] = true
	return true
}

// release gives back an offer that may suit a sibling.
func (r *reservations) release(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, id)
}
