package rental

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Budgets are the rate budgets that the clients of a process spend from: one for each key of a service, and one for all requests
// without a key. Clients that share them do not run each other into a limit. The zero value is ready for use.
type Budgets struct{ gates sync.Map }

// budgetOf names a budget: the service and the key; the key is empty for requests without one.
type budgetOf struct{ service, key string }

func (b *Budgets) gate(of budgetOf) *gate {
	made, _ := b.gates.LoadOrStore(of, &gate{})
	return made.(*gate)
}

// budgetLayer lets requests through as their rate budget allows. Requests with a key and requests without are counted apart by the
// service, so they are here.
type budgetLayer struct {
	next         http.RoundTripper
	keyed, plain *gate
	log          func(ctx context.Context, message string, fields map[string]any) // nil: off
}

// worthTelling is how long a request waits at its gate before the log tells of it: somebody may wonder why nothing happens.
const worthTelling = 2 * time.Second

func (l *budgetLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	budget := l.plain
	if req.Header.Get("Authorization") != "" {
		budget = l.keyed
	}
	if err := l.pass(budget, req); err != nil {
		return nil, err
	}
	sent := time.Now()
	resp, err := l.next.RoundTrip(req)
	budget.done(sent, resp)
	return resp, err
}

func (l *budgetLayer) pass(budget *gate, req *http.Request) error {
	ctx := req.Context()
	if ctx.Value(urgentKey{}) != nil {
		budget.jump()
		return nil
	}
	if l.log != nil {
		notice := time.AfterFunc(worthTelling, func() {
			l.log(ctx, "Waiting for the request limit", map[string]any{"method": req.Method, "keyed": budget == l.keyed})
		})
		defer notice.Stop()
	}
	return budget.pass(ctx, req.Method != http.MethodGet)
}

// gate lets requests pass one after the other, writes before reads: what is asked for by a write is what the user waits for, and
// reads mostly ask how far it is. Its zero value is ready for use.
type gate struct {
	mu            sync.Mutex
	rate          rate
	writes, reads queue
	alarm         *time.Timer
}

// turn is one who waits at a gate.
type turn struct {
	since time.Time
	come  chan struct{} // closed when it may pass
}

// queue is in the order of arrival.
type queue []*turn

func (q queue) first() *turn {
	if len(q) == 0 {
		return nil
	}
	return q[0]
}

func (q *queue) remove(t *turn) bool {
	at := slices.Index(*q, t)
	if at < 0 {
		return false
	}
	*q = slices.Delete(*q, at, at+1)
	return true
}

// pass waits for its turn.
func (g *gate) pass(ctx context.Context, write bool) error {
	own := &turn{since: time.Now(), come: make(chan struct{})}
	line := &g.reads
	if write {
		line = &g.writes
	}
	g.mu.Lock()
	*line = append(*line, own)
	g.admit()
	g.mu.Unlock()
	select {
	case <-own.come:
		return nil
	case <-ctx.Done():
		g.leave(line, own)
		return fmt.Errorf("while the request limit was waited out: %w", ctx.Err())
	}
}

// leave gives up a turn, or what it has just been given.
func (g *gate) leave(line *queue, own *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !line.remove(own) {
		g.rate.unsent()
	}
	g.admit()
}

// done takes note of the end of a request.
func (g *gate) done(sent time.Time, resp *http.Response) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if resp == nil {
		g.rate.failed()
	} else {
		g.rate.answered(sent, time.Now(), resp)
	}
	g.admit()
}

// patienceOfReads is how long a read lets writes go first: longer than a spent budget takes to be there again.
const patienceOfReads = 3 * time.Minute

// admit lets through whoever may pass now, and sets the alarm for who comes next.
func (g *gate) admit() {
	for {
		now := time.Now()
		line := &g.writes
		if read := g.reads.first(); read != nil && (len(g.writes) == 0 || now.Sub(read.since) > patienceOfReads) {
			line = &g.reads
		}
		first := line.first()
		if first == nil {
			return
		}
		if wait := g.rate.next(now).Sub(now); wait > 0 {
			g.wake(wait)
			return
		}
		line.remove(first)
		g.rate.sent(now)
		close(first.come)
	}
}

// wake admits again after a while. Jitter keeps processes apart that wait for the same moment.
func (g *gate) wake(after time.Duration) {
	if g.alarm != nil {
		g.alarm.Stop()
	}
	g.alarm = time.AfterFunc(after+jitter(after/16), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.admit()
	})
}
