package rental

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// What is held back is there when it is urgent, however busy the rest is, and does not stop the rest.
func TestReserve(t *testing.T) {
	for _, m := range []manner{{}, {epoch: true, roundsDown: true}, {bucket: true}} {
		for _, kept := range []int{1, 20, 60, 300} {
			t.Run(fmt.Sprintf("%+v/%d", m, kept), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLimits(m, 10*time.Millisecond)
					l.budgets = &Budgets{}
					client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.Budgets = l, l.budgets })
					var releases []func()
					for range kept {
						releases = append(releases, client.Reserve())
					}
					var all sync.WaitGroup
					all.Go(func() { l.process(t, 50, 300, reads) })
					time.Sleep(45 * time.Second)
					for range min(kept, l.perMinute/2) {
						all.Go(func() {
							ctx, cancel := context.WithTimeout(Urgent(t.Context()), time.Second)
							defer cancel()
							if _, err := client.StartInstance(ctx, "x"); err != nil {
								t.Error(err)
							}
						})
					}
					start := time.Now()
					time.Sleep(time.Second)
					for _, release := range releases {
						release()
					}
					all.Wait()
					if took := time.Since(start); l.refused > 0 || took > 4*time.Minute {
						t.Errorf("%d refused, %s", l.refused, took)
					}
				})
			})
		}
	}
}

// What is urgent asks at once though everybody else is held back, and a refusal that cannot be waited out is told at once.
func TestUrgentRequestsDoNotWaitAtTheGate(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer reply
		took   time.Duration
		check  func(error) bool
	}{
		{"taken", reply{status: 204}, 0, func(err error) bool { return err == nil }},
		{"refused", limited("30"), 0, IsRateLimited},
		{"refused for a moment", limited("1"), time.Second, IsRateLimited},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{limited("3000"), test.answer}}
				client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport = s })
				first, cancel := context.WithCancel(t.Context())
				var waiting sync.WaitGroup
				for range 5 {
					waiting.Go(func() {
						if _, err := client.GetMe(first); err == nil {
							t.Error("a request passed that everybody is held back for")
						}
					})
					time.Sleep(time.Second)
				}
				start := time.Now()
				ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer stop()
				err := client.DeleteAPIKey(Urgent(ctx), "key")
				if took := time.Since(start).Truncate(time.Second); !test.check(err) || took != test.took {
					t.Errorf("after %s: %v", took, err)
				}
				cancel()
				waiting.Wait()
			})
		})
	}
}
