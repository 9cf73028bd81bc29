package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
)

func TestLogin_OutputWithoutTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, pending, slowDown, cutConnection, approved)
		if err := f.run(t.Context(), t); err != nil {
			t.Fatal(err)
		}
		want := "Open https://rent.example/device in a browser and approve the code ABCD-EFGH within 10 minutes.\n" +
			"Logged in to https://rent.example/api/v1 as me@rent.example. The key is in " + f.file + ".\n"
		if f.stdout.String() != want || f.stderr.Len() > 0 {
			t.Errorf("stdout %q, want %q; stderr %q", &f.stdout, want, &f.stderr)
		}
	})
}

// Texts of the service cannot move the cursor or add a line.
func TestLogin_RemovesControlCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, response{status: 200, body: `{"api_key":"` + newKey +
			`","key_id":"key_new","user":{"email":"\u001b[31mme\r\n@\u202Ehere\u0007"}}`})
		f.service.code = codeResponse("user_code", `"AB\u001b]0;title\u0007CD\n\u200BEFGH"`)
		if err := f.run(t.Context(), t); err != nil {
			t.Fatal(err)
		}
		wantContains(t, "stdout", f.stdout.String(), "code ABCD EFGH within", "as me  @here.")
		for _, r := range strings.ReplaceAll(f.stdout.String(), "\n", "") {
			if !unicode.IsPrint(r) {
				t.Errorf("%q in %q", r, &f.stdout)
			}
		}
		if n := strings.Count(f.stdout.String(), "\n"); n != 2 {
			t.Errorf("%d lines: %q", n, &f.stdout)
		}
	})
}

func TestLogin_WarnsAboutEnvironment(t *testing.T) {
	for _, test := range []struct {
		key, address string
		warns        []string
	}{
		{"", "", nil},
		{"", "https://RENT.example/api/v1/", nil},
		{oldKey, "", []string{"GPURENT_API_KEY is set"}},
		{oldKey, "https://u:canary@other.example/api/v1", []string{"GPURENT_API_KEY is set", "GPURENT_BASE_URL is set"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			t.Setenv("GPURENT_API_KEY", test.key)
			t.Setenv("GPURENT_BASE_URL", test.address)
			if err := f.run(t.Context(), t); err != nil {
				t.Fatal(err)
			}
			wantContains(t, "stderr", f.stderr.String(), test.warns...)
			if strings.Count(f.stderr.String(), "Warning: ") != len(test.warns) ||
				strings.Contains(f.stderr.String(), "canary") {
				t.Errorf("%+v: stderr %q", test, &f.stderr)
			}
		})
	}
}

func TestClientName(t *testing.T) {
	host := func(name string, err error) func() (string, error) {
		return func() (string, error) { return name, err }
	}
	for _, test := range []struct {
		given string
		host  func() (string, error)
		want  string
	}{
		{"my laptop", host("box", nil), "my laptop"},
		{"", host("box", nil), "terraform-provider-gpurent on box"},
		{"", host("", nil), "terraform-provider-gpurent"},
		{"", host("", errors.New("none")), "terraform-provider-gpurent"},
		{"", host(strings.Repeat("я", 100), nil), "terraform-provider-gpurent on " + strings.Repeat("я", 30)},
		{strings.Repeat("ж", 61), host("box", nil), strings.Repeat("ж", 60)},
		{"two\nlines", host("box", nil), "two lines"},
	} {
		if got := clientName(test.given, test.host); got != test.want {
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

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{90 * time.Second: "90 seconds", 2 * time.Minute: "2 minutes",
		10*time.Minute + 30*time.Second: "10 minutes"} {
		if got := formatDuration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
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

// The opener of the desktop receives the address as one argument.
func TestOpenBrowser(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("it would open a browser")
	}
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	if err := openBrowser(t.Context(), "https://rent.example/device"); err == nil {
		t.Error("no error without an opener")
	}
	opener := "#!/bin/sh\n[ $# = 1 ] && printf '%s' \"$1\" >" + folder + "/arguments.new && /bin/mv " + folder +
		"/arguments.new " + folder + "/arguments\n"
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(opener), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := openBrowser(ctx, "https://rent.example/device?code=A&b=C"); err != nil {
		t.Fatal(err)
	}
	cancel() // the browser outlives the login
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

func TestLogin_Help(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := Main([]string{"login", "--help"}, &stdout, &stderr); code != 0 {
		t.Fatal(code, stderr.String())
	}
	for _, want := range []string{`--base-url URL`, `--client-name NAME`, `--no-browser`} {
		if !regexp.MustCompile(want + ` {2,}\S`).MatchString(stdout.String()) {
			t.Errorf("no %s in %s", want, &stdout)
		}
	}
}
