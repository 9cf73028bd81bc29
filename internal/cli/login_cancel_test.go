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

// hang waits until the request is cut off.
func hang(req *http.Request) { <-req.Context().Done() }

// Ctrl-C ends a login immediately at every step, and leaves no key behind.
func TestLogin_Cancelled(t *testing.T) {
	late := approved
	late.hook = func(req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-time.After(2 * time.Second):
		}
	}
	unreachable := map[string]response{"key_new": {status: 500}}
	for _, test := range []struct {
		name    string
		code    response
		poll    response
		after   time.Duration // of the cancellation
		deletes map[string]response
		took    time.Duration
		revoked []string
		want    []string // in the error
		lost    bool     // the error contains mayBeIssued
	}{
		{"before the first request", codeResponse(), approved, 0, nil, 0, nil, nil, false},
		{"in the first request", response{hook: hang}, approved, time.Second, nil, time.Second, nil, nil, false},
		{"between polls", codeResponse(), pending, 7 * time.Second, nil, 7 * time.Second, nil, nil, false},
		{"in a poll that returns the key", codeResponse(), late, 6 * time.Second, nil, 7 * time.Second,
			[]string{"key_new by gpr_NEWK"}, []string{"was revoked"}, false},
		{"in a poll that never ends", codeResponse(), response{hook: hang}, 6 * time.Second, nil, 6*time.Second + cancelGrace,
			nil, nil, true},
		{"during a rate limit", codeResponse(), response{status: 429, header: "Retry-After: 300",
			body: apiError(429, "rate_limited").body}, 8 * time.Second, nil, 8 * time.Second, nil, nil, false},
		{"with a key that cannot be revoked", codeResponse(), late, 6 * time.Second, unreachable, 0,
			[]string{"key_new by gpr_NEWK", "key_new by gpr_NEWK", "key_new by gpr_NEWK"}, []string{"key_new",
				"console"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, test.poll)
				f.service.code, f.service.deletes = test.code, test.deletes
				ctx, cancel := context.WithCancel(t.Context())
				if test.after == 0 {
					cancel()
				}
				defer time.AfterFunc(test.after, cancel).Stop()
				err := f.run(ctx, t)
				wantOutcome(t, f, err, "login was cancelled", test.lost)
				wantContains(t, "the error", fmt.Sprint(err), test.want...)
				if took := time.Since(f.service.started); took != test.took && test.took > 0 {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				if !slices.Equal(f.service.deleted, test.revoked) {
					t.Errorf("revoked %s, want %s", f.service.deleted, test.revoked)
				}
			})
		})
	}
}

// Login revokes a key that arrives at the moment of the cancellation.
func TestLogin_CancelledWhenKeyArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		last := approved
		last.hook = func(*http.Request) { cancel() }
		f := newFakeLogin(t, last)
		wantOutcome(t, f, f.run(ctx, t), "login was cancelled; the issued key was revoked", false)
	})
}
