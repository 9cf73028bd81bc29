package tfkit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// taking returns a function that takes d and then returns err.
func taking(d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestCleanup_Run(t *testing.T) {
	const budget = 1500 * time.Millisecond
	for name, test := range map[string]struct {
		prepare func(context.Context, *Cleanup)
		took    time.Duration
		left    []string // substrings of the errors, in order
	}{
		"no task": {prepare: func(context.Context, *Cleanup) {}},
		"task already done": {prepare: func(ctx context.Context, c *Cleanup) {
			c.Register(ctx, "a", taking(time.Hour, nil))
			c.Done("a")
		}},
		"concurrent tasks, of which one fails": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Register(ctx, "bad", taking(100*time.Millisecond, errors.New("refused")))
				c.Register(ctx, "good", taking(time.Second, nil))
				c.Register(ctx, "also good", taking(time.Second, nil))
			},
			took: time.Second, left: []string{"bad was not deleted: refused"},
		},
		"a task exceeds the deadline": {
			prepare: func(ctx context.Context, c *Cleanup) { c.Register(ctx, "slow", taking(time.Hour, nil)) },
			took:    budget, left: []string{"slow was not deleted: context deadline exceeded"},
		},
		"created during Run": {
			prepare: func(ctx context.Context, c *Cleanup) {
				end, _ := c.Begin()
				time.AfterFunc(time.Second, func() {
					c.Register(ctx, "late", taking(100*time.Millisecond, nil))
					end()
				})
			},
			took: 1100 * time.Millisecond,
		},
		"creation fails during Run": {
			prepare: func(_ context.Context, c *Cleanup) {
				end, _ := c.Begin()
				time.AfterFunc(time.Second, end)
			},
			took: time.Second,
		},
		"creation in progress at the deadline": {
			prepare: func(_ context.Context, c *Cleanup) {
				end, _ := c.Begin()
				time.AfterFunc(2*budget, end)
			},
			took: budget, left: []string{"requests to create an object is unknown (requests: 1)"},
		},
		"undone by its creator during Run": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Register(ctx, "a", taking(time.Hour, nil))
				time.AfterFunc(time.Second, func() { c.Done("a") })
			},
			took: budget,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := new(Cleanup)
				test.prepare(t.Context(), c)
				ctx, cancel := context.WithTimeout(t.Context(), budget)
				defer cancel()
				start := time.Now()
				left := c.Run(ctx)
				if took := time.Since(start); took != test.took {
					t.Errorf("Run took %s, want %s", took, test.took)
				}
				if len(left) != len(test.left) {
					t.Fatalf("errors %v, want %v", left, test.left)
				}
				for n, want := range test.left {
					if !strings.Contains(left[n].Error(), want) {
						t.Errorf("error %v, want %s", left[n], want)
					}
				}
				time.Sleep(2 * budget) // ends the tasks and creations that are still running
			})
		})
	}
}

type nameKey struct{}

// A task has the context values of the call that registered it, for the log, even after that call has ended. After Run,
// nothing begins.
func TestCleanup_TaskKeepsContextValues(t *testing.T) {
	c := new(Cleanup)
	call, cancelCall := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	undone := 0
	c.Register(call, "a", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil || ctx.Value(nameKey{}) != "x" {
			t.Errorf("deadline %t, error %v, value %v", ok, ctx.Err(), ctx.Value(nameKey{}))
		}
		undone++
		return nil
	})
	cancelCall()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if left := c.Run(ctx); len(left) > 0 || undone != 1 {
		t.Errorf("errors %v; %d calls of Undo", left, undone)
	}
	if _, ok := c.Begin(); ok {
		t.Error("Begin succeeds after Run")
	}
}
