package spending

import (
	"context"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// BurnBeforeDestroy returns the cost of an instance that is about to be destroyed. In a single run it reads the account
// before the first destruction, because a later response may or may not contain the destroyed instances.
func (t *Tracker) BurnBeforeDestroy(ctx context.Context, inst rental.Instance) int64 {
	switch {
	case t.limits.MaxBurnKopH == 0:
		return 0
	case !t.single():
		return inst.BurnKopH()
	}
	money, err := t.readAccount(ctx)
	if err != nil {
		return 0 // a creation in this run fails for the same reason; a destruction must not fail
	}
	return money.listed[inst.ID]
}

// Destroyed records that an instance that cost kopH was destroyed.
func (t *Tracker) Destroyed(id string, kopH int64) { t.destroyed.add(id, kopH) }

// PlanDestroy records that the plan has subtracted kopH from the rise of the burn rate, because it destroys the
// instance. Its destruction does not subtract that again.
func (t *Tracker) PlanDestroy(id string, kopH int64) { t.destroyed.plan(id, kopH) }

// destroyedInstances holds the instances that this process has destroyed. The zero value is empty.
type destroyedInstances struct {
	mu  sync.Mutex
	all map[string]destroyedInstance
	// planned is the cost of instances that the plan destroys and has subtracted from the rise of the burn rate.
	planned map[string]int64
}

type destroyedInstance struct {
	kopH int64 // cost before
	at   time.Time
}

// burnLag is how long the burn rate of the API may still contain a destroyed instance.
const burnLag = 5 * time.Minute

func (d *destroyedInstances) add(id string, kopH int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string]destroyedInstance{}
	}
	d.all[id] = destroyedInstance{kopH, time.Now()}
}

func (d *destroyedInstances) plan(id string, kopH int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.planned == nil {
		d.planned = map[string]int64{}
	}
	d.planned[id] = kopH
}

// remaining returns what an instance that costs kopH adds to the burn rate, 0 if it is destroyed. planned: the caller
// adds the rise by the plan, which has subtracted the cost of some destroyed instances.
func (d *destroyedInstances) remaining(id string, kopH int64, planned bool) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch _, destroyed := d.all[id]; {
	case !destroyed:
		return kopH
	case planned:
		return d.planned[id]
	}
	return 0
}

// unplanned returns by how much the destruction of an instance that costs kopH lowers the burn rate, see remaining.
func (d *destroyedInstances) unplanned(id string, kopH int64, planned bool) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if planned {
		return kopH - d.planned[id]
	}
	return kopH
}

// kopH returns the cost of the destroyed instances that the burn rate may still contain: all of them if the account was
// read before the run destroyed them. planned is that case, see remaining.
func (d *destroyedInstances) kopH(planned bool) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := int64(0)
	for id, instance := range d.all {
		switch {
		case planned:
			total += instance.kopH - d.planned[id]
		case time.Since(instance.at) < burnLag:
			total += instance.kopH
		}
	}
	return total
}
