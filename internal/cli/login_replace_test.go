package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
)

// other is what GET /me answers to the old key of another account.
var other = accountOf("usr_other", `"other@rent.example"`)

func TestLogin_ReplacesTheLoginOfAnotherAccountOnlyOnRequest(t *testing.T) {
	const question = `The credentials file has a login of account "other@rent.example" for this service. ` +
		"Replace it with the login of account \"me@rent.example\"?\n[y/N] "
	for name, test := range map[string]struct {
		old, new answer // to GET /me; accountOf("usr_me") where empty
		types    string
		terminal bool
		flag     bool
		asks     string // on stdout; empty: nothing is asked
		fails    string // a part of the error; empty: the login is replaced
	}{
		"the same account":                {terminal: true},
		"the same account in a script":    {},
		"the same account, other e-mail":  {old: accountOf("usr_me", `"before@rent.example"`)},
		"yes":                             {old: other, terminal: true, types: "y\n", asks: question},
		"yes in a word":                   {old: other, terminal: true, types: " YES \r\n", asks: question},
		"no":                              {old: other, terminal: true, types: "n\n", asks: question, fails: "the login before was kept"},
		"another word":                    {old: other, terminal: true, types: "yesterday\n", asks: question, fails: "the login before was kept"},
		"return":                          {old: other, terminal: true, types: "\n", asks: question, fails: "the login before was kept"},
		"the end of the input":            {old: other, terminal: true, asks: question, fails: "the login before was kept"},
		"in a script":                     {old: other, fails: `has a login of account "other@rent.example" for this service, and the new one is of account "me@rent.example": to replace it, run login with --replace`},
		"in a script with --replace":      {old: other, flag: true},
		"on a terminal with --replace":    {old: other, flag: true, terminal: true},
		"the old key is revoked":          {old: refused(401, "unauthorized")},
		"the old key may not read it":     {old: refused(403, "forbidden"), fails: `account "unknown" for this service, and the new one is of account "me@rent.example"`},
		"the new key may not read it":     {new: refused(403, "forbidden"), fails: `and the new one is of account "unknown"`},
		"neither key may read it":         {old: refused(403, "forbidden"), new: refused(403, "forbidden"), fails: `account "unknown"`},
		"accounts without an e-mail":      {old: accountOf("usr_a", "null"), new: accountOf("usr_b", `""`), fails: `account "usr_a" for this service, and the new one is of account "usr_b"`},
		"an e-mail with terminal escapes": {old: accountOf("usr_a", `"\u001b[2Ja\nError: b"`), fails: `account "a Error: b" for this service`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, granted)
				f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
				f.service.me = map[string]answer{}
				for key, a := range map[string]answer{oldKey[:8]: test.old, newKey[:8]: test.new} {
					if a.status != 0 {
						f.service.me[key] = a
					}
				}
				f.replaces = test.flag
				if test.terminal {
					f.answers = strings.NewReader(test.types)
				}
				err := f.run(t.Context(), t)
				kept, ended := newKey, []string{"key_old by gpr_OLDK"}
				if test.fails != "" {
					kept, ended = oldKey, []string{"key_new by gpr_NEWK"}
					says(t, "the error", fmt.Sprint(err), test.fails, "the key that had been issued was revoked")
				}
				if (err != nil) != (test.fails != "") || f.kept(t).APIKey != kept || !slices.Equal(f.service.ended, ended) {
					t.Errorf("%v; kept %v, revoked %s", err, f.kept(t), f.service.ended)
				}
				if asked := strings.Contains(f.stdout.String(), "[y/N]"); asked != (test.asks != "") || !strings.Contains(f.stdout.String(), test.asks) {
					t.Errorf("stdout %q, want %q", &f.stdout, test.asks)
				}
				if strings.ContainsRune(f.stdout.String()+fmt.Sprint(err), '\x1b') {
					t.Errorf("control characters: %q, %v", &f.stdout, err)
				}
			})
		})
	}
}

// A key without a login before, at another service or without a value is nobody's account.
func TestLogin_AsksForNoAccountWithoutALoginBefore(t *testing.T) {
	for name, before := range map[string]credentials.Credential{"none": {}, "the same key": {APIKey: newKey}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, granted)
			f.service.me = map[string]answer{oldKey[:8]: other}
			if _, err := credentials.Save(t.Context(), f.file, "https://elsewhere.example/api/v1", credentials.Credential{APIKey: oldKey}); err != nil {
				t.Fatal(err)
			}
			f.had(t, before)
			if err := f.run(t.Context(), t); err != nil || len(f.service.whose) > 0 || f.kept(t).APIKey != newKey {
				t.Errorf("%s: %v, asked for the accounts of %s", name, err, f.service.whose)
			}
		})
	}
}

// Ctrl-C ends the question as it ends all else: the new key is revoked and the login before is kept.
func TestLogin_InterruptedWhileItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, granted)
		f.had(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
		f.service.me = map[string]answer{oldKey[:8]: other}
		silent, typist := io.Pipe()
		defer typist.Close()
		f.answers = silent
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(time.Minute, cancel).Stop()
		err := f.run(ctx, t)
		says(t, "the error", fmt.Sprint(err), "login was cancelled; the key that had been issued was revoked")
		if took := time.Since(f.service.start); f.kept(t).APIKey != oldKey || !slices.Equal(f.service.ended, []string{"key_new by gpr_NEWK"}) || took != time.Minute {
			t.Errorf("kept %v, revoked %s after %s", f.kept(t), f.service.ended, took)
		}
	})
}
