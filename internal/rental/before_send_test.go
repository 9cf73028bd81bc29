package rental

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A write is checked after each wait for the request limit. If the check fails, nothing is sent. Reads of the check do
// not wait. A retry after a lost response is not checked: the API may have performed the write.
func TestBeforeSend(t *testing.T) {
	for _, test := range []struct {
		failure          error
		checks, requests int
	}{{nil, 2, 6}, {errors.New("above the limit"), 1, 2}} {
		synctest.Test(t, func(t *testing.T) {
			limited, me := rateLimited("30"), ok(userJSON)
			client, s := scriptedClient(t, limited, me, limited, me, cut, failed(CodeInsufficientFunds))
			if err := getMe(t, client.WithoutRetries()); !IsRateLimited(err) {
				t.Fatal(err)
			}
			start, checks := time.Now(), 0
			ctx := BeforeSend(t.Context(), func(ctx context.Context) error {
				checks++
				checked := time.Since(start)
				_, err := client.GetMe(ctx)
				if passed := time.Since(start); checked < time.Duration(checks)*30*time.Second || passed != checked {
					t.Errorf("check %d begins after %s and ends after %s", checks, checked, passed)
				}
				return errors.Join(err, test.failure)
			})
			_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
			notSent, _ := errors.AsType[NotSent](err)
			if !errors.Is(notSent.Err, test.failure) || IsInsufficientFunds(err) != (test.failure == nil) ||
				checks != test.checks || s.attempts() != test.requests {
				t.Errorf("%v after %d checks and %d requests, want %+v", err, checks, s.attempts(), test)
			}
		})
	}
}
