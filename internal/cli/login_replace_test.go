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

// other is the response of GET /me for the key of another account.
var other = accountResponse("usr_other", `"other@rent.example"`)

func TestLogin_AsksBeforeReplacingAnotherAccount(t *testing.T) {
	const prompt = `The credentials file has a login of account "other@rent.example" for this service. ` +
		"Replace it with the login of account \"me@rent.example\"?\n[y/N] "
	for name, test := range map[string]struct {
		old, new response // of GET /me for each key; accountResponse("usr_me") by default
		types    string   // input of the user
		terminal bool
		flag     bool   // --replace
		asks     string // on stdout; empty: no question
		fails    string // part of the error; empty: the login is replaced
	}{
		"the same account":              {terminal: true},
		"the same account, no terminal": {},
		"the same account, other email": {old: accountResponse("usr_me", `"before@rent.example"`)},
		"yes":                           {old: other, terminal: true, types: "y\n", asks: prompt},
		"full word":                     {old: other, terminal: true, types: " YES \r\n", asks: prompt},
		"no": {old: other, terminal: true, types: "n\n", asks: prompt,
			fails: "the previous login was kept"},
		"other word": {old: other, terminal: true, types: "yesterday\n", asks: prompt,
			fails: "the previous login was kept"},
		"empty line": {old: other, terminal: true, types: "\n", asks: prompt,
			fails: "the previous login was kept"},
		"the end of the input": {old: other, terminal: true, asks: prompt, fails: "the previous login was kept"},
		"no terminal": {old: other,
			fails: `has a login of account "other@rent.example" for this service, and the new one is of ` +
				`account "me@rent.example": to replace it, run login with --replace`},
		"no terminal, with --replace": {old: other, flag: true},
		"terminal, with --replace":    {old: other, flag: true, terminal: true},
		"the old key is revoked":      {old: apiError(401, "unauthorized")},
		"old key without permission": {old: apiError(403, "forbidden"),
			fails: `account "unknown" for this service, and the new one is of account "me@rent.example"`},
		"new key without permission": {new: apiError(403, "forbidden"), fails: `and the new one is of account "unknown"`},
		"both keys without permission": {old: apiError(403, "forbidden"), new: apiError(403, "forbidden"),
			fails: `account "unknown"`},
		"accounts without email": {old: accountResponse("usr_a", "null"), new: accountResponse("usr_b", `""`),
			fails: `account "usr_a" for this service, and the new one is of account "usr_b"`},
		"an email with terminal escapes": {old: accountResponse("usr_a", `"\u001b[2Ja\nError: b"`),
			fails: `account "a Error: b" for this service`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeLogin(t, approved)
				f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
				f.service.accounts = map[string]response{}
				for key, a := range map[string]response{oldKey[:8]: test.old, newKey[:8]: test.new} {
					if a.status != 0 {
						f.service.accounts[key] = a
					}
				}
				f.replace = test.flag
				if test.terminal {
					f.input = strings.NewReader(test.types)
				}
				err := f.run(t.Context(), t)
				savedCredential, deleted := newKey, []string{"key_old by gpr_OLDK"}
				if test.fails != "" {
					savedCredential, deleted = oldKey, []string{"key_new by gpr_NEWK"}
					wantContains(t, "the error", fmt.Sprint(err), test.fails, "the issued key was revoked")
				}
				if (err != nil) != (test.fails != "") || f.savedCredential(t).APIKey != savedCredential ||
					!slices.Equal(f.service.deleted, deleted) {
					t.Errorf("%v; file %v, revoked %s", err, f.savedCredential(t), f.service.deleted)
				}
				if asked := strings.Contains(f.stdout.String(), "[y/N]"); asked != (test.asks != "") ||
					!strings.Contains(f.stdout.String(), test.asks) {
					t.Errorf("stdout %q, want %q", &f.stdout, test.asks)
				}
				if strings.ContainsRune(f.stdout.String()+fmt.Sprint(err), '\x1b') {
					t.Errorf("control characters: %q, %v", &f.stdout, err)
				}
			})
		})
	}
}

// Login compares accounts only with a previous login to the same service.
func TestLogin_ReadsNoAccountWithoutPreviousLogin(t *testing.T) {
	for name, before := range map[string]credentials.Credential{"no login": {}, "the same key": {APIKey: newKey}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeLogin(t, approved)
			f.service.accounts = map[string]response{oldKey[:8]: other}
			if _, err := credentials.Save(t.Context(), f.file, "https://elsewhere.example/api/v1",
				credentials.Credential{APIKey: oldKey}); err != nil {
				t.Fatal(err)
			}
			f.saveCredential(t, before)
			if err := f.run(t.Context(), t); err != nil || len(f.service.accountsRead) > 0 ||
				f.savedCredential(t).APIKey != newKey {
				t.Errorf("%s: %v, accounts read of %s", name, err, f.service.accountsRead)
			}
		})
	}
}

// Ctrl-C at the question revokes the new key and keeps the previous login.
func TestLogin_CancelledAtQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeLogin(t, approved)
		f.saveCredential(t, credentials.Credential{APIKey: oldKey, KeyID: "key_old"})
		f.service.accounts = map[string]response{oldKey[:8]: other}
		input, writer := io.Pipe()
		defer writer.Close()
		f.input = input
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(time.Minute, cancel).Stop()
		err := f.run(ctx, t)
		wantContains(t, "the error", fmt.Sprint(err), "login was cancelled; the issued key was revoked")
		if took := time.Since(f.service.started); f.savedCredential(t).APIKey != oldKey ||
			!slices.Equal(f.service.deleted, []string{"key_new by gpr_NEWK"}) || took != time.Minute {
			t.Errorf("file %v, revoked %s after %s", f.savedCredential(t), f.service.deleted, took)
		}
	})
}
