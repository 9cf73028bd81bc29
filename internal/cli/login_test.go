package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// mayBeIssued is the part of an error after a response with a key was possibly lost.
const mayBeIssued = `a key named "my laptop" may have been issued`

func TestLogin_Polling(t *testing.T) {
	type responses = []response
	lasts := func(seconds int) response { return codeResponse("expires_in", seconds) }
	for _, test := range []struct {
		name   string
		code   response  // codeResponse() by default
		tokens responses // to the polls
		polled []int     // seconds from the start to each poll
		ends   int       // seconds from the start to the end; 0: with the last poll
		fails  string    // part of the error; empty: the login succeeds
		lost   bool      // the error contains mayBeIssued
	}{
		{name: "approved", tokens: responses{pending, pending, approved}, polled: []int{5, 10, 15}},
		{name: "other interval", code: codeResponse("interval", 2), tokens: responses{pending, approved},
			polled: []int{2, 4}},
		{name: "slow_down", tokens: responses{pending, slowDown, pending, slowDown, pending, approved},
			polled: []int{5, 10, 20, 30, 45, 60}},
		{name: "denied", tokens: responses{pending, denied}, polled: []int{5, 10}, fails: "denied"},
		{name: "expired_token", tokens: responses{pending, expired}, polled: []int{5, 10},
			fails: "expired or was already used"},
		{name: "expired locally", code: lasts(12), tokens: responses{pending}, polled: []int{5, 10}, ends: 12,
			fails: "expired"},
		{name: "slow_down until expiry", code: lasts(14), tokens: responses{slowDown}, polled: []int{5}, ends: 14,
			fails: "expired"},
		{name: "transient errors", tokens: responses{rentaltest.Cut, raw(502, "<html>"), internal, approved},
			polled: []int{5, 10, 15, 20}},
		{name: "dead address", code: hang, ends: 10, fails: "no usable answer from the API"},
		{name: "errors until expiry", code: lasts(12), tokens: responses{internal}, polled: []int{5, 10}, ends: 12,
			fails: "500 internal", lost: true},
		{name: "response lost, then code used", tokens: responses{rentaltest.Cut, expired}, polled: []int{5, 10},
			fails: "expired or was already used", lost: true},
		{name: "response without key, then code used", tokens: responses{raw(200, `{"key_id":"k"}`), expired},
			polled: []int{5, 10}, fails: "expired or was already used", lost: true},
		{name: "response lost, then expired", code: lasts(7), tokens: responses{rentaltest.Cut}, polled: []int{5}, ends: 7,
			fails: "expired", lost: true},
		{name: "response lost, then pending", tokens: responses{rentaltest.Cut, pending, expired}, polled: []int{5, 10, 15},
			fails: "expired or was already used"},
		{name: "response lost, then denied", tokens: responses{rentaltest.Cut, denied}, polled: []int{5, 10},
			fails: "denied"},
		{name: "4xx of a proxy", tokens: responses{raw(403, "<html>")}, polled: []int{5}, fails: "403",
			lost: true},
		{name: "other API error", tokens: responses{rentaltest.Fail(422)}, polled: []int{5}, fails: "422"},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			f := newFakeLogin(t, test.tokens...)
			if test.code != nil {
				f.service.Script("POST /auth/device", test.code)
			}
			err := f.run(t.Context(), t)
			ends := max(test.ends, slices.Max(append(test.polled, 0)))
			if took := time.Since(f.started); took != time.Duration(ends)*time.Second {
				t.Errorf("it took %s, want %d s", took, ends)
			}
			if !slices.Equal(f.polled, test.polled) {
				t.Errorf("polled at %d, want %d", f.polled, test.polled)
			}
			wantOutcome(t, f, err, test.fails, test.lost)
		})
	}
}

// wantOutcome checks that a login saved the key (want is empty), or failed with want in the error and saved none. lost
// reports whether the error must contain mayBeIssued.
func wantOutcome(t *testing.T, f *fakeLogin, err error, want string, lost bool) {
	t.Helper()
	if want == "" {
		if err != nil || f.savedKey(t) != newKey {
			t.Errorf("%v, the file has the key %.8s", err, f.savedKey(t))
		}
		return
	}
	if err == nil || strings.Contains(err.Error(), mayBeIssued) != lost {
		t.Fatalf("got %v; want %q in it: %t", err, mayBeIssued, lost)
	}
	wantContains(t, "the error", err.Error(), want)
	if _, err := os.Stat(f.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file exists: %v", err)
	}
}

func TestLogin_WaitsForRateLimit(t *testing.T) {
	for name, test := range map[string]struct {
		retryAfter string // of the first poll, after 5 seconds
		ends       int    // seconds from the start; jitter adds up to 10
		fails      string
	}{
		"shorter than the code": {"40", 45, ""},
		"longer than the code":  {"400", 60, "expired"},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newFakeLogin(t, limited(test.retryAfter), approved)
			f.service.Script("POST /auth/device", codeResponse("expires_in", 60))
			wantOutcome(t, f, f.run(t.Context(), t), test.fails, false)
			if took := int(time.Since(f.started).Seconds()); took < test.ends || took > test.ends+10 {
				t.Errorf("it took %d s, want %d", took, test.ends)
			}
		})
	}
}

// Ctrl-C ends a login at every step, at once unless a request is in flight. A key that arrives then is revoked.
func TestLogin_Cancelled(t *testing.T) {
	late := after(func() { time.Sleep(2 * time.Second) }, approved)
	revoked := []string{"key_new by gpr_NEWK"}
	for _, test := range []struct {
		name       string
		code, poll response
		after      time.Duration // of the cancellation
		ends       time.Duration // of the login; 0: at once
		revoke     response      // to the revocation
		revoked    []string
		want       string // in the error
		lost       bool   // the error contains mayBeIssued
	}{
		{name: "before the first request", code: codeResponse(), poll: pending},
		{name: "in the first request", code: hang, poll: pending, after: time.Second, ends: 7 * time.Second},
		{name: "between polls", code: codeResponse(), poll: pending, after: 7 * time.Second},
		{name: "during a rate limit", code: codeResponse(), poll: limited("300"), after: 8 * time.Second},
		{name: "in a poll that returns the key", code: codeResponse(), poll: late, after: 6 * time.Second,
			ends: 7 * time.Second, revoke: noContent, revoked: revoked, want: "; a key was issued: the key was revoked"},
		{name: "in a poll that never ends", code: codeResponse(), poll: hang, after: 6 * time.Second,
			ends: 12 * time.Second, lost: true},
		{name: "with a key that cannot be revoked", code: codeResponse(), poll: late, after: 6 * time.Second,
			ends: 7 * time.Second, revoke: forbidden, revoked: revoked,
			want: "; the key key_new was issued, and the service did not confirm that it is revoked"},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			f := newFakeLogin(t, test.poll)
			f.service.Script("POST /auth/device", test.code)
			f.onRevoke(test.revoke)
			ctx, cancel := context.WithCancel(t.Context())
			if test.after == 0 {
				cancel()
			}
			defer time.AfterFunc(test.after, cancel).Stop()
			err := f.run(ctx, t)
			wantOutcome(t, f, err, "login was cancelled"+test.want, test.lost)
			if took := time.Since(f.started); took != max(test.after, test.ends) {
				t.Errorf("it took %s", took)
			}
			if !slices.Equal(f.revoked, test.revoked) {
				t.Errorf("revoked %s, want %s", f.revoked, test.revoked)
			}
		})
	}
}

// TestLogin_Cancelled has a new key that cannot be revoked.
func TestLogin_RevokesUnsavedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *fakeLogin
		f = newFakeLogin(t, after(func() { f.blockFile(t) }, approved))
		f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
		f.replace = true
		err := f.run(t.Context(), t)
		wantContains(t, "the error", fmt.Sprint(err), "cannot save the key", "was revoked")
		if f.savedKey(t) != oldKey || !slices.Equal(f.revoked, []string{"key_new by gpr_NEWK"}) {
			t.Errorf("revoked %s, want only the new key; the old one stays in the file", f.revoked)
		}
	})
}

// A login requests no key if the file is unusable, and saves no unusable key.
func TestLogin_UnusableFileOrKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, approved)
		f.saveCredential(t, credentials.Credential{APIKey: oldKey})
		f.blockFile(t)
		if err := f.run(t.Context(), t); err == nil || f.requested() {
			t.Errorf("%v; requests %s", err, f.service.Sent(""))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, raw(200, `{"api_key":"gpr_\r\nHost: x","key_id":"key_new","user":{}}`))
		wantOutcome(t, f, f.run(t.Context(), t), "cannot be used", false)
	})
}

// The key of the previous login is revoked after the new one is saved. TestRevoke has all results of a revocation.
func TestLogin_RevokesReplacedKey(t *testing.T) {
	const id = "key_old"
	own := []string{"key_old by gpr_OLDK"}
	for name, test := range map[string]struct {
		old     credentials.Credential
		revoke  response
		revoked []string
		warning []string // parts
	}{
		"revoked": {credentials.Credential{APIKey: oldKey, KeyID: id}, noContent, own, nil},
		"forbidden": {credentials.Credential{APIKey: oldKey, KeyID: id}, forbidden, own,
			[]string{id, "did not confirm", "gpurent_api_key"}},
		"without id": {credentials.Credential{APIKey: oldKey}, noContent, nil,
			[]string{`begins with "gpr_OLDK"`, "its id is unknown"}},
		"the same key": {credentials.Credential{APIKey: newKey, KeyID: id}, noContent, nil, nil},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			f.saveCredential(t, test.old)
			f.replace = true
			f.onRevoke(test.revoke)
			f.service.Script("GET /me", raw(200, `{"id":"usr_me"}`))
			wantOutcome(t, f, f.run(t.Context(), t), "", false)
			wantContains(t, "stderr", f.stderr.String(), test.warning...)
			if !slices.Equal(f.revoked, test.revoked) || (f.stderr.Len() > 0) != (test.warning != nil) {
				t.Errorf("revoked %s, want %s; stderr %q", f.revoked, test.revoked, &f.stderr)
			}
		})
	}
}

// A login replaces a key of the same service only with --replace. Without it, it sends no request.
// TestLogin_RevokesReplacedKey has logins with it.
func TestLogin_ExistingKey(t *testing.T) {
	const refused = " already has a key of " + address + ": use --replace to replace and revoke it"
	for at, fails := range map[string]string{ // by the address of the existing key
		address: refused, "https://RENT.example/api/v1/": refused, "https://elsewhere.example/api/v1": "",
	} {
		inBubble(t, at, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			old := credentials.Credential{APIKey: oldKey, KeyID: "key_old"}
			if _, err := credentials.Save(t.Context(), f.file, at, old); err != nil {
				t.Fatal(err)
			}
			err := f.run(t.Context(), t)
			left := newKey
			if fails != "" {
				left = oldKey
			}
			if (err != nil) != (fails != "") || !strings.HasSuffix(fmt.Sprint(err), cmp.Or(fails, "<nil>")) {
				t.Errorf("%v, want %q", err, fails)
			}
			if f.savedKey(t) != left || len(f.revoked) > 0 || f.requested() != (err == nil) {
				t.Errorf("the file has the key %.8s, revoked %s", f.savedKey(t), f.revoked)
			}
		})
	}
}
