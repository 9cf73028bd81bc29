package tfkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Cleanup is what a process has to undo before it ends, for nobody else would: what
// it made at the service for the length of a run. A CLI that is interrupted or dies
// closes nothing any more. Its zero value is ready.
type Cleanup struct {
	mu      sync.Mutex
	begun   bool            // to undo: nothing more is made
	making  int             // on their way: made, or not
	debts   map[string]owed // made and not undone, by their names
	changed chan struct{}   // closed by the next change
}

// Debt is one thing that was made and has to be undone.
type Debt struct {
	// Name tells people what is left behind when it cannot be undone. No two have the
	// same.
	Name string
	// Undo undoes it.
	Undo func(context.Context) error
	// Settled is called once it has been.
	Settled func()
}

// owed is a debt, with what the call that made it knew, for the log.
type owed struct {
	Debt
	values context.Context
}

// Making announces something that will have to be undone, before it is made. The
// caller calls made when it is clear what came of it. ok is false when the process is
// about to end: then it may not be made.
func (c *Cleanup) Making() (made func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun {
		return nil, false
	}
	c.making++
	return func() { c.change(func() { c.making-- }) }, true
}

// Owe keeps in mind what has to be undone.
func (c *Cleanup) Owe(ctx context.Context, debt Debt) {
	c.change(func() {
		if c.debts == nil {
			c.debts = map[string]owed{}
		}
		c.debts[debt.Name] = owed{debt, Lasting(ctx)}
	})
}

// Settle forgets what has been undone.
func (c *Cleanup) Settle(name string) {
	c.change(func() {
		if debt, there := c.debts[name]; there {
			delete(c.debts, name)
			debt.Settled()
		}
	})
}

func (c *Cleanup) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Run undoes everything at once, also what is made meanwhile, until ctx ends. It
// returns an error for each thing that is left behind.
func (c *Cleanup) Run(ctx context.Context) []error {
	failures := map[string]error{} // of what was tried; nil while it is
	for {
		idle, changed := c.undo(ctx, failures)
		if idle {
			break
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		}
		break
	}
	return c.left(failures)
}

// undo begins to undo what was not tried yet. It returns whether all has come to an
// end, and what tells that there is news.
func (c *Cleanup) undo(ctx context.Context, failures map[string]error) (idle bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = true
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	running := 0
	for name, debt := range c.debts {
		failure, tried := failures[name]
		if tried && failure != nil {
			continue
		}
		running++
		if tried {
			continue
		}
		failures[name] = nil
		go func() {
			err := debt.Undo(withValues{ctx, debt.values}) //nolint:contextcheck // it ends when ctx does
			c.change(func() { failures[name] = err })
			if err == nil {
				c.Settle(name)
			}
		}()
	}
	return running == 0 && c.making == 0, c.changed
}

// left says what became of what is still there.
func (c *Cleanup) left(failures map[string]error) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []error
	for _, name := range slices.Sorted(maps.Keys(c.debts)) {
		err := failures[name]
		if err == nil {
			err = context.DeadlineExceeded
		}
		left = append(left, fmt.Errorf("%s is left behind: %w", OneLine(name), err))
	}
	if c.making > 0 {
		left = append(left, fmt.Errorf("what became of %d requests to create something is not known", c.making))
	}
	return left
}

// withValues is a context that ends like one and knows what another knows.
type withValues struct {
	context.Context
	values context.Context
}

func (c withValues) Value(key any) any {
	if value := c.values.Value(key); value != nil {
		return value
	}
	return c.Context.Value(key)
}
