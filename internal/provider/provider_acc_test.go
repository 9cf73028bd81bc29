package provider_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A configuration can use the key that it creates. The plan does not fail while a replacement makes the key unknown.
func TestAccProvider_keyFromResource(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	config := func(keyName string) string {
		return env.Provider() + fmt.Sprintf(`
resource "gpurent_api_key" "ci" {
  name   = %q
  scopes = ["instances:read", "instances:write"]
}
provider "gpurent" {
  alias    = "ci"
  base_url = %q
  api_key  = gpurent_api_key.ci.secret
}
resource "gpurent_template" "mine" {
  provider = gpurent.ci
  name     = "Mine"
  image    = "ubuntu:24.04"
}
data "gpurent_gpus" "all" {
  provider = gpurent.ci
}
`, keyName, env.BaseURL)
	}
	// Each provider block needs a separate process, so the test uses the binary.
	workspace := env.Workspace(config("first"))
	workspace.Run("apply", "-auto-approve", "-no-color")
	workspace.Configure(config("second"))
	plan := workspace.Run("plan", "-no-color")
	for _, want := range []string{"Not refreshed", "gpurent_api_key.ci must be replaced",
		"1 to add, 0 to change, 1 to destroy"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan has no %q:\n%s", want, plan)
		}
	}
	workspace.Run("apply", "-auto-approve", "-no-color")
	workspace.Run("destroy", "-auto-approve", "-no-color")
	if err := errors.Join(env.NoOwnTemplate(), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}
