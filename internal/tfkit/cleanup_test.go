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

// taking returns a task that takes some time.
func taskOfDuration(name string, d time.Duration, err error) Task {
	return Task{
		Name: name,
		Undo: func(ctx context.Context) error {
			select {
			case <-time.After(d):
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		OnDone: func() {},
	}
}

func TestCleanup_Run(t *testing.T) {
	const budget = 1500 * time.Millisecond
	for name, test := range map[string]struct {
		prepare func(context.Context, *Cleanup)
		took    time.Duration
		left    []string // parts of the errors, in their order
	}{
		"nothing to do": {prepare: func(context.Context, *Cleanup) {}},
		"undone before": {prepare: func(ctx context.Context, c *Cleanup) {
			c.Register(ctx, taskOfDuration("a", time.Hour, nil))
			c.Done("a")
		}},
		"fifty at once": {
			prepare: func(ctx context.Context, c *Cleanup) {
				for n := range 50 {
					c.Register(ctx, taskOfDuration(fmt.Sprint("a", n), time.Second, nil))
				}
			},
			took: time.Second,
		},
		"one of two fails": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Register(ctx, taskOfDuration("bad", 100*time.Millisecond, errors.New("refused")))
				c.Register(ctx, taskOfDuration("good", time.Second, nil))
			},
			took: time.Second, left: []string{"bad is left: refused"},
		},
		"no end": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Register(ctx, taskOfDuration("slow", time.Hour, nil))
				c.Register(ctx, taskOfDuration("good", time.Second, nil))
			},
			took: budget, left: []string{"slow is left: context deadline exceeded"},
		},
		"created meanwhile": {
			prepare: func(ctx context.Context, c *Cleanup) {
				end, _ := c.Begin()
				time.AfterFunc(time.Second, func() {
					c.Register(ctx, taskOfDuration("late", 100*time.Millisecond, nil))
					end()
				})
			},
			took: 1100 * time.Millisecond,
		},
		"not created": {
			prepare: func(_ context.Context, c *Cleanup) {
				end, _ := c.Begin()
				time.AfterFunc(time.Second, end)
			},
			took: time.Second,
		},
		"in progress at the end": {
			prepare: func(_ context.Context, c *Cleanup) { c.Begin() },
			took:    budget, left: []string{"1 requests to create an object"},
		},
		"undone meanwhile by its creator": {
			prepare: func(ctx context.Context, c *Cleanup) {
				c.Register(ctx, taskOfDuration("a", time.Hour, nil))
				time.AfterFunc(time.Second, func() { c.Done("a") })
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

func TestCleanup_BeginFailsAfterRun(t *testing.T) {
	c := new(Cleanup)
	if _, ok := c.Begin(); !ok {
		t.Fatal("nothing may be created from the start")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Run(ctx)
	if _, ok := c.Begin(); ok {
		t.Error("something may be created after Run")
	}
}

// A task has the values of the call that registered it, for the log, although that call has ended.
func TestCleanup_TaskKeepsContextValues(t *testing.T) {
	c := new(Cleanup)
	call, cancelCall := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	done := 0
	c.Register(call, Task{"a", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil || ctx.Value(nameKey{}) != "x" {
			t.Errorf("deadline %t, error %v, value %v", ok, ctx.Err(), ctx.Value(nameKey{}))
		}
		return nil
	}, func() { done++ }})
	cancelCall()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if left := c.Run(ctx); len(left) > 0 || done != 1 {
		t.Errorf("left are %v; done %d times", left, done)
	}
}
