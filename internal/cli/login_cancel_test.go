package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Ctrl-C ends a login at once, whatever it is doing, and no key is left behind.
func TestCancelling(t *testing.T) {
	hang := func(req *http.Request) { <-req.Context().Done() }
	late := granted
	late.during = func(req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-time.After(2 * time.Second):
		}
	}
	unreachable := map[string]answer{"key_new": {status: 500}}
	for _, test := range []struct {
		name    string
		begin   answer
		poll    answer
		after   time.Duration
		ends    map[string]answer
		took    time.Duration
		revoked []string
		says    []string
		lost    bool
	}{
		{"before it begins", begun(), granted, 0, nil, 0, nil, nil, false},
		{"in the first request", answer{during: hang}, granted, time.Second, nil, time.Second, nil, nil, false},
		{"between polls", begun(), pending, 7 * time.Second, nil, 7 * time.Second, nil, nil, false},
		{"in a poll that brings the key", begun(), late, 6 * time.Second, nil, 7 * time.Second, []string{"key_new by gpr_NEWK"}, []string{"was revoked"}, false},
		{"in a poll that never ends", begun(), answer{during: hang}, 6 * time.Second, nil, 6*time.Second + cancelGrace, nil, nil, true},
		{"in a rate limit", begun(), answer{status: 429, header: "Retry-After: 300", body: refused(429, "rate_limited").body}, 8 * time.Second, nil, 8*time.Second + cancelGrace, nil, nil, false},
		{"with a key that cannot be revoked", begun(), late, 6 * time.Second, unreachable, 0, []string{"key_new by gpr_NEWK", "key_new by gpr_NEWK", "key_new by gpr_NEWK"}, []string{"key_new", "console"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, test.poll)
				f.service.begin, f.service.ends = test.begin, test.ends
				ctx, cancel := context.WithCancel(t.Context())
				if test.after == 0 {
					cancel()
				}
				defer time.AfterFunc(test.after, cancel).Stop()
				err := f.run(ctx, t)
				outcome(t, f, err, "login was cancelled", test.lost)
				says(t, "the error", fmt.Sprint(err), test.says...)
				if took := time.Since(f.service.start); took != test.took && test.took > 0 {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				if !slices.Equal(f.service.ended, test.revoked) {
					t.Errorf("revoked %s, want %s", f.service.ended, test.revoked)
				}
			})
		})
	}
}

// A key that arrives in the very moment of Ctrl-C is not kept.
func TestCancelledAsTheKeyArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		now := granted
		now.during = func(*http.Request) { cancel() }
		f := newFakeLogin(t, now)
		outcome(t, f, f.run(ctx, t), "login was cancelled; the key that had been issued was revoked", false)
	})
}
