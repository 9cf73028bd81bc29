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

// destroyedInstances holds the instances that this process has destroyed. The zero value is empty.
type destroyedInstances struct {
	mu  sync.Mutex
	all map[string]destroyedInstance
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

func (d *destroyedInstances) has(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.all[id]
	return found
}

// kopH returns the cost of the destroyed instances that the burn rate may still contain: all of them if the account was
// read before the run destroyed them.
func (d *destroyedInstances) kopH(readBefore bool) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := int64(0)
	for _, instance := range d.all {
		if readBefore || time.Since(instance.at) < burnLag {
			total += instance.kopH
		}
	}
	return total
}
