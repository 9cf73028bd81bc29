package simulator

import (
	"math/rand/v2"
	"time"
)

// engine is the simulated state and the queue of events that change it over time. The simulator's lock guards all of
// it; no method takes a lock.
type engine struct {
	// now is the time up to which all events have run.
	now time.Time
	// startedAt is the initial time. The market moves at whole minutes from it.
	startedAt time.Time
	config    *Config // that of the simulator
	ids       *rand.Rand
	idsPCG    *rand.PCG
	seq       int64
	// events are the pending changes.
	events eventQueue

	account          account
	ledger           []*entry
	keys             []*apiKey
	sshKeys          []*sshKey
	devices          []*deviceLogin
	offers           []*offer
	priceChanges     int64 // number of price changes so far
	templates        []*template
	instances        []*instance
	byIdempotencyKey map[string]*instance // instances by Idempotency-Key
	shownPrices      shownPrices

	// active are the instances that are not destroyed.
	active []*instance
	// unposted is the usage of all instances that is not in the ledger.
	unposted       meter
	fundsExhausted event
	index          index
}

// index finds objects by id or hash.
type index struct {
	instances map[string]*instance
	offers    map[string]*offer
	secrets   map[secretHash]*apiKey
}

// newEngine returns an engine in its initial state at an instant.
func newEngine(c *Config, at time.Time) *engine {
	w := emptyEngine(c, at)
	w.createAccount()
	w.addKey(c.APIKey, "simulator", sourceConsole, allScopes, w.account.CreatedAt)
	for _, o := range w.offers {
		w.scheduleMove(o)
	}
	return w
}

// emptyEngine returns an engine with the constant data: offers and catalog templates.
func emptyEngine(c *Config, at time.Time) *engine {
	w := &engine{
		now: at, startedAt: at, config: c, idsPCG: rand.NewPCG(c.Seed, 1), byIdempotencyKey: map[string]*instance{},
		offers: generateOffers(c.Seed, c.MarketScale), unposted: meter{Since: at}, shownPrices: shownPrices{},
		index: index{map[string]*instance{}, map[string]*offer{}, map[secretHash]*apiKey{}},
	}
	w.ids = rand.New(w.idsPCG)
	w.templates = catalogTemplates(w.nextSeq)
	w.fundsExhausted = event{priority: priorityFunds, run: w.stopForLowBalance}
	for n, o := range w.offers {
		w.index.offers[o.ID] = o
		o.index = uint64(n)
		o.moveEvent = event{priority: priorityMarket, seq: int64(n), run: func() { w.moveOffer(o) }}
	}
	return w
}

// addInstance adds an instance that is new or read from the state file.
func (e *engine) addInstance(i *instance) {
	i.transitionEvent = event{priority: priorityTransition, seq: i.Seq, run: func() { e.applyTransition(i) }}
	i.postingEvent = event{priority: priorityPosting, seq: i.Seq, run: func() { e.postHourly(i) }}
	e.instances = append(e.instances, i)
	e.index.instances[i.ID] = i
	if !i.destroyed() {
		e.active = append(e.active, i)
		i.offer.rentedBy = i
	}
	e.instanceChanged(i)
}

// instanceChanged updates everything that depends on the state of an instance. Call it after each change.
func (e *engine) instanceChanged(i *instance) {
	var next time.Time
	if len(i.Ahead) > 0 {
		next = i.Ahead[0].At
	}
	e.events.schedule(&i.transitionEvent, next)
	e.events.schedule(&i.postingEvent, i.Meter.PostAt)
	e.scheduleFundsExhausted()
}

// nextSeq returns a sequence number. Lists are ordered by it.
func (e *engine) nextSeq() int64 {
	e.seq++
	return e.seq
}

const idAlphabet = "abcdefghijkmnpqrstuvwxyz23456789"

func randomID(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = idAlphabet[rng.IntN(len(idAlphabet))]
	}
	return string(b)
}

// newID returns an id. The seed and the history determine it.
func (e *engine) newID(prefix string) string { return prefix + "_" + randomID(e.ids, 12) }

// simulated converts a duration of real time.
func (e *engine) simulated(d time.Duration) time.Duration {
	return time.Duration(float64(d) * e.config.TimeScale)
}

// advanceTo runs all events up to an instant, in time order, each at its own time.
func (e *engine) advanceTo(at time.Time) {
	for next := e.events.next(at); next != nil; next = e.events.next(at) {
		if next.at.After(e.now) {
			e.now = next.at
		}
		next.run()
	}
	if at.After(e.now) {
		e.now = at
	}
}
