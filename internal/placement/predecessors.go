package placement

import (
	"maps"
	"slices"
	"sync"
)

// Predecessor is an instance of a state that a planned creation may replace. A plan without prior state, for example
// for a tainted instance, finds it by its key, its name or its arguments.
type Predecessor struct {
	ID          string
	OfferID     string // empty if unknown
	RunningKopH int64  // price while running, in kopecks per hour
	BurnKopH    int64  // current cost, in kopecks per hour

	IdempotencyKey, Name string // empty for none
	Arguments            string // encoded arguments of its creation
}

// Predecessors holds the instances of the state that this run has read. The zero value is empty.
type Predecessors struct {
	mu  sync.Mutex
	all map[string]*predecessor
}

type predecessor struct {
	Predecessor
	claimed  bool  // by a planned creation
	stays    bool  // planned with its prior state, so that no creation replaces it
	credited int64 // cost that Credit has returned
}

// Read records an instance of the state. Each read begins a new plan.
func (p *Predecessors) Read(read Predecessor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]*predecessor{}
	}
	p.all[read.ID] = &predecessor{Predecessor: read}
}

// Remove removes an instance that is gone.
func (p *Predecessors) Remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, id)
}

// Claim returns the instance that a creation probably replaces: the one with the same key, else with the same name,
// else with the same arguments. Each instance is claimed only once.
func (p *Predecessors) Claim(key, name, arguments string) (Predecessor, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(p.all)) {
		if each := p.all[id]; !each.claimed && !each.stays && each.replacedBy(key, name, arguments) {
			each.claimed = true
			return each.Predecessor, true
		}
	}
	return Predecessor{}, false
}

func (p *predecessor) replacedBy(key, name, arguments string) bool {
	switch {
	case key != "" || p.IdempotencyKey != "":
		return key == p.IdempotencyKey
	case name != "" || p.Name != "":
		return name == p.Name
	}
	return arguments == p.Arguments
}

// MayBeReplaced reports whether a claimed instance may still be replaced by the creation that claimed it.
func (p *Predecessors) MayBeReplaced(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	each := p.all[id]
	return each != nil && !each.stays
}

// Credit returns the cost of a claimed instance, which its replacement does not add to the burn rate. It returns 0 for
// an instance that stays.
func (p *Predecessors) Credit(id string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	each := p.all[id]
	if each == nil || each.stays {
		return 0
	}
	each.credited = each.BurnKopH
	return each.credited
}

// Keep records that an instance was planned with its prior state, so that no creation replaces it. It returns the cost
// that Credit returned before.
func (p *Predecessors) Keep(id string) (credited int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	each := p.all[id]
	if each == nil {
		return 0
	}
	credited, each.credited, each.stays = each.credited, 0, true
	return credited
}
