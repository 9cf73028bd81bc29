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

// A plan that destroys, replaces or rotates the provider's own key warns, except with -replace, when the plan has no
// prior state. The apply revokes the key.
func TestAccAPIKey_ownKeyWarns(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	secret := env.Secret(`{"name":"own","scopes":["instances:read","instances:write","user:read","user:write"],` +
		`"expires_in_days":30}`)
	id := keyID(env, "own")
	w := env.Workspace(env.ProviderWithKey(secret) + ownKeyConfig("own", "expires_in_days = 30"))
	plan := func(want bool, arguments ...string) {
		t.Helper()
		output := acctest.Words(w.Run(append([]string{"plan", "-no-color"}, arguments...)...))
		if strings.Contains(output, "The provider's own API key will be revoked") != want {
			t.Errorf("%s: want a warning: %t: %s", arguments, want, output)
		}
	}
	w.Run("import", "-no-color", "gpurent_api_key.own", id)
	plan(false)
	plan(true, "-destroy")
	w.Configure(env.ProviderWithKey(secret) + ownKeyConfig("renamed", "expires_in_days = 30"))
	plan(true)
	env.Advance(26 * day)
	w.Configure(env.ProviderWithKey(secret) + ownKeyConfig("own", "expires_in_days = 30\n  rotate_before_days = 5"))
	plan(true)
	w.Run("apply", "-no-color", "-auto-approve", "-destroy")
	if keyID(env, "own") != "" {
		t.Error("the key was not revoked")
	}
}
