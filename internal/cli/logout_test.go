package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

func TestLogout(t *testing.T) {
	withID, withoutID := credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, credentials.Credential{APIKey: oldKey}
	own := []string{"key_old by gpr_OLDK"}
	for name, test := range map[string]struct {
		key     credentials.Credential
		revoke  response
		deleted []string
		prints  string // on stdout
		fails   string // part of the error; the login is kept
	}{
		"revoked":             {withID, noContent, own, "The key was revoked.", ""},
		"another id":          {withID, apiError(404, "not_found"), own, "", "its id is unknown"},
		"unauthorized":        {withID, apiError(401, "unauthorized"), own, "The key was revoked.", ""},
		"service unavailable": {withID, apiError(503, "provider_unavailable"), slices.Repeat(own, 3), "", "Try again"},
		"no connection":       {withID, cutConnection, slices.Repeat(own, 3), "", "remove its entry"},
		"404 of a proxy":      {withID, response{status: 404, body: "<html>"}, slices.Repeat(own, 3), "", "404"},
		"forbidden":           {withID, apiError(403, "forbidden"), own, "", "console"},
		"without id":          {withoutID, noContent, nil, "", `begins with "gpr_OLDK" could not be revoked`},
		"invalid id":          {credentials.Credential{APIKey: oldKey, KeyID: ".."}, noContent, nil, "", "console"},
		"invalid key":         {credentials.Credential{APIKey: "a\nb", KeyID: "key_old"}, noContent, nil, "", "by hand"},
		"id with a terminal escape": {credentials.Credential{APIKey: oldKey, KeyID: "\x1b[2Jk"}, apiError(403, "forbidden"),
			[]string{"\x1b[2Jk by gpr_OLDK"}, "", "the key k could"},
		"entry without a key": {credentials.Credential{}, noContent, nil, "Logged out", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t)
				f.saveCredential(t, test.key)
				f.service.deletes[filepath.Base(test.key.KeyID)] = test.revoke
				err := f.logout(t.Context(), f.screen)
				noSecrets(t, f.stdout.String()+f.stderr.String()+fmt.Sprint(err))
				if !slices.Equal(f.service.deleted, test.deleted) {
					t.Errorf("revoked %q, want %q", f.service.deleted, test.deleted)
				}
				file, loadErr := credentials.Load(f.file)
				if _, left := file.Find(address); loadErr != nil || left != (test.fails != "") || (err != nil) != left ||
					(file.Current != "") != left {
					t.Errorf("%v; in the file: %v, current %q (%v)", err, left, file.Current, loadErr)
				}
				wantContains(t, "the error", fmt.Sprint(err), test.fails)
				wantContains(t, "stdout", f.stdout.String(), test.prints)
				if strings.ContainsRune(fmt.Sprint(err), '\x1b') || f.stderr.Len() > 0 {
					t.Errorf("%v; stderr %q", err, &f.stderr)
				}
			})
		})
	}
}

// A key that does not exist and is not valid any more was revoked before.
func TestLogout_RevokedBefore(t *testing.T) {
	f := newFakeLogin(t)
	f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
	f.service.deletes["key_old"] = apiError(404, "not_found")
	f.service.accounts = map[string]response{oldKey[:8]: apiError(401, "unauthorized")}
	if err := f.logout(t.Context(), f.screen); err != nil {
		t.Error(err)
	}
}

func TestLogout_Cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t)
		f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
		ctx, cancel := context.WithCancel(t.Context())
		f.service.deletes["key_old"] = response{hook: func(*http.Request) { cancel() }}
		err := f.logout(ctx, f.screen)
		wantContains(t, "the error", fmt.Sprint(err), "logout was cancelled", "kept")
		if f.savedCredential(t).APIKey != oldKey {
			t.Errorf("file %v", f.savedCredential(t))
		}
	})
}

// A login that replaces the key during the revocation stays.
func TestLogout_KeepsNewerLogin(t *testing.T) {
	f := newFakeLogin(t)
	f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
	newer := noContent
	newer.hook = func(*http.Request) { f.saveCredential(t, credentials.Credential{APIKey: newKey, KeyID: "key_new"}) }
	f.service.deletes["key_old"] = newer
	if err := f.logout(t.Context(), f.screen); err != nil ||
		f.savedCredential(t).APIKey != newKey {
		t.Errorf("%v; file %v, want the new login", err, f.savedCredential(t))
	}
}

func TestLogout_UnwritableFile(t *testing.T) {
	f := newFakeLogin(t)
	f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
	if err := os.MkdirAll(f.file+".new/blocks-the-file", 0o700); err != nil {
		t.Fatal(err)
	}
	err := f.logout(t.Context(), f.screen)
	wantContains(t, "the error", fmt.Sprint(err), "cannot remove the login from the credentials file",
		"The key was revoked")
}

// findTarget uses the order of the provider, and reports an invalid address on one line.
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
				writeCredentials(t, test.current)
			}
			got, err := findTarget(test.flag)
			if got.baseURL != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%s, %v; want %s", got.baseURL, err, test.want)
			}
			var stdout, stderr strings.Builder
			if err == nil {
				return
			}
			wantContains(t, "the error", err.Error(), test.fails)
			if code := Main([]string{"login", "--base-url", test.flag}, &stdout, &stderr); code != exitUsage ||
				strings.Count(stderr.String(), "\n") != 1 || strings.Contains(stderr.String(), "canary") {
				t.Errorf("exit %d, %q; want exit 2 and one line", code, &stderr)
			}
		})
	}
}

func TestLogout_NotLoggedIn(t *testing.T) {
	useTempHome(t)
	for _, test := range []struct {
		arguments string
		code      int
		want      string
	}{
		{"logout", 0, "Not logged in."},
		{"logout --base-url https://rent.example/api/v1", 0, "Not logged in to https://rent.example/api/v1."},
		{"logout now", 2, ""},
	} {
		var stdout, stderr strings.Builder
		if code := Main(strings.Fields(test.arguments), &stdout, &stderr); code != test.code ||
			strings.TrimSpace(stdout.String()) != test.want {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", test.arguments, code, &stdout, &stderr)
		}
	}
	writeCredentials(t, "")
	var stdout, stderr strings.Builder
	if code := Main([]string{"logout"}, &stdout, &stderr); code != exitUsage {
		t.Errorf("without a current login: exit %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}

// useTempHome gives the test a separate home and configuration folder.
func useTempHome(t *testing.T) {
	t.Helper()
	testhome.Use(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", "")
	t.Setenv("GPURENT_API_KEY", "")
}

// writeCredentials writes a credentials file with a login, and current as the address of the current login.
func writeCredentials(t *testing.T, current string) {
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
