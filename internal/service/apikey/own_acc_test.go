package apikey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// ownKeyConfig returns a configuration of the provider's own key.
func ownKeyConfig(name, arguments string) string {
	return fmt.Sprintf(`resource "gpurent_api_key" "own" {
  name = %q
  scopes = ["instances:read", "instances:write", "user:read", "user:write"]
  %s
}
`, name, arguments)
}

// keyID returns the id of the key with a name.
func keyID(env *acctest.Env, name string) (id string) {
	acctest.List(env, "api-keys?limit=100", func(k struct{ ID, Name string }) {
		if k.Name == name {
			id = k.ID
		}
	})
	return id
}

// wantOwnKeyError runs a command that must fail because it would revoke the provider's own key.
func wantOwnKeyError(t *testing.T, w *acctest.Workspace, arguments ...string) {
	t.Helper()
	output, err := w.Try(append(arguments, "-no-color")...)
	if output = acctest.Words(output); err == nil || !strings.Contains(output,
		"Cannot revoke the provider's own API key") {
		t.Errorf("%s: %v: %s", arguments, err, output)
	}
}

// wantOutput runs a command that must succeed.
func wantOutput(t *testing.T, w *acctest.Workspace, want string, arguments ...string) {
	t.Helper()
	if output := acctest.Words(w.Run(append(arguments, "-no-color")...)); !strings.Contains(output, want) {
		t.Errorf("%s: no %q in: %s", arguments, want, output)
	}
}

func TestAccAPIKey_ownKeyRequiresAllowSelfRevoke(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	secret := env.Secret(`{"name":"own","scopes":["instances:read","instances:write","user:read","user:write"]}`)
	id := keyID(env, "own")
	provider := env.ProviderWithKey(secret) + "resource \"gpurent_template\" \"own\" {\n  name = \"own\"\n  image = " +
		"\"ubuntu:24.04\"\n}\n"
	w := env.Workspace(provider + ownKeyConfig("own", ""))
	w.Run("import", "-no-color", "gpurent_api_key.own", id)
	w.Run("apply", "-no-color", "-auto-approve")

	wantOwnKeyError(t, w, "destroy", "-auto-approve")
	if env.OwnTemplate() == "" {
		t.Error("the failed destroy has destroyed other resources")
	}
	wantOwnKeyError(t, w, "plan", "-replace=gpurent_api_key.own")
	w.Configure(provider + ownKeyConfig("renamed", ""))
	wantOwnKeyError(t, w, "plan")
	w.Configure(provider + ownKeyConfig("renamed", "allow_self_revoke = true")) // not yet in the state
	wantOwnKeyError(t, w, "plan")
	w.Configure(provider + ownKeyConfig("own", "lifecycle {\n    create_before_destroy = true\n  }"))
	wantOwnKeyError(t, w, "plan", "-replace=gpurent_api_key.own")
	w.Configure(provider + ownKeyConfig("own", ""))
	w.Run("taint", "gpurent_api_key.own") // the plan has no prior state
	wantOwnKeyError(t, w, "apply", "-auto-approve")
	w.Run("untaint", "gpurent_api_key.own")
	w.Run("plan", "-no-color", "-detailed-exitcode")

	w.Configure(provider + ownKeyConfig("own", "allow_self_revoke = true"))
	wantOutput(t, w, "0 added, 1 changed, 0 destroyed", "apply", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	wantOutput(t, w, "own API key will be revoked", "plan", "-destroy")
	w.Configure(provider + ownKeyConfig("renamed", "allow_self_revoke = true\n  lifecycle {\n    create_before_destroy "+
		"= true\n  }"))
	wantOutput(t, w, "own API key will be revoked", "apply", "-auto-approve")
}

// A rotation of the provider's own key requires allow_self_revoke. Without it, the plan has a warning and no error.
func TestAccAPIKey_ownKeyRotation(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	secret := env.Secret(`{"name":"own","scopes":["instances:read","instances:write","user:read","user:write"],` +
		`"expires_in_days":30}`)
	id := keyID(env, "own")
	const expiresAfter = "expires_in_days = 30\n  rotate_before_days = 5\n  lifecycle {\n    create_before_destroy = " +
		"true\n  }\n  "
	w := env.Workspace(env.ProviderWithKey(secret) + ownKeyConfig("own", expiresAfter))
	w.Run("import", "-no-color", "gpurent_api_key.own", id)
	w.Run("apply", "-no-color", "-auto-approve")
	env.Advance(26 * day)
	wantOutput(t, w, "The provider's own API key is not rotated", "plan", "-detailed-exitcode")
	w.Configure(env.ProviderWithKey(secret) + ownKeyConfig("own", expiresAfter+"allow_self_revoke = true"))
	wantOutput(t, w, "0 added, 1 changed, 0 destroyed", "apply", "-auto-approve")
	wantOutput(t, w, "1 added, 0 changed, 1 destroyed", "apply", "-auto-approve")
}
