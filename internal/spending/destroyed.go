package spending

import (
	"context"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// BurnBeforeDestroy returns what an instance that is about to be destroyed costs. In a single run it reads the account
// before the first destruction, because a later answer may or may not contain the destroyed instances.
func (t *Tracker) BurnBeforeDestroy(ctx context.Context, inst rental.Instance) int64 {
	switch {
	case t.limits.MaxBurnKopH == 0:
		return 0
	case !t.single():
		return inst.BurnKopH()
	}
	money, err := t.readAccount(ctx)
	if err != nil {
		return 0 // a creation in this run fails for the same reason; a destruction need not
	}
	return money.listed[inst.ID]
}

// Destroyed records that an instance, which cost kopH before, was destroyed.
func (t *Tracker) Destroyed(id string, kopH int64) { t.destroyed.add(id, kopH) }

// destroyedInstances are the instances that this process has destroyed. Its zero value is empty.
type destroyedInstances struct {
	mu  sync.Mutex
	all map[string]destroyedInstance
}

type destroyedInstance struct {
	kopH int64 // what it cost before
	at   time.Time
}

// burnLag is how long the burn rate of the API may still contain an instance that is destroyed.
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

// kopH is what the instances cost that a burn rate of the API may contain: all of them in a single run, which read the
// account before it destroyed them.
func (d *destroyedInstances) kopH(single bool) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := int64(0)
	for _, instance := range d.all {
		if single || time.Since(instance.at) < burnLag {
			total += instance.kopH
		}
	}
	return total
}
