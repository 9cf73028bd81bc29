package tfkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// taking is a debt that it takes a while to settle.
func taking(name string, d time.Duration, err error) Debt {
	return Debt{
		Name: name,
		Undo: func(ctx context.Context) error {
			select {
			case <-time.After(d):
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Settled: func() {},
	}
}

func TestCleanup(t *testing.T) {
	const budget = 1500 * time.Millisecond
	for name, test := range map[string]struct {
		prepare func(context.Context, *Cleanup)
		took    time.Duration
		left    []string // parts of the errors, in their order
	}{
		"nothing to do": {prepare: func(context.Context, *Cleanup) {}},
		"settled before": {prepare: func(ctx context.Context, c *Cleanup) {
			c.Owe(ctx, taking("a", time.Hour, nil))
			c.Settle("a")
		}},
		"fifty at once": {
			prepare: func(ctx context.Context, c *Cleanup) {
				for n := range 50 {
					c.Owe(ctx, taking(fmt.Sprint("a", n), time.Second, nil))
				}
			},
			took: time.Second,
		},
		"one of two fails": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Owe(ctx, taking("bad", 100*time.Millisecond, errors.New("refused")))
				c.Owe(ctx, taking("good", time.Second, nil))
			},
			took: time.Second, left: []string{"bad is left behind: refused"},
		},
		"no end": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Owe(ctx, taking("slow", time.Hour, nil))
				c.Owe(ctx, taking("good", time.Second, nil))
			},
			took: budget, left: []string{"slow is left behind: context deadline exceeded"},
		},
		"made meanwhile": {
			prepare: func(ctx context.Context, c *Cleanup) {
				made, _ := c.Making()
				time.AfterFunc(time.Second, func() {
					c.Owe(ctx, taking("late", 100*time.Millisecond, nil))
					made()
				})
			},
			took: 1100 * time.Millisecond,
		},
		"not made after all": {
			prepare: func(_ context.Context, c *Cleanup) {
				made, _ := c.Making()
				time.AfterFunc(time.Second, made)
			},
			took: time.Second,
		},
		"made too late": {
			prepare: func(_ context.Context, c *Cleanup) { c.Making() },
			took:    budget, left: []string{"1 requests to create"},
		},
		"settled meanwhile by who made it": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Owe(ctx, taking("a", time.Hour, nil))
				time.AfterFunc(time.Second, func() { c.Settle("a") })
			},
			took: time.Second,
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
					t.Errorf("it took %s, want %s", took, test.took)
				}
				if len(left) != len(test.left) {
					t.Fatalf("left are %v, want %v", left, test.left)
				}
				for n, want := range test.left {
					if !strings.Contains(left[n].Error(), want) {
						t.Errorf("left is %v, want %s", left[n], want)
					}
				}
			})
		})
	}
}

func TestCleanupLetsNothingBeMadeOnceItHasBegun(t *testing.T) {
	c := new(Cleanup)
	if _, ok := c.Making(); !ok {
		t.Fatal("nothing may be made from the start")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Run(ctx)
	if _, ok := c.Making(); ok {
		t.Error("something may be made of which nobody will know")
	}
}

// What is undone is logged like the call that made it, though that has ended.
func TestCleanupKnowsWhatTheCallKnew(t *testing.T) {
	c := new(Cleanup)
	call, end := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	settled := 0
	c.Owe(call, Debt{"a", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil || ctx.Value(nameKey{}) != "x" {
			t.Errorf("deadline %t, error %v, value %v", ok, ctx.Err(), ctx.Value(nameKey{}))
		}
		return nil
	}, func() { settled++ }})
	end()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if left := c.Run(ctx); len(left) > 0 || settled != 1 {
		t.Errorf("left are %v; settled %d times", left, settled)
	}
}
