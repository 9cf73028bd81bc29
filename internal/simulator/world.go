package simulator

import (
	"math/rand/v2"
	"time"
)

// world is the state of the service. The simulator's lock guards all of it; no method takes a lock of its own.
type world struct {
	// at is the instant up to which everything due has happened.
	at time.Time
	// began is the first instant of this world; the market moves on whole minutes from it.
	began time.Time
	boot  time.Duration
	// drifts is whether the market moves by itself.
	drifts bool
	seed   uint64
	// quirks are those that are on, nil for none.
	quirks *quirkSet
	ids    *rand.Rand
	idsPCG *rand.PCG
	seq    int64
	// due is what will happen by itself.
	due timeline

	account  account
	ledger   []*entry
	keys     []*apiKey
	sshKeys  []*sshKey
	devices  []*deviceLogin
	models   []gpuModel
	offers   []*offer
	market   int64 // the number of price changes so far
	catalog  []*template
	rentals  []*instance
	replayed map[string]*instance // by Idempotency-Key
	sealer   cursorSealer
	shown    shownPrices

	// active are the rentals that are not destroyed; live is how many of them need money to go on.
	active []*instance
	live   int
	// accrued is what all rentals together have cost and the ledger does not say yet.
	accrued    meter
	exhaustion timer
	index      index
}

// index finds things by what names them.
type index struct {
	instances map[string]*instance
	offers    map[string]*offer
	secrets   map[secretHash]*apiKey
}

// origin is what the first state of a world follows from.
type origin struct {
	seed   uint64
	scale  int
	drifts bool
	at     time.Time
	boot   time.Duration
	secret string
}

// newWorld returns the first state of an origin.
func newWorld(from origin) *world {
	w := emptyWorld(from)
	w.openAccount()
	w.addKey(&apiKey{
		Seq: w.nextSeq(), ID: w.newID("key"), Name: "simulator", Hash: hashSecret(from.secret), Prefix: secretHint(from.secret),
		Scopes: allScopes, Source: sourceConsole, CreatedAt: w.account.CreatedAt,
	})
	for _, o := range w.offers {
		w.expectMove(o)
	}
	return w
}

// emptyWorld has what every world of the origin has at any time: models, servers, the catalogue.
func emptyWorld(from origin) *world {
	w := &world{
		at: from.at, began: from.at, boot: from.boot, drifts: from.drifts, seed: from.seed,
		idsPCG: rand.NewPCG(from.seed, 1), replayed: map[string]*instance{}, sealer: newCursorSealer(from.seed),
		models: gpuModels, offers: generateOffers(from.seed, from.scale), accrued: meter{Since: from.at},
		shown: shownPrices{},
		index: index{map[string]*instance{}, map[string]*offer{}, map[secretHash]*apiKey{}},
	}
	w.ids = rand.New(w.idsPCG)
	w.catalog = catalogTemplates(w.nextSeq)
	w.exhaustion = timer{rank: rankExhaustion, fire: w.runDry}
	for n, o := range w.offers {
		w.index.offers[o.id] = o
		o.number = uint64(n)
		o.move = timer{rank: rankMarket, seq: int64(n), fire: func() { w.moveMarket(o) }}
	}
	return w
}

func (w *world) addKey(k *apiKey) {
	w.keys = append(w.keys, k)
	w.index.secrets[k.Hash] = k
}

// addInstance makes a rental known, new or read from a file.
func (w *world) addInstance(i *instance) {
	i.transition = timer{rank: rankTransition, seq: i.Seq, fire: func() { w.transit(i) }}
	i.posting = timer{rank: rankPosting, seq: i.Seq, fire: func() { w.postHourly(i) }}
	w.rentals = append(w.rentals, i)
	w.index.instances[i.ID] = i
	if !i.destroyed() {
		w.active = append(w.active, i)
		i.offer.rentedBy = i
	}
	w.changed(i)
}

// changed brings everything that depends on an instance's state up to date: whoever changes one calls it.
func (w *world) changed(i *instance) {
	var next time.Time
	if len(i.Ahead) > 0 {
		next = i.Ahead[0].At
	}
	w.due.set(&i.transition, next)
	w.due.set(&i.posting, i.Meter.PostAt)
	if live := i.live(); live != i.countedLive {
		i.countedLive = live
		w.live--
		if live {
			w.live += 2
		}
	}
	i.encoded = nil
	w.watchMoney()
}

// nextSeq numbers what is created; lists are kept in this order.
func (w *world) nextSeq() int64 {
	w.seq++
	return w.seq
}

const idAlphabet = "abcdefghijkmnpqrstuvwxyz23456789"

func randomID(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = idAlphabet[rng.IntN(len(idAlphabet))]
	}
	return string(b)
}

// newID returns an id that the seed and the history decide.
func (w *world) newID(noun string) string { return noun + "_" + randomID(w.ids, 12) }

// advanceTo lets everything due up to the instant happen, in time order, each at its own time.
func (w *world) advanceTo(at time.Time) {
	for next := w.due.due(at); next != nil; next = w.due.due(at) {
		if next.at.After(w.at) {
			w.at = next.at
		}
		next.fire()
	}
	if at.After(w.at) {
		w.at = at
	}
}
