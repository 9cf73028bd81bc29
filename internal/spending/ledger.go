package spending

import (
	"context"
	"sync"
	"time"
)

// Hold is the price of one instance that is about to be rented or started. It counts until Commit or Release is called,
// when the outcome of the request is known. Later calls do nothing. A nil Hold counts nothing.
type Hold func(id string, kopH int64)

// Commit records that an instance is or may be billed.
func (h Hold) Commit(id string, kopH int64) {
	if h != nil {
		h(id, kopH)
	}
}

// Release records that nothing was rented or started.
func (h Hold) Release() { h.Commit("", 0) }

// HoldFunc compares the price of an instance with the limits, right before it is rented or started. With an error it
// must not be. id is the instance that is started, or that a new one replaces; empty for another new one.
type HoldFunc func(ctx context.Context, id string, kopH int64) (Hold, error)

// Ask calls h. A nil HoldFunc allows every price.
func (h HoldFunc) Ask(ctx context.Context, id string, kopH int64) (Hold, error) {
	if h == nil {
		return nil, nil
	}
	return h(ctx, id, kopH)
}

// Ledger adds up the prices of instances and compares the sum with a limit. Instances have keys, such as their ids. It
// is safe for concurrent use.
type Ledger struct {
	limit int64 // kopecks per hour; 0 for no limit

	mu      sync.Mutex
	prices  map[string]price // by key
	holds   map[*hold]bool
	changed chan struct{} // is closed when a hold ends
	// other is what the account is billed for in addition to the instances that it lists.
	other  int64
	readAt time.Time // of the last reading of the account
}

// price is what one instance costs.
type price struct {
	kopH   int64
	rented bool // by this process: the account lists it from some time on
	gone   bool // it is destroyed
	// at is when this process rented, started or destroyed the instance; zero if the account lists it.
	at time.Time
}

// NewLedger returns an empty ledger with a limit in kopecks per hour, 0 for none.
func NewLedger(limitKopH int64) *Ledger {
	return &Ledger{
		limit: limitKopH, prices: map[string]price{}, holds: map[*hold]bool{}, changed: make(chan struct{}),
	}
}

// hold is the price that a Hold counts.
type hold struct {
	key  string // of the instance that is started or replaced; empty for another one
	kopH int64
}

// Hold adds the price of an instance. key is the instance that is started, or that the new one replaces: only a rise of
// its price counts. An error is of the kind failure.AboveLimit.
func (l *Ledger) Hold(key string, kopH int64) (Hold, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.total()
	h := &hold{key, kopH}
	l.holds[h] = true
	if after := l.total(); l.limit > 0 && after > l.limit {
		delete(l.holds, h)
		return nil, exceeded(before, after, l.limit)
	}
	return func(key string, kopH int64) { l.end(h, key, kopH) }, nil
}

// end ends a hold. key is that of the instance that is or may be billed; empty for none.
func (l *Ledger) end(h *hold, key string, kopH int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.holds[h] {
		return
	}
	delete(l.holds, h)
	if key != "" {
		l.prices[key] = price{kopH: kopH, rented: key != h.key, at: time.Now()}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// Destroyed records that an instance is not billed any more.
func (l *Ledger) Destroyed(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prices[key] = price{gone: true, at: time.Now()}
}

// without is the sum of all prices without those of some instances.
func (l *Ledger) without(keys []string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.total()
	for _, key := range keys {
		sum -= l.prices[key].kopH
	}
	return sum
}

// total is the sum of all prices, including those of holds. The lock is held.
func (l *Ledger) total() int64 {
	sum := l.other
	held := map[string]int64{}
	for h := range l.holds {
		if h.key == "" {
			sum += h.kopH
		} else {
			held[h.key] = max(held[h.key], h.kopH)
		}
	}
	for key, p := range l.prices {
		sum += max(p.kopH, held[key])
		delete(held, key)
	}
	for _, kopH := range held {
		sum += kopH
	}
	return sum
}

// await waits until a hold ends. It returns false at once if there is none, or if the caller has one itself, that of
// the key: two callers could wait for each other.
func (l *Ledger) await(ctx context.Context, key string) bool {
	l.mu.Lock()
	wait, changed := len(l.holds) > 0, l.changed
	for h := range l.holds {
		wait = wait && (key == "" || h.key != key)
	}
	l.mu.Unlock()
	if !wait {
		return false
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
	return true
}
