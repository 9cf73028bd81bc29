package simulator

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// records are the data of the engine that the state file contains as they are. A new kind of record is a field here.
type records struct {
	// Now is the time up to which all events have run.
	Now time.Time
	// StartedAt is the initial time. The market moves at whole minutes from it.
	StartedAt time.Time
	Seq       int64
	IDs       dice

	Account      account
	Ledger       []*entry
	Keys         []*apiKey
	SSHKeys      []*sshKey
	Devices      []*deviceLogin
	Templates    []*template
	Instances    []*instance
	PriceChanges int64                  // number of price changes so far
	Offers       map[string]*offerState // by id
}

// engine is the simulated state and the queue of events that change it over time. The simulator's lock guards all of
// it; no method takes a lock.
type engine struct {
	records
	config *Config // that of the simulator
	// events are the pending changes.
	events      eventQueue
	offers      []*offer
	shownPrices shownPrices

	// active are the instances that are not destroyed.
	active []*instance
	// unposted is the usage of all instances that is not in the ledger.
	unposted       meter
	fundsExhausted event
	index          index
}

// index finds objects by id, Idempotency-Key or hash.
type index struct {
	instances map[string]*instance
	replays   map[string]*instance
	offers    map[string]*offer
	secrets   map[secretHash]*apiKey
}

// newEngine returns an engine in its initial state at an instant.
func newEngine(c *Config, at time.Time) *engine {
	e := emptyEngine(c, records{Now: at, StartedAt: at, IDs: newDice(c.Seed, 1), Offers: map[string]*offerState{}})
	e.Templates = catalogTemplates(e.nextSeq)
	e.createAccount()
	e.addKey(c.APIKey, "simulator", sourceConsole, allScopes, e.Account.CreatedAt)
	for _, o := range e.offers {
		e.Offers[o.ID] = o.offerState
		e.scheduleMove(o)
	}
	return e
}

// emptyEngine returns an engine with records and the offers of the seed. Records of a state file must be linked.
func emptyEngine(c *Config, r records) *engine {
	e := &engine{
		records: r, config: c,
		offers: generateOffers(c.Seed, c.MarketScale), unposted: meter{Since: r.Now}, shownPrices: shownPrices{},
		index: index{map[string]*instance{}, map[string]*instance{}, map[string]*offer{}, map[secretHash]*apiKey{}},
	}
	e.fundsExhausted = event{priority: priorityFunds, run: e.stopForLowBalance}
	for n, o := range e.offers {
		e.index.offers[o.ID] = o
		o.index = uint64(n)
		o.moveEvent = event{priority: priorityMarket, seq: int64(n), run: func() { e.moveOffer(o) }}
	}
	return e
}

// link derives everything else from the records of a state file.
func (e *engine) link() error {
	for _, k := range e.Keys {
		e.index.secrets[k.Hash] = k
	}
	for _, o := range e.offers {
		if o.offerState = e.Offers[o.ID]; o.offerState == nil {
			return fmt.Errorf("offer %s is missing", o.ID)
		}
		e.events.schedule(&o.moveEvent, o.MoveAt)
	}
	for _, i := range e.Instances {
		i.offer = e.findOffer(i.OfferID)
		n := slices.IndexFunc(e.Templates, func(t *template) bool { return t.Slug == i.TemplateSlug })
		if i.offer == nil || n < 0 {
			return fmt.Errorf("instance %s refers to an unknown offer or template", i.ID)
		}
		i.template = e.Templates[n]
		e.unposted.Counted += i.Meter.amount(e.Now)
		e.unposted.Rate += i.Meter.Rate
		e.linkInstance(i)
	}
	return nil
}

// linkInstance adds an instance, which is new or from a state file, to everything that is derived from instances.
func (e *engine) linkInstance(i *instance) {
	i.transitionEvent = event{priority: priorityTransition, seq: i.Seq, run: func() { e.applyTransition(i) }}
	i.postingEvent = event{priority: priorityPosting, seq: i.Seq, run: func() { e.postHourly(i) }}
	e.index.instances[i.ID], e.index.replays[i.IdempotencyKey] = i, i
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
	e.Seq++
	return e.Seq
}

// dice are a source of random numbers that a state file can contain.
type dice struct{ rand.PCG }

func newDice(seed, purpose uint64) dice { return dice{*rand.NewPCG(seed, purpose)} }

func (d *dice) rand() *rand.Rand { return rand.New(&d.PCG) }

// MarshalJSON implements [json.Marshaler].
func (d dice) MarshalJSON() ([]byte, error) {
	raw, err := d.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(raw)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *dice) UnmarshalJSON(content []byte) error {
	var raw []byte
	if err := json.Unmarshal(content, &raw); err != nil {
		return err
	}
	return d.UnmarshalBinary(raw)
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
func (e *engine) newID(prefix string) string { return prefix + "_" + randomID(e.IDs.rand(), 12) }

// simulated converts a duration of real time.
func (e *engine) simulated(d time.Duration) time.Duration {
	return time.Duration(float64(d) * e.config.TimeScale)
}

// advanceTo runs all events up to an instant, in time order, each at its own time.
func (e *engine) advanceTo(at time.Time) {
	for next := e.events.next(at); next != nil; next = e.events.next(at) {
		if next.at.After(e.Now) {
			e.Now = next.at
		}
		next.run()
	}
	if at.After(e.Now) {
		e.Now = at
	}
}
