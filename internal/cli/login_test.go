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

// These tests run in bubbles whose clock jumps whenever everybody sleeps, so ten minutes cost nothing.

const mayBeIssued = `a key named "my laptop" may have been issued`

func TestPolling(t *testing.T) {
	tests := []struct {
		name   string
		begin  answer // begun() where empty
		polls  []answer
		polled []time.Duration
		ends   time.Duration
		says   string // of the error; empty: logged in
		lost   bool   // the error says that a key may have been issued
	}{
		{"approved", answer{}, []answer{pending, pending, granted}, seconds(5, 10, 15), 15 * time.Second, "", false},
		{"told to slow down", answer{}, []answer{pending, slowDown, pending, slowDown, pending, granted}, seconds(5, 10, 20, 30, 45, 60), time.Minute, "", false},
		{"denied", answer{}, []answer{pending, denied}, seconds(5, 10), 10 * time.Second, "denied", false},
		{"expired, says the service", answer{}, []answer{pending, expired}, seconds(5, 10), 10 * time.Second, "expired or was used", false},
		{"expired by our own clock", begun("expires_in", "12"), []answer{pending}, seconds(5, 10), 12 * time.Second, "expired", false},
		{"slowed down beyond the end", begun("expires_in", "14"), []answer{slowDown}, seconds(5), 14 * time.Second, "expired", false},
		{"all kinds of trouble", answer{}, []answer{cut, internal, refused(503, "provider_unavailable"), {status: 502, body: "<html>"}, granted}, seconds(5, 10, 15, 20, 25), 25 * time.Second, "", false},
		{"trouble to the end", begun("expires_in", "12"), []answer{internal}, seconds(5, 10), 12 * time.Second, "500 internal", true},
		{"another interval", begun("interval", "2"), []answer{pending, granted}, seconds(2, 4), 4 * time.Second, "", false},
		{"no interval", begun("interval", "0"), []answer{pending, granted}, seconds(5, 10), 10 * time.Second, "", false},
		{"a negative interval", begun("interval", "-9"), []answer{granted}, seconds(5), 5 * time.Second, "", false},
		{"an absurd interval", begun("interval", "9223372036854775807"), []answer{pending, granted}, seconds(60, 120), 2 * time.Minute, "", false},
		{"no lifetime", begun("expires_in", "0", "interval", "59"), []answer{pending}, seconds(59, 118, 177, 236, 295, 354, 413, 472, 531, 590), 10 * time.Minute, "expired", false},
		{"an absurd lifetime", begun("expires_in", "9223372036854775807", "interval", "59"), []answer{pending}, nil, time.Hour, "expired", false},
		{"lost, then used", answer{}, []answer{cut, expired}, seconds(5, 10), 10 * time.Second, "expired or was used", true},
		{"lost behind a proxy, then used", answer{}, []answer{{status: 504}, expired}, seconds(5, 10), 10 * time.Second, "expired or was used", true},
		{"unreadable, then used", answer{}, []answer{{status: 200, body: "<html>Log in to the wifi</html>"}, expired}, seconds(5, 10), 10 * time.Second, "expired or was used", true},
		{"a grant without a key, then used", answer{}, []answer{{status: 200, body: `{"key_id":"k"}`}, expired}, seconds(5, 10), 10 * time.Second, "expired or was used", true},
		{"lost, then nothing", begun("expires_in", "7"), []answer{cut}, seconds(5), 7 * time.Second, "expired", true},
		{"lost, but nothing in it", answer{}, []answer{cut, pending, expired}, seconds(5, 10, 15), 15 * time.Second, "expired or was used", false},
		{"lost, but denied", answer{}, []answer{cut, denied}, seconds(5, 10), 10 * time.Second, "denied", false},
		{"refused by something between", answer{}, []answer{{status: 403, body: "<html>"}}, seconds(5, 10, 15), 15 * time.Second, "403", true},
		{"refused for another reason", answer{}, []answer{refused(422, "validation_error")}, seconds(5), 5 * time.Second, "422", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, test.polls...)
				if test.begin.status != 0 {
					f.service.begin = test.begin
				}
				err := f.run(t.Context(), t)
				if took := time.Since(f.service.start); took != test.ends {
					t.Errorf("it took %s, want %s", took, test.ends)
				}
				if test.polled != nil && !slices.Equal(f.service.polled, test.polled) {
					t.Errorf("polled at %s, want %s", f.service.polled, test.polled)
				}
				outcome(t, f, err, test.says, test.lost)
			})
		})
	}
}

// outcome checks that a login ended with a key in the file, or with an error and none.
func outcome(t *testing.T, f *fakeLogin, err error, want string, lost bool) {
	t.Helper()
	if want == "" {
		if err != nil || f.kept(t).APIKey != newKey || f.kept(t).KeyID != "key_new" {
			t.Errorf("%v, kept %v", err, f.kept(t))
		}
		return
	}
	if err == nil || strings.Contains(err.Error(), mayBeIssued) != lost {
		t.Fatalf("got %v; that a key may have been issued: want %t", err, lost)
	}
	says(t, "the error", err.Error(), want)
	if _, err := os.Stat(f.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

func TestARateLimitIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := refused(429, "rate_limited")
		limited.header = "Retry-After: 40"
		f := newFakeLogin(t, limited, granted)
		if err := f.run(t.Context(), t); err != nil || f.service.polled[1] < 45*time.Second || f.service.polled[1] > time.Minute {
			t.Errorf("polled at %s, %v", f.service.polled, err)
		}
	})
	for _, wait := range []string{"400", "86400"} { // the second is longer than the client bears
		synctest.Test(t, func(t *testing.T) {
			limited := refused(429, "rate_limited")
			limited.header = "Retry-After: " + wait
			f := newFakeLogin(t, limited)
			f.service.begin = begun("expires_in", "60")
			err := f.run(t.Context(), t)
			outcome(t, f, err, "expired", false)
			if took := time.Since(f.service.start); took < time.Minute || took > time.Minute+cancelGrace {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Nothing is asked of the user, and nothing polled, for an answer that makes no sense.
func TestHostileBeginnings(t *testing.T) {
	for name, begin := range map[string]answer{
		"javascript":            begun("verification_uri", `"javascript:alert(1)"`),
		"a file":                begun("verification_uri", `"file:///etc/passwd"`),
		"http to another host":  begun("verification_uri", `"http://rent.example/device"`),
		"http that looks local": begun("verification_uri", `"http://localhost.evil.example/device"`),
		"user information":      begun("verification_uri", `"https://rent.example@evil.example/"`),
		"a shell's language":    begun("verification_uri", `"https://rent.example/$(reboot)"`),
		"a terminal's language": begun("verification_uri", `"https://rent.example/\u001b[2J"`),
		"an endless address":    begun("verification_uri", `"https://rent.example/`+strings.Repeat("a", 2000)+`"`),
		"no address":            begun("verification_uri", `""`),
		"no host":               begun("verification_uri", `"https:///device"`),
		"http to this machine":  begun("verification_uri", `"http://127.0.0.1:8080/device"`),
		"https to this machine": begun("verification_uri", `"https://localhost:8080/device"`),
		"no code":               begun("user_code", `""`),
		"an invisible code":     begun("user_code", `"\u001b[2J\u0007"`),
		"no device code":        begun("device_code", `""`),
		"not JSON":              {status: 200, body: "<html>"},
		"an error":              refused(422, "validation_error"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, granted)
				f.service.begin = begin
				f.browse = func(context.Context, string) error { t.Error("the browser was opened"); return nil }
				err := f.run(t.Context(), t)
				if err == nil || len(f.service.polled) > 0 || f.stdout.Len() > 0 {
					t.Errorf("%v; %d polls; stdout %q", err, len(f.service.polled), &f.stdout)
				}
			})
		})
	}
}

// The browser opens the address that is on the screen, and no other. Its arguments, which other users of the machine can
// read, have no code in them.
func TestLogin_OpensTheAddressThatItShows(t *testing.T) {
	for _, test := range []struct{ address, complete, opened string }{
		{"https://rent.example/device", "https://rent.example/device?code=ABCD-EFGH", "https://rent.example/device"},
		{"https://rent.example/device", "https://evil.example/device?code=ABCD-EFGH", "https://rent.example/device"},
		{"https://rent.example/device", "http://127.0.0.1:8080/", "https://rent.example/device"},
		{"https://rent.example/device", "javascript:alert(1)", "https://rent.example/device"},
		{"https://rent.example/device", "", "https://rent.example/device"},
		{"https://accounts.example:8443/a?b=c", "", "https://accounts.example:8443/a?b=c"}, // the document ties it to no host
		{"https://rent.example/device?code=ABCD-EFGH", "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, granted)
			f.service.begin = begun("verification_uri", strconv.Quote(test.address), "verification_uri_complete", strconv.Quote(test.complete))
			opened := ""
			f.browse = func(_ context.Context, address string) error { opened = address; return errors.New("no browser") }
			if err := f.run(t.Context(), t); err != nil || opened != test.opened {
				t.Errorf("%v: opened %q; %v", test, opened, err)
			}
			says(t, "stdout", f.stdout.String(), "Open "+test.address+" in a browser and approve the code ABCD-EFGH")
			if strings.Count(f.stdout.String(), "//") != 2 { // of the page, and of the service
				t.Errorf("another address is shown: %q", &f.stdout)
			}
		})
	}
}

func TestPage_OnThisMachineOnlyIfTheServiceIs(t *testing.T) {
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
		if got := page(address, "https://rent.example/api/v1"); (got == "") != local {
			t.Errorf("%s of a service elsewhere: %q", address, got)
		}
		for _, service := range []string{"http://127.0.0.1:8474/api/v1", "http://[::1]:8474/api/v1", "https://localhost/api/v1"} {
			if got := page(address, service); got != address {
				t.Errorf("%s of %s: %q", address, service, got)
			}
		}
	}
	for _, address := range []string{"http://rent.example/", "http://192.168.0.1/", "http://127.1/", "http://other.localhost/"} {
		if got := page(address, "http://127.0.0.1:8474/api/v1"); got != "" {
			t.Errorf("plain http to %s", got)
		}
	}
}

func TestAKeyThatCannotBeKeptIsRevoked(t *testing.T) {
	for name, test := range map[string]struct {
		end  answer
		says []string
	}{
		"and is":    {gone, []string{"could not be kept", "was revoked"}},
		"or cannot": {answer{status: 500}, []string{"could not be kept", "key_new", "could not be revoked", "console"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t)
				f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
				inTheWay := granted
				inTheWay.during = func(*http.Request) {
					if err := os.MkdirAll(f.file+".new/in-the-way", 0o700); err != nil {
						t.Error(err)
					}
				}
				f.service.polls, f.service.ends["key_new"] = []answer{inTheWay}, test.end
				err := f.run(t.Context(), t)
				says(t, "the error", fmt.Sprint(err), test.says...)
				if f.kept(t).APIKey != oldKey || f.service.ended[0] != "key_new by gpr_NEWK" || slices.Contains(f.service.ended, "key_old by gpr_OLDK") {
					t.Errorf("kept %v, revoked %s; want the old one kept and the new one revoked", f.kept(t), f.service.ended)
				}
			})
		})
	}
}

// No key is issued that could not be kept, or used.
func TestNothingIsAskedForWhenTheFileIsNoGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, granted)
		f.had(t, credentials.Credential{APIKey: oldKey})
		if err := os.WriteFile(f.file, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.run(t.Context(), t); err == nil || f.service.named != "" {
			t.Errorf("%v; began with %s", err, f.service.named)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, answer{status: 200, body: `{"api_key":"gpr_\r\nHost: x","key_id":"key_new","user":{}}`})
		err := f.run(t.Context(), t)
		outcome(t, f, err, "cannot be used", false)
	})
}

func TestANewLoginReplacesTheOldOne(t *testing.T) {
	for name, test := range map[string]struct {
		old   credentials.Credential
		end   answer
		ended []string
		warns []string
	}{
		"revoked":      {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, gone, []string{"key_old by gpr_OLDK"}, nil},
		"gone already": {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, refused(404, "not_found"), []string{"key_old by gpr_OLDK"}, nil},
		"not valid":    {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, refused(401, "unauthorized"), []string{"key_old by gpr_OLDK"}, nil},
		"may not":      {credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, refused(403, "forbidden"), []string{"key_old by gpr_OLDK"}, []string{"key_old", "403", "console"}},
		"by hand":      {credentials.Credential{APIKey: oldKey}, gone, nil, []string{"gpr_OLDK", "not issued by a login", "console"}},
		"the same":     {credentials.Credential{APIKey: newKey, KeyID: "key_old"}, gone, nil, nil},
		"empty":        {credentials.Credential{}, gone, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, granted)
				f.had(t, test.old)
				f.service.ends["key_old"] = test.end
				outcome(t, f, f.run(t.Context(), t), "", false)
				if !slices.Equal(f.service.ended, test.ended) {
					t.Errorf("revoked %s, want %s", f.service.ended, test.ended)
				}
				says(t, "stderr", f.problems.String(), test.warns...)
				if warned := f.problems.Len() > 0; warned != (test.warns != nil) {
					t.Errorf("stderr %q", &f.problems)
				}
			})
		})
	}
}
