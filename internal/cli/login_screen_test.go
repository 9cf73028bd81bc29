package cli

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// Without a terminal, a login prints two lines, whatever happens between them. Texts of the service cannot move the
// cursor or add a line.
func TestLogin_RemovesControlCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, pending, slowDown, rentaltest.Cut,
			approvedFor("\x1b[31mme\r\n@\u202Ehere\a"))
		f.service.Script("POST /auth/device", codeResponse("user_code", "AB\x1b]0;title\aCD\n\u200BEFGH"))
		err := f.run(t.Context(), t)
		want := "Open https://rent.example/device in a browser and approve the code ABCD EFGH within 10m0s.\n" +
			"Logged in to https://rent.example/api/v1 as me  @here. The key is in " + f.file + ".\n"
		if err != nil || f.stdout.String() != want || f.stderr.Len() > 0 {
			t.Errorf("%v, stdout %q, want %q; stderr %q", err, &f.stdout, want, &f.stderr)
		}
	})
}

func TestLogin_WarnsAboutEnvironment(t *testing.T) {
	for _, test := range []struct {
		key, address string
		warns        []string
	}{
		{"", "https://RENT.example/api/v1/", nil},
		{oldKey, "", []string{"GPURENT_API_KEY is set"}},
		{oldKey, "https://u:canary@other.example/api/v1", []string{"GPURENT_API_KEY is set", "GPURENT_BASE_URL is set"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			t.Setenv("GPURENT_API_KEY", test.key)
			t.Setenv("GPURENT_BASE_URL", test.address)
			wantOutcome(t, f, f.run(t.Context(), t), "", false)
			wantContains(t, "stderr", f.stderr.String(), test.warns...)
			if strings.Count(f.stderr.String(), "Warning: ") != len(test.warns) ||
				strings.Contains(f.stderr.String(), "canary") {
				t.Errorf("%+v: stderr %q", test, &f.stderr)
			}
		})
	}
}

// A login with an invalid or unsafe device code response shows nothing, opens nothing and polls nothing.
func TestLogin_RejectsUnsafePrompt(t *testing.T) {
	for name, code := range map[string]response{
		"an unsafe address": codeResponse("verification_uri", "javascript:alert(1)"),
		"no code":           codeResponse("user_code", ""),
		"invisible code":    codeResponse("user_code", "\x1b[2J\a"),
		"no device code":    codeResponse("device_code", ""),
		"not JSON":          raw(200, "<html>"),
		"an error":          rentaltest.Fail(422),
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			f.service.Script("POST /auth/device", code)
			f.browse = func(context.Context, string) error { t.Error("the browser was opened"); return nil }
			err := f.run(t.Context(), t)
			if err == nil || len(f.polled) > 0 || f.stdout.Len() > 0 {
				t.Errorf("%v; %d polls; stdout %q", err, len(f.polled), &f.stdout)
			}
		})
	}
}

// The browser opens only the address on the screen. Other users of the machine can read its arguments, so they do not
// contain the code.
func TestLogin_OpensShownAddress(t *testing.T) {
	for _, test := range []struct{ address, complete, opened string }{
		{"https://rent.example/device", "https://evil.example/device?code=ABCD-EFGH", "https://rent.example/device"},
		{"https://accounts.example:8443/a?b=c", "", "https://accounts.example:8443/a?b=c"}, // the document allows any host
		{"https://rent.example/device?code=ABCD-EFGH", "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			f.service.Script("POST /auth/device", codeResponse("verification_uri", test.address,
				"verification_uri_complete", test.complete))
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

// An approval page is at a safe address: on the network with https, on this machine only if the service is.
func TestPageAddress_LoopbackOnlyForLocalService(t *testing.T) {
	const network, local, unsafe = "any service", "a local service", "none"
	for address, accepts := range map[string]string{
		"https://rent.example/device":                       network,
		"https://localhost.example/":                        network,
		"http://127.0.0.1:8080/device":                      local,
		"https://127.0.0.1:8080/device":                     local,
		"http://[::1]:8080/device":                          local,
		"https://[::ffff:127.0.0.1]/":                       local,
		"https://LOCALHOST/":                                local,
		"https://localhost./":                               local,
		"https://other.localhost/":                          local,
		"https://0.0.0.0/":                                  local,
		"https://[::]/":                                     local,
		"https://127.1/":                                    local,
		"https://2130706433/":                               local,
		"https://0x7f.0.0.1/":                               local,
		"https://127.0.0.0x1/":                              local,
		"https://./":                                        local,
		"http://rent.example/":                              unsafe,
		"http://127.1/":                                     unsafe,
		"http://other.localhost/":                           unsafe,
		"http://localhost.evil.example/":                    unsafe,
		"javascript:alert(1)":                               unsafe,
		"https://rent.example@evil.example":                 unsafe,
		"https://rent.example/$(reboot)":                    unsafe,
		"https://rent.example/\x1b[2J":                      unsafe,
		"https:///device":                                   unsafe,
		"":                                                  unsafe,
		"https://rent.example/" + strings.Repeat("a", 2000): unsafe,
	} {
		for service, want := range map[string]bool{
			"https://rent.example/api/v1":  accepts == network,
			"http://127.0.0.1:8474/api/v1": accepts != unsafe,
			"http://[::1]:8474/api/v1":     accepts != unsafe,
			"https://localhost/api/v1":     accepts != unsafe,
		} {
			if got := pageAddress(address, service); got != address && got != "" || (got != "") != want {
				t.Errorf("%.60q of %s: %q", address, service, got)
			}
		}
	}
}

func TestNewPrompt_Bounds(t *testing.T) {
	for _, test := range []struct {
		seconds            int64 // of the interval and the lifetime
		interval, lifetime time.Duration
	}{
		{7, 7 * time.Second, 7 * time.Second},
		{0, 5 * time.Second, 10 * time.Minute},
		{-9, 5 * time.Second, 10 * time.Minute},
		{math.MaxInt64, time.Minute, time.Hour},
	} {
		p, err := newPrompt(rental.DeviceCode{VerificationURI: "https://rent.example/", UserCode: "A",
			Interval: test.seconds, ExpiresIn: test.seconds}, address)
		if err != nil || p.interval != test.interval || p.lifetime != test.lifetime {
			t.Errorf("%d s: %+v, %v", test.seconds, p, err)
		}
	}
}

func TestClientName(t *testing.T) {
	for _, test := range []struct {
		given, host string // no host: an error
		want        string
	}{
		{"my laptop", "box", "my laptop"},
		{"", "box", "terraform-provider-gpurent on box"},
		{"", "", "terraform-provider-gpurent"},
		{"", strings.Repeat("я", 100), "terraform-provider-gpurent on " + strings.Repeat("я", 30)},
		{strings.Repeat("ж", 61), "box", strings.Repeat("ж", 60)},
		{"two\nlines", "box", "two lines"},
	} {
		host := func() (string, error) {
			if test.host == "" {
				return "", errors.New("none")
			}
			return test.host, nil
		}
		if got := clientName(test.given, host); got != test.want {
			t.Errorf("%q: %q, want %q", test.given, got, test.want)
		}
	}
}

func TestNewScreen_FileIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newScreen(file, file).terminal || newScreen(&strings.Builder{}, file).terminal {
		t.Error("a file or a buffer counts as a terminal")
	}
}

func TestHasBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("these systems always have a desktop")
	}
	for _, test := range []struct {
		ssh, x, wayland string
		want            bool
	}{
		{"", "", "", false},
		{"", ":0", "", true},
		{"", "", "wayland-0", true},
		{"10.0.0.1 22", ":0", "wayland-0", false},
	} {
		t.Setenv("SSH_CONNECTION", test.ssh)
		t.Setenv("DISPLAY", test.x)
		t.Setenv("WAYLAND_DISPLAY", test.wayland)
		if got := hasBrowser(); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// The opener of the desktop receives the address as one argument, and outlives the login.
func TestOpenBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("it would open a browser")
	}
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	if err := openBrowser(t.Context(), "https://rent.example/device"); err == nil {
		t.Error("no error without an opener")
	}
	opener := "#!/bin/sh\n/bin/sleep 0.1\ncd '" + folder + "'\n" +
		"[ $# = 1 ] && printf '%s' \"$1\" >arguments.new && /bin/mv arguments.new arguments\n"
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(opener), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := openBrowser(ctx, "https://rent.example/device?code=A&b=C"); err != nil {
		t.Fatal(err)
	}
	cancel()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got, err := os.ReadFile(filepath.Join(folder, "arguments"))
		if err == nil && string(got) == "https://rent.example/device?code=A&b=C" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the opener got %q, %v", got, err)
		}
	}
}
