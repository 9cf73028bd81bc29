package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// A key is revoked if the service confirms it. A key that the service rejects may never have been one.
func TestRevoke(t *testing.T) {
	key := credentials.Credential{APIKey: oldKey, KeyID: "key_old"}
	withoutID := credentials.Credential{APIKey: oldKey}
	unauthorized, notFound := rentaltest.Fail(401), rentaltest.Fail(404)
	validKey := raw(200, `{"id":"usr_me"}`)
	for name, test := range map[string]struct {
		key      credentials.Credential
		revoke   response // to DELETE /api-keys/ID
		account  response // to GET /me
		requests int      // DELETE requests
		want     string   // the outcome, or a part of the error
	}{
		"revoked":                    {key, noContent, nil, 1, "the key was revoked"},
		"invalid key":                {key, unauthorized, nil, 1, "the service does not accept the key"},
		"unknown id, invalid key":    {key, notFound, unauthorized, 1, "the service does not accept the key"},
		"no id, invalid key":         {withoutID, noContent, unauthorized, 0, "the service does not accept the key"},
		"unknown id, valid key":      {key, notFound, validKey, 1, "its id is unknown"},
		"unknown id, forbidden":      {key, notFound, forbidden, 1, "its id is unknown"},
		"forbidden":                  {key, forbidden, nil, 1, "403"},
		"service unavailable":        {key, rentaltest.Fail(503), nil, 3, "503"},
		"no connection":              {key, rentaltest.Cut, nil, 3, "EOF"},
		"404 of a proxy":             {key, raw(404, "<html>"), nil, 3, "404"},
		"no id":                      {withoutID, noContent, validKey, 0, "its id is unknown"},
		"an id that is a path":       {credentials.Credential{APIKey: oldKey, KeyID: ".."}, noContent, nil, 0, "id"},
		"a key that is not a header": {credentials.Credential{APIKey: "a\nb", KeyID: "k"}, noContent, nil, 0, "key"},
		"no key":                     {credentials.Credential{}, noContent, nil, 0, "there was no key"},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newFakeLogin(t)
			f.onRevoke(test.revoke)
			f.service.Script("GET /me", test.account)
			outcome, err := f.revoke(t.Context(), test.key)
			if err != nil && outcome != "" || !strings.Contains(fmt.Sprint(outcome, err), test.want) ||
				err == nil && string(outcome) != test.want {
				t.Errorf("got %q, %v, want %q", outcome, err, test.want)
			}
			if want := slices.Repeat([]string{"key_old by gpr_OLDK"}, test.requests); !slices.Equal(f.revoked, want) {
				t.Errorf("requests %q, want %q", f.revoked, want)
			}
			noSecrets(t, fmt.Sprint(err))
		})
	}
}

// A login leaves the file only after its key is revoked.
func TestLogout(t *testing.T) {
	key := credentials.Credential{APIKey: oldKey, KeyID: "key_old"}
	for name, test := range map[string]struct {
		key    credentials.Credential
		revoke response
		during func(t *testing.T, f *fakeLogin, cancel func()) // the revocation
		left   string                                          // the key in the file afterwards
		prints string                                          // on stdout
		fails  []string                                        // parts of the error
	}{
		"revoked": {key: key, revoke: noContent, prints: "credentials.json: the key was revoked.\n"},
		"not revoked": {key: key, revoke: forbidden, left: oldKey,
			fails: []string{"did not confirm that the key key_old is revoked", "Run logout again", "gpurent_api_key"}},
		"without id": {key: credentials.Credential{APIKey: oldKey}, left: oldKey,
			fails: []string{`did not confirm that the key that begins with "gpr_OLDK" is revoked`}},
		"id with a terminal escape": {key: credentials.Credential{APIKey: oldKey, KeyID: "\x1b[2Jk"}, left: oldKey,
			revoke: forbidden, fails: []string{"the key k is"}},
		"cancelled": {key: key, revoke: hang, left: oldKey,
			during: func(_ *testing.T, _ *fakeLogin, cancel func()) { cancel() },
			fails:  []string{"logout was cancelled", "kept", "may be revoked already"}},
		"a newer login": {key: key, revoke: noContent, left: newKey, prints: "Removed the login to " + address,
			during: func(t *testing.T, f *fakeLogin, _ func()) {
				f.saveCredential(t, credentials.Credential{APIKey: newKey, KeyID: "key_new"})
			}},
		"unwritable file": {key: key, revoke: noContent, left: oldKey,
			during: func(t *testing.T, f *fakeLogin, _ func()) { f.blockFile(t) },
			fails:  []string{"cannot remove the login from ", "the key was revoked"}},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newFakeLogin(t)
			f.saveCredential(t, test.key)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.during != nil {
				test.revoke = after(func() { test.during(t, f, cancel) }, test.revoke)
			}
			f.onRevoke(test.revoke)
			err := f.logout(ctx, f.screen)
			noSecrets(t, f.stdout.String()+fmt.Sprint(err))
			wantContains(t, "the error", fmt.Sprint(err), test.fails...)
			wantContains(t, "stdout", f.stdout.String(), test.prints)
			if (err != nil) != (test.fails != nil) || strings.ContainsRune(fmt.Sprint(err), '\x1b') || f.stderr.Len() > 0 {
				t.Errorf("%v; stderr %q", err, &f.stderr)
			}
			file, err := credentials.Load(f.file)
			if err != nil || file.Key(address) != test.left || (file.Current != "") != (test.left != "") {
				t.Errorf("the file has the key %.8s and the current address %s (%v)", file.Key(address), file.Current, err)
			}
		})
	}
}

func TestLogout_NotLoggedIn(t *testing.T) {
	useTempHome(t)
	logout := func(arguments ...string) (output string, code int) {
		var text strings.Builder
		code = Main(append([]string{"logout"}, arguments...), &text, &text)
		return text.String(), code
	}
	if output, code := logout(); code != 0 || output != "Not logged in.\n" {
		t.Errorf("exit %d, %q", code, output)
	}
	if output, code := logout("--base-url", address); code != 0 || output != "Not logged in to "+address+".\n" {
		t.Errorf("exit %d, %q", code, output)
	}
	writeCredentials(t, "", address) // without a current login
	if output, code := logout(); code != 2 {
		t.Errorf("exit %d, %q", code, output)
	}
}

// findTarget uses the order of the provider, and does not repeat an invalid address.
func TestFindTarget(t *testing.T) {
	const file, flagged = "https://file.example/api/v1", "https://flag.example/api/v1"
	for name, test := range map[string]struct {
		current, env, flag string
		want               string // empty: an error
		fails              string
	}{
		"the flag":             {file, "https://env.example/api/v1", flagged + "/", flagged, ""},
		"the environment":      {file, "https://env.example/api/v1", "", "https://env.example/api/v1", ""},
		"the last login":       {file, "", "", file, ""},
		"none":                 {"", "", "", "", "GPURENT_BASE_URL"},
		"the flag, padded":     {file, "", " " + flagged + "\n", flagged, ""},
		"others, padded":       {"\t" + file + "\n", " \n", " ", file, ""},
		"http to another host": {file, "", "http://rent.example/api/v1", "", "https"},
		"without the version":  {file, "https://env.example", "", "", "/api/v1"},
		"with a password":      {file, "https://u:canary@env.example/api/v1", "", "", "user information"},
		"invalid in the file":  {"ftp://x", "", "", "", "https"},
		"http to this machine": {file, "", "http://127.0.0.1:1/api/v1", "http://127.0.0.1:1/api/v1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			useTempHome(t)
			t.Setenv("GPURENT_BASE_URL", test.env)
			if test.current != "" {
				writeCredentials(t, test.current, address)
			}
			got, err := findTarget(test.flag)
			if got.baseURL != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%s, %v; want %s", got.baseURL, err, test.want)
			}
			if err == nil {
				return
			}
			wantContains(t, "the error", err.Error(), test.fails)
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats the password: %v", err)
			}
		})
	}
}

// useTempHome gives the test a separate home and configuration folder.
func useTempHome(t *testing.T) {
	t.Helper()
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", "")
	t.Setenv("GPURENT_API_KEY", "")
}

// writeCredentials writes a credentials file with a login to an address, and the address of the current login.
func writeCredentials(t *testing.T, current, address string) {
	t.Helper()
	path, err := credentials.Path()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf(`{"current":%q,"credentials":{%q:{"api_key":%q}}}`, current, address, oldKey)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
