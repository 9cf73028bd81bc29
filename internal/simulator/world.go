package simulator

import (
	"math/rand/v2"
	"time"
)

// world is the state of the service. The simulator's lock guards all of it; no method takes a lock of its own.
type world struct {
	// at is the instant up to which everything due has happened.
	at   time.Time
	boot time.Duration
	ids  *rand.Rand
	seq  int64

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
}

// newWorld returns the first state of a seed, as of the instant given.
func newWorld(seed uint64, at time.Time, boot time.Duration, secret string) *world {
	w := &world{
		at:       at,
		boot:     boot,
		ids:      rand.New(rand.NewPCG(seed, 1)),
		replayed: map[string]*instance{},
		sealer:   newCursorSealer(seed),
	}
	w.openAccount()
	w.models = gpuModels
	w.offers = generateOffers(rand.New(rand.NewPCG(seed, 2)))
	w.catalog = catalogTemplates(w.nextSeq)
	w.keys = append(w.keys, &apiKey{
		seq: w.nextSeq(), id: w.newID("key"), name: "simulator", hash: hashSecret(secret), prefix: secretHint(secret),
		scopes: allScopes, source: sourceConsole, createdAt: w.account.createdAt,
	})
	return w
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

// event is one thing that is due at one instant.
type event struct {
	at   time.Time
	fire func()
}

// sooner keeps the earlier of two events; on a tie the one already held, so that the order of the sources decides.
func (e *event) sooner(at time.Time, fire func()) {
	if e.fire == nil || at.Before(e.at) {
		e.at, e.fire = at, fire
	}
}

// next returns the first event that is due; its fire is nil when nothing is. Each source of events has one line here.
func (w *world) next() event {
	var first event
	for _, i := range w.rentals {
		w.nextTransition(i, &first)
	}
	for _, i := range w.rentals {
		w.nextPosting(i, &first)
	}
	w.nextExhaustion(&first)
	return first
}

// advanceTo lets everything due up to the instant happen, in time order, each at its own time.
func (w *world) advanceTo(at time.Time) {
	for {
		due := w.next()
		if due.fire == nil || due.at.After(at) {
			break
		}
		if due.at.After(w.at) {
			w.at = due.at
		}
		due.fire()
	}
	if at.After(w.at) {
		w.at = at
	}
}
