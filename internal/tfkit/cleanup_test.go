package tfkit

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// taking returns a function that takes d and then returns err.
func taking(d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error { return cmp.Or(backoff.Sleep(ctx, d), err) }
}

func TestCleanup_Run(t *testing.T) {
	const budget = 1500 * time.Millisecond
	type change func(context.Context, *Cleanup)
	object := func(name Text, takes time.Duration, err error) change {
		return func(ctx context.Context, c *Cleanup) { c.Register(ctx, name, taking(takes, err)) }
	}
	done := func(_ context.Context, c *Cleanup) { c.Done("a") }
	nothing := func(context.Context, *Cleanup) {}
	// creating is a creation that takes some time, with its result.
	creating := func(takes time.Duration, result change) change {
		return func(ctx context.Context, c *Cleanup) {
			end, _ := c.Begin()
			time.AfterFunc(takes, func() { result(ctx, c); end() })
		}
	}
	for name, test := range map[string]struct {
		before []change
		took   time.Duration
		left   []string // substrings of the errors, in order
	}{
		"task already done": {[]change{object("a", time.Hour, nil), done}, 0, nil},
		"concurrent tasks, of which one fails": {
			[]change{object("bad", time.Second/10, errors.New("refused")), object("a", time.Second, nil),
				object("b", time.Second, nil)}, time.Second, []string{"bad was not deleted: refused"},
		},
		"a task exceeds the deadline": {
			[]change{object("slow", time.Hour, nil)}, budget, []string{"slow was not deleted: context deadline exceeded"},
		},
		"created during Run": {
			[]change{creating(time.Second, object("late", time.Second/10, nil))}, 1100 * time.Millisecond, nil,
		},
		"creation fails during Run": {[]change{creating(time.Second, nothing)}, time.Second, nil},
		"creation in progress at the deadline": {
			[]change{creating(2*budget, nothing)}, budget, []string{"requests to create an object is unknown (requests: 1)"},
		},
		"undone by its creator during Run": {
			[]change{object("a", time.Hour, nil), creating(time.Second, done)}, budget, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := new(Cleanup)
				for _, change := range test.before {
					change(t.Context(), c)
				}
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
