package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
)

// mayBeIssued is the part of an error after a response with a key was possibly lost.
const mayBeIssued = `a key named "my laptop" may have been issued`

func TestLogin_Polling(t *testing.T) {
	tests := []struct {
		name   string
		code   response // codeResponse() by default
		tokens []response
		polled []time.Duration // times of the polls since the start
		took   time.Duration
		fails  string // part of the error; empty: the login succeeds
		lost   bool   // the error contains mayBeIssued
	}{
		{"approved", response{}, []response{pending, pending, approved}, seconds(5, 10, 15), 15 * time.Second, "", false},
		{"slow_down", response{}, []response{pending, slowDown, pending, slowDown, pending, approved},
			seconds(5, 10, 20, 30, 45, 60), time.Minute, "", false},
		{"denied", response{}, []response{pending, denied}, seconds(5, 10), 10 * time.Second, "denied", false},
		{"expired_token", response{}, []response{pending, expired}, seconds(5, 10), 10 * time.Second,
			"expired or was already used", false},
		{"expired locally", codeResponse("expires_in", "12"), []response{pending}, seconds(5, 10), 12 * time.Second,
			"expired", false},
		{"slow_down until expiry", codeResponse("expires_in", "14"), []response{slowDown}, seconds(5), 14 * time.Second,
			"expired", false},
		{"transient errors", response{}, []response{cutConnection, {status: 502, body: "<html>"}, cutConnection, internal,
			approved}, seconds(5, 10, 15, 20, 25), 25 * time.Second, "", false},
		{"dead address", response{status: 504, hook: hang}, nil, nil, 10 * time.Second, "no answer from the API", false},
		{"errors until expiry", codeResponse("expires_in", "12"), []response{internal}, seconds(5, 10), 12 * time.Second,
			"500 internal", true},
		{"other interval", codeResponse("interval", "2"), []response{pending, approved}, seconds(2, 4), 4 * time.Second, "",
			false},
		{"no interval", codeResponse("interval", "0"), []response{pending, approved}, seconds(5, 10), 10 * time.Second, "",
			false},
		{"negative interval", codeResponse("interval", "-9"), []response{approved}, seconds(5), 5 * time.Second, "", false},
		{"huge interval", codeResponse("interval", "9223372036854775807"), []response{pending, approved}, seconds(60, 120),
			2 * time.Minute, "", false},
		{"no lifetime", codeResponse("expires_in", "0", "interval", "59"), []response{pending},
			seconds(59, 118, 177, 236, 295, 354, 413, 472, 531, 590), 10 * time.Minute, "expired", false},
		{"huge lifetime", codeResponse("expires_in", "9223372036854775807", "interval", "59"), []response{pending}, nil,
			time.Hour, "expired", false},
		{"response lost, then code used", response{}, []response{cutConnection, expired}, seconds(5, 10), 10 * time.Second,
			"expired or was already used", true},
		{"gateway timeout, then code used", response{}, []response{{status: 504}, expired}, seconds(5, 10), 10 * time.Second,
			"expired or was already used", true},
		{"invalid response, then code used", response{}, []response{{status: 200, body: "<html>Log in to the wifi</html>"},
			expired}, seconds(5, 10), 10 * time.Second, "expired or was already used", true},
		{"response without key, then code used", response{}, []response{{status: 200, body: `{"key_id":"k"}`}, expired},
			seconds(5, 10), 10 * time.Second, "expired or was already used", true},
		{"response lost, then expired", codeResponse("expires_in", "7"), []response{cutConnection}, seconds(5),
			7 * time.Second, "expired", true},
		{"response lost, then pending", response{}, []response{cutConnection, pending, expired}, seconds(5, 10, 15),
			15 * time.Second, "expired or was already used", false},
		{"response lost, then denied", response{}, []response{cutConnection, denied}, seconds(5, 10), 10 * time.Second,
			"denied", false},
		{"4xx of a proxy", response{}, []response{{status: 403, body: "<html>"}}, seconds(5, 10, 15), 15 * time.Second, "403",
			true},
		{"other API error", response{}, []response{apiError(422, "validation_error")}, seconds(5), 5 * time.Second, "422",
			false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, test.tokens...)
				if test.code.status != 0 {
					f.service.code = test.code
				}
				err := f.run(t.Context(), t)
				if took := time.Since(f.service.started); took != test.took {
					t.Errorf("it took %s, want %s", took, test.took)
				}
				if test.polled != nil && !slices.Equal(f.service.polled, test.polled) {
					t.Errorf("polled at %s, want %s", f.service.polled, test.polled)
				}
				wantOutcome(t, f, err, test.fails, test.lost)
			})
		})
	}
}

// wantOutcome checks that a login saved the key (want is empty), or failed with want in the error and saved none. lost
// reports whether the error must contain mayBeIssued.
func wantOutcome(t *testing.T, f *fakeLogin, err error, want string, lost bool) {
	t.Helper()
	if want == "" {
		if err != nil || f.savedCredential(t).APIKey != newKey || f.savedCredential(t).KeyID != "key_new" {
			t.Errorf("%v, file %v", err, f.savedCredential(t))
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
	synctest.Test(t, func(t *testing.T) {
		limited := apiError(429, "rate_limited")
		limited.header = "Retry-After: 40"
		f := newFakeLogin(t, limited, approved)
		if err := f.run(t.Context(), t); err != nil || f.service.polled[1] < 45*time.Second ||
			f.service.polled[1] > time.Minute {
			t.Errorf("polled at %s, %v", f.service.polled, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		limited := apiError(429, "rate_limited")
		limited.header = "Retry-After: 400"
		f := newFakeLogin(t, limited)
		f.service.code = codeResponse("expires_in", "60")
		err := f.run(t.Context(), t)
		wantOutcome(t, f, err, "expired", false)
		if took := time.Since(f.service.started); took < time.Minute || took > time.Minute+cancelGrace {
			t.Errorf("it took %s", took)
		}
	})
}

// A login with an invalid or unsafe device code response shows nothing and polls nothing.
func TestLogin_RejectsUnsafePrompt(t *testing.T) {
	for name, code := range map[string]response{
		"javascript":            codeResponse("verification_uri", `"javascript:alert(1)"`),
		"a file":                codeResponse("verification_uri", `"file:///etc/passwd"`),
		"http to another host":  codeResponse("verification_uri", `"http://rent.example/device"`),
		"http that looks local": codeResponse("verification_uri", `"http://localhost.evil.example/device"`),
		"user information":      codeResponse("verification_uri", `"https://rent.example@evil.example/"`),
		"shell syntax":          codeResponse("verification_uri", `"https://rent.example/$(reboot)"`),
		"terminal escape":       codeResponse("verification_uri", `"https://rent.example/\u001b[2J"`),
		"long address":          codeResponse("verification_uri", `"https://rent.example/`+strings.Repeat("a", 2000)+`"`),
		"no address":            codeResponse("verification_uri", `""`),
		"no host":               codeResponse("verification_uri", `"https:///device"`),
		"http to this machine":  codeResponse("verification_uri", `"http://127.0.0.1:8080/device"`),
		"https to this machine": codeResponse("verification_uri", `"https://localhost:8080/device"`),
		"no code":               codeResponse("user_code", `""`),
		"invisible code":        codeResponse("user_code", `"\u001b[2J\u0007"`),
		"no device code":        codeResponse("device_code", `""`),
		"not JSON":              {status: 200, body: "<html>"},
		"an error":              apiError(422, "validation_error"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, approved)
				f.service.code = code
				f.browse = func(context.Context, string) error { t.Error("the browser was opened"); return nil }
				err := f.run(t.Context(), t)
				if err == nil || len(f.service.polled) > 0 || f.stdout.Len() > 0 {
					t.Errorf("%v; %d polls; stdout %q", err, len(f.service.polled), &f.stdout)
				}
			})
		})
	}
}

// The browser opens only the address on the screen. Other users of the machine can read its arguments, so they do not
// contain the code.
func TestLogin_OpensShownAddress(t *testing.T) {
	for _, test := range []struct{ address, complete, opened string }{
		{"https://rent.example/device", "https://rent.example/device?code=ABCD-EFGH", "https://rent.example/device"},
		{"https://rent.example/device", "https://evil.example/device?code=ABCD-EFGH", "https://rent.example/device"},
		{"https://rent.example/device", "http://127.0.0.1:8080/", "https://rent.example/device"},
		{"https://rent.example/device", "javascript:alert(1)", "https://rent.example/device"},
		{"https://rent.example/device", "", "https://rent.example/device"},
		{"https://accounts.example:8443/a?b=c", "", "https://accounts.example:8443/a?b=c"}, // the document allows any host
		{"https://rent.example/device?code=ABCD-EFGH", "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			f.service.code = codeResponse("verification_uri", strconv.Quote(test.address), "verification_uri_complete",
				strconv.Quote(test.complete))
			opened := ""
			f.browse = func(_ context.Context, address string) error { opened = address; return errors.New("no browser") }
			if err := f.run(t.Context(), t); err != nil || opened != test.opened {
				t.Errorf("%v: opened %q; %v", test, opened, err)
			}
			wantContains(t, "stdout", f.stdout.String(), "Open "+test.address+" in a browser and approve the code ABCD-EFGH")
			if strings.Count(f.stdout.String(), "//") != 2 { // the page and the service
				t.Errorf("stdout has another address: %q", &f.stdout)
			}
		})
	}
}

func TestPageAddress_LoopbackOnlyForLocalService(t *testing.T) {
	for address, local := range map[string]bool{
		"https://rent.example/device":   false,
		"https://93.184.216.34/device":  false,
		"https://[2606:2800:220:1::1]/": false,
		"https://localhost.example/":    false,
		"http://127.0.0.1:8080/device":  true,
		"https://127.0.0.1:8080/device": true,
		"http://[::1]:8080/device":      true,
		"https://[::ffff:127.0.0.1]/":   true,
		"https://LOCALHOST/":            true,
		"https://localhost./":           true,
		"https://other.localhost/":      true,
		"https://0.0.0.0/":              true,
		"https://[::]/":                 true,
		"https://127.1/":                true,
		"https://2130706433/":           true,
		"https://0x7f.0.0.1/":           true,
		"https://127.0.0.0x1/":          true,
		"https://./":                    true,
	} {
		if got := pageAddress(address, "https://rent.example/api/v1"); (got == "") != local {
			t.Errorf("%s of a remote service: %q", address, got)
		}
		for _, service := range []string{"http://127.0.0.1:8474/api/v1", "http://[::1]:8474/api/v1",
			"https://localhost/api/v1"} {
			if got := pageAddress(address, service); got != address {
				t.Errorf("%s of %s: %q", address, service, got)
			}
		}
	}
	for _, address := range []string{"http://rent.example/", "http://192.168.0.1/", "http://127.1/",
		"http://other.localhost/"} {
		if got := pageAddress(address, "http://127.0.0.1:8474/api/v1"); got != "" {
			t.Errorf("plain http to %s", got)
		}
	}
}

func TestLogin_RevokesUnsavedKey(t *testing.T) {
	for name, test := range map[string]struct {
		revoke response // to the revocation of the new key
		want   []string // in the error
	}{
		"revoked":     {noContent, []string{"cannot save the key", "was revoked"}},
		"not revoked": {response{status: 500}, []string{"cannot save the key", "key_new", "could not be revoked", "console"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t)
				f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
				unwritable := approved
				unwritable.hook = func(*http.Request) {
					if err := os.MkdirAll(f.file+".new/blocks-the-file", 0o700); err != nil {
						t.Error(err)
					}
				}
				f.service.tokens, f.service.deletes["key_new"] = []response{unwritable}, test.revoke
				err := f.run(t.Context(), t)
				wantContains(t, "the error", fmt.Sprint(err), test.want...)
				if f.savedCredential(t).APIKey != oldKey || f.service.deleted[0] != "key_new by gpr_NEWK" ||
					slices.Contains(f.service.deleted, "key_old by gpr_OLDK") {
					t.Errorf("file %v, revoked %s; want the old key in the file and the new one revoked", f.savedCredential(t),
						f.service.deleted)
				}
			})
		})
	}
}

// A login requests no key if the file is unusable, and saves no unusable key.
func TestLogin_UnusableFileOrKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, approved)
		f.saveCredential(t, credentials.Credential{APIKey: oldKey})
		if err := os.WriteFile(f.file, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.run(t.Context(), t); err == nil || f.service.codeRequest != "" {
			t.Errorf("%v; request %s", err, f.service.codeRequest)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, response{status: 200, body: `{"api_key":"gpr_\r\nHost: x","key_id":"key_new","user":{}}`})
		err := f.run(t.Context(), t)
		wantOutcome(t, f, err, "cannot be used", false)
	})
}

func TestLogin_RevokesReplacedKey(t *testing.T) {
	for name, test := range map[string]struct {
		old     credentials.Credential
		revoke  response // to the revocation of the old key
		deleted []string
		warns   []string
	}{
		"revoked": {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, noContent, []string{"key_old by gpr_OLDK"},
			nil},
		"not found": {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, apiError(404, "not_found"),
			[]string{"key_old by gpr_OLDK"}, []string{"its id is unknown", "console"}},
		"unauthorized": {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, apiError(401, "unauthorized"),
			[]string{"key_old by gpr_OLDK"}, nil},
		"forbidden": {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, apiError(403, "forbidden"),
			[]string{"key_old by gpr_OLDK"}, []string{"key_old", "403", "console"}},
		"without id": {credentials.Credential{APIKey: oldKey}, noContent, nil,
			[]string{"gpr_OLDK", "its id is unknown", "console"}},
		"same key": {credentials.Credential{APIKey: newKey, KeyID: "key_old"}, noContent, nil, nil},
		"empty":    {credentials.Credential{}, noContent, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, approved)
				f.saveCredential(t, test.old)
				f.service.deletes["key_old"] = test.revoke
				wantOutcome(t, f, f.run(t.Context(), t), "", false)
				if !slices.Equal(f.service.deleted, test.deleted) {
					t.Errorf("revoked %s, want %s", f.service.deleted, test.deleted)
				}
				wantContains(t, "stderr", f.stderr.String(), test.warns...)
				if warned := f.stderr.Len() > 0; warned != (test.warns != nil) {
					t.Errorf("stderr %q", &f.stderr)
				}
			})
		})
	}
}
