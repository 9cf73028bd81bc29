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

// listing is the account's keys: pairs of id and prefix.
func listing(pairs ...string) answer {
	var keys []string
	for n := 0; n+1 < len(pairs); n += 2 {
		keys = append(keys, fmt.Sprintf(`{"id":%q,"prefix":%q,"name":"n","scopes":[],"source":"cli"}`, pairs[n], pairs[n+1]))
	}
	return answer{status: 200, body: `{"data":[` + strings.Join(keys, ",") + `],"next_cursor":null}`}
}

func TestLogout(t *testing.T) {
	known, byHand := credentials.Credential{APIKey: oldKey, KeyID: "key_old"}, credentials.Credential{APIKey: oldKey}
	own := []string{"key_old by gpr_OLDK"}
	for name, test := range map[string]struct {
		key     credentials.Credential
		end     answer
		keys    answer
		ended   []string
		says    string // on stdout
		warns   string
		refuses string // and keeps the login
	}{
		"revoked":                       {known, gone, answer{}, own, "The key was revoked.", "", ""},
		"gone already":                  {known, refused(404, "not_found"), answer{}, own, "The key was revoked.", "", ""},
		"not valid any more":            {known, refused(401, "unauthorized"), answer{}, own, "The key was revoked.", "", ""},
		"the service has trouble":       {known, refused(503, "provider_unavailable"), answer{}, slices.Repeat(own, 3), "", "", "Try again"},
		"no service":                    {known, cut, answer{}, slices.Repeat(own, 3), "", "", "remove its entry"},
		"something in between":          {known, answer{status: 404, body: "<html>"}, answer{}, slices.Repeat(own, 3), "", "", "404"},
		"without the right":             {known, refused(403, "forbidden"), answer{}, own, "", "", "console"},
		"found by its start":            {byHand, gone, listing("key_x", "gpr_XXXX", "key_old", "gpr_OLDK"), own, "The key was revoked.", "", ""},
		"another starts so, too":        {byHand, gone, listing("key_x", "gpr_OLDK", "key_old", "gpr_OLDK"), nil, "The key was not revoked.", "gpr_OLDK", ""},
		"not to be found":               {byHand, gone, listing("key_x", "gpr_XXXX", "key_y", "gpr_"), nil, "The key was not revoked.", "gpr_OLDK", ""},
		"may not look":                  {byHand, gone, refused(403, "forbidden"), nil, "The key was not revoked.", "gpr_OLDK", ""},
		"cannot look":                   {byHand, gone, cut, nil, "", "", "gpr_OLDK"},
		"by hand and not valid":         {byHand, gone, refused(401, "unauthorized"), nil, "The key was revoked.", "", ""},
		"an id that cannot be sent":     {credentials.Credential{APIKey: oldKey, KeyID: ".."}, gone, answer{}, nil, "", "", "console"},
		"a key that cannot be sent":     {credentials.Credential{APIKey: "a\nb", KeyID: "key_old"}, gone, answer{}, nil, "", "", "by hand"},
		"an id that moves the cursor":   {credentials.Credential{APIKey: oldKey, KeyID: "\x1b[2Jk"}, refused(403, "forbidden"), answer{}, []string{"\x1b[2Jk by gpr_OLDK"}, "", "", "the key k could"},
		"an entry without a key at all": {credentials.Credential{}, gone, answer{}, nil, "Logged out", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t)
				f.had(t, test.key)
				f.service.ends[filepath.Base(test.key.KeyID)], f.service.keys = test.end, test.keys
				l := &logout{site: f.site, screen: f.screen}
				err := l.run(t.Context())
				noSecrets(t, f.stdout.String()+f.problems.String()+fmt.Sprint(err))
				if !slices.Equal(f.service.ended, test.ended) {
					t.Errorf("revoked %q, want %q", f.service.ended, test.ended)
				}
				file, loadErr := credentials.Load(f.file)
				if _, left := file.Find(address); loadErr != nil || left != (test.refuses != "") || (err != nil) != left || (file.Current != "") != left {
					t.Errorf("%v; left in the file: %v, current %q (%v)", err, left, file.Current, loadErr)
				}
				says(t, "the error", fmt.Sprint(err), test.refuses)
				says(t, "stdout", f.stdout.String(), test.says)
				says(t, "stderr", f.problems.String(), test.warns)
				if strings.ContainsRune(fmt.Sprint(err), '\x1b') || (f.problems.Len() > 0) != (test.warns != "") {
					t.Errorf("%v; stderr %q", err, &f.problems)
				}
			})
		})
	}
}

func TestLogoutIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t)
		f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
		ctx, cancel := context.WithCancel(t.Context())
		f.service.ends["key_old"] = answer{during: func(*http.Request) { cancel() }}
		err := (&logout{site: f.site, screen: f.screen}).run(ctx)
		if says(t, "the error", fmt.Sprint(err), "logout was cancelled", "kept"); f.kept(t).APIKey != oldKey {
			t.Errorf("kept %v", f.kept(t))
		}
	})
}

// Somebody logs in anew while the old key is being revoked: the new login stays.
func TestLogoutLeavesANewerLogin(t *testing.T) {
	f := newFakeLogin(t)
	f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
	meanwhile := gone
	meanwhile.during = func(*http.Request) { f.had(t, credentials.Credential{APIKey: newKey, KeyID: "key_new"}) }
	f.service.ends["key_old"] = meanwhile
	if err := (&logout{site: f.site, screen: f.screen}).run(t.Context()); err != nil || f.kept(t).APIKey != newKey {
		t.Errorf("%v; kept %v, want the new login", err, f.kept(t))
	}
}

func TestLogoutWhereTheFileCannotBeWritten(t *testing.T) {
	f := newFakeLogin(t)
	f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
	if err := os.MkdirAll(f.file+".new/in-the-way", 0o700); err != nil {
		t.Fatal(err)
	}
	err := (&logout{site: f.site, screen: f.screen}).run(t.Context())
	says(t, "the error", fmt.Sprint(err), "could not be removed from the file", "The key was revoked.")
}

// The address is looked for as the provider does, and what is wrong with it is told in one line.
func TestWhichService(t *testing.T) {
	const file, given = "https://file.example/api/v1", "https://given.example/api/v1"
	for name, test := range map[string]struct {
		current, env, flag string
		want               string // empty: refused
		says               string
	}{
		"the flag":             {file, "https://env.example/api/v1", given + "/", given, ""},
		"the environment":      {file, "https://env.example/api/v1", "", "https://env.example/api/v1", ""},
		"the last login":       {file, "", "", file, ""},
		"none":                 {"", "", "", "", "GPURENT_BASE_URL"},
		"http to another host": {file, "", "http://rent.example/api/v1", "", "https"},
		"without the version":  {file, "https://env.example", "", "", "/api/v1"},
		"a password in it":     {file, "https://u:canary@env.example/api/v1", "", "", "user information"},
		"no good in the file":  {"ftp://x", "", "", "", "https"},
		"http to this machine": {file, "", "http://127.0.0.1:1/api/v1", "http://127.0.0.1:1/api/v1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inHome(t)
			t.Setenv("GPURENT_BASE_URL", test.env)
			if test.current != "" {
				keep(t, test.current)
			}
			at, err := findSite(test.flag)
			if at.baseURL != test.want || (err == nil) != (test.want != "") {
				t.Errorf("%s, %v; want %s", at.baseURL, err, test.want)
			}
			var out, problems strings.Builder
			if err == nil {
				return
			}
			says(t, "the error", err.Error(), test.says)
			if code := Main([]string{"login", "--base-url", test.flag}, &out, &problems); code != exitUsage || strings.Count(problems.String(), "\n") != 1 || strings.Contains(problems.String(), "canary") {
				t.Errorf("exit %d, %q; want exit 2 and one line", code, &problems)
			}
		})
	}
}

func TestNotLoggedIn(t *testing.T) {
	inHome(t)
	for _, test := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"logout", 0, "Not logged in."},
		{"logout --base-url https://rent.example/api/v1", 0, "Not logged in to https://rent.example/api/v1."},
		{"logout now", 2, ""},
	} {
		var out, problems strings.Builder
		if code := Main(strings.Fields(test.arguments), &out, &problems); code != test.code || strings.TrimSpace(out.String()) != test.says {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", test.arguments, code, &out, &problems)
		}
	}
	keep(t, "")
	var out, problems strings.Builder
	if code := Main([]string{"logout"}, &out, &problems); code != exitUsage {
		t.Errorf("which of the logins? exit %d, stdout %q, stderr %q", code, &out, &problems)
	}
}

// inHome gives the test a user's configuration of its own.
func inHome(t *testing.T) {
	t.Helper()
	testhome.Use(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", "")
	t.Setenv("GPURENT_API_KEY", "")
}

// keep puts a login into the file, with that address as the current one.
func keep(t *testing.T, current string) {
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
