package apikey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// ownKeyConfig is a configuration of the key that the provider uses.
func ownKeyConfig(name, arguments string) string {
	return fmt.Sprintf("resource \"gpurent_api_key\" \"own\" {\n  name = %q\n  scopes = [\"instances:read\", \"instances:write\", \"user:read\", \"user:write\"]\n  %s\n}\n", name, arguments)
}

// idOf is the id of the key with the given name.
func idOf(env *acctest.Env, name string) (id string) {
	acctest.List(env, "api-keys?limit=100", func(k struct{ ID, Name string }) {
		if k.Name == name {
			id = k.ID
		}
	})
	return id
}

// refused runs a command that must fail because it would revoke the provider's own key.
func refused(t *testing.T, w *acctest.Workspace, arguments ...string) {
	t.Helper()
	output, err := w.Try(append(arguments, "-no-color")...)
	if output = acctest.Words(output); err == nil || !strings.Contains(output, "Cannot revoke the provider's own API key") {
		t.Errorf("%s: %v: %s", arguments, err, output)
	}
}

// contains runs a command that must succeed.
func contains(t *testing.T, w *acctest.Workspace, want string, arguments ...string) {
	t.Helper()
	if output := acctest.Words(w.Run(append(arguments, "-no-color")...)); !strings.Contains(output, want) {
		t.Errorf("%s: %q is not in: %s", arguments, want, output)
	}
}

func TestAccAPIKey_ownKeyIsNotRevokedWithoutPermission(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	secret := env.Secret(`{"name":"own","scopes":["instances:read","instances:write","user:read","user:write"]}`)
	id := idOf(env, "own")
	provider := env.ProviderWithKey(secret) + "resource \"gpurent_template\" \"own\" {\n  name = \"own\"\n  image = \"ubuntu:24.04\"\n}\n"
	w := env.Workspace(provider + ownKeyConfig("own", ""))
	w.Run("import", "-no-color", "gpurent_api_key.own", id)
	w.Run("apply", "-no-color", "-auto-approve")

	refused(t, w, "destroy", "-auto-approve")
	if env.OwnTemplate() == "" {
		t.Error("the refused destroy has destroyed other resources")
	}
	refused(t, w, "plan", "-replace=gpurent_api_key.own")
	w.Configure(provider + ownKeyConfig("renamed", ""))
	refused(t, w, "plan")
	w.Configure(provider + ownKeyConfig("renamed", "allow_self_revoke = true")) // the state does not have it yet
	refused(t, w, "plan")
	w.Configure(provider + ownKeyConfig("own", "lifecycle {\n    create_before_destroy = true\n  }"))
	refused(t, w, "plan", "-replace=gpurent_api_key.own")
	w.Configure(provider + ownKeyConfig("own", ""))
	w.Run("taint", "gpurent_api_key.own") // has no prior state at plan
	refused(t, w, "apply", "-auto-approve")
	w.Run("untaint", "gpurent_api_key.own")
	w.Run("plan", "-no-color", "-detailed-exitcode")

	w.Configure(provider + ownKeyConfig("own", "allow_self_revoke = true"))
	contains(t, w, "0 added, 1 changed, 0 destroyed", "apply", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	contains(t, w, "own API key will be revoked", "plan", "-destroy")
	w.Configure(provider + ownKeyConfig("renamed", "allow_self_revoke = true\n  lifecycle {\n    create_before_destroy = true\n  }"))
	contains(t, w, "own API key will be revoked", "apply", "-auto-approve")
}

// A rotation that would revoke the provider's own key waits for permission, and does not block other changes.
func TestAccAPIKey_ownKeyIsNotRotatedWithoutPermission(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t)
	secret := env.Secret(`{"name":"own","scopes":["instances:read","instances:write","user:read","user:write"],"expires_in_days":30}`)
	id := idOf(env, "own")
	const lifetime = "expires_in_days = 30\n  rotate_before_days = 5\n  lifecycle {\n    create_before_destroy = true\n  }\n  "
	w := env.Workspace(env.ProviderWithKey(secret) + ownKeyConfig("own", lifetime))
	w.Run("import", "-no-color", "gpurent_api_key.own", id)
	w.Run("apply", "-no-color", "-auto-approve")
	env.Advance(26 * day)
	contains(t, w, "The provider's own API key is not rotated", "plan", "-detailed-exitcode")
	w.Configure(env.ProviderWithKey(secret) + ownKeyConfig("own", lifetime+"allow_self_revoke = true"))
	contains(t, w, "0 added, 1 changed, 0 destroyed", "apply", "-auto-approve")
	contains(t, w, "1 added, 0 changed, 1 destroyed", "apply", "-auto-approve")
}

// A generated configuration contains the provider's own key. Destroying everything must not revoke that one first.
func TestAccAPIKeyList_destroyOfAllResultsIsRefused(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test imports every key of the account.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	env.Post("api-keys", `{"name":"ci","scopes":["instances:read"]}`)
	w := env.Workspace(env.Provider())
	if found := w.Adopt("list \"gpurent_api_key\" \"all\" {\n  provider = gpurent\n  include_resource = true\n}\n"); len(found) != 2 {
		t.Fatalf("%v, want both keys", found)
	}
	refused(t, w, "destroy", "-auto-approve")
	if err := env.Left("api-keys", 2); err != nil {
		t.Error(err)
	}
}
