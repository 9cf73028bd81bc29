package apikey_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const ephemeralExample = "ephemeral-resources/gpurent_api_key/ephemeral-resource.tf"

// The example uses an ephemeral key with fewer scopes for a part of the configuration. Its secret is neither in logs,
// nor in output, state or plan.
func TestAccEphemeralAPIKey_fewerScopesAndNoLeaks(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	secrets := new(acctest.Secrets)
	// After a lost response, another key replaces the lost one, and the test counts keys.
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work"),
		acctest.Intercept(simtest.AnyRequest.Do(secrets.Intercept)))
	workspace := env.Workspace(env.Example(ephemeralExample), acctest.Traced()...)
	output := workspace.Run("plan", "-no-color", "-out=saved.plan")
	output += workspace.Run("show", "-json", "saved.plan")
	output += workspace.Run("apply", "-no-color", "saved.plan")
	plan := workspace.Run("plan", "-no-color")
	if !strings.Contains(plan, "No changes") {
		t.Errorf("the plan after the apply has changes:\n%s", plan)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
	if n := secrets.Len(); n != 3 {
		t.Errorf("%d keys created, want one per run", n)
	}
	secrets.Check(t, map[string]string{
		"log": workspace.Trace(), "output": output + plan, "state": workspace.Read("terraform.tfstate"),
		"saved plan": workspace.Unpacked("saved.plan"),
	})
	own := env.OwnKeyID()
	for _, r := range env.Requests() {
		if r.Path == "/templates" && r.KeyID == own {
			t.Errorf("%s %s used the provider's own key", r.Method, r.Path)
		}
	}
}

// If a run fails, the CLIs do not close the ephemeral resource. The provider revokes the key at its end.
func TestAccEphemeralAPIKey_revokedAfterFailedRun(t *testing.T) {
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Method: "POST", Path: "/templates", Status: 422}); err != nil {
		t.Fatal(err)
	}
	workspace := env.Workspace(env.Example(ephemeralExample))
	if output, err := workspace.Try("apply", "-auto-approve", "-no-color"); err == nil ||
		!strings.Contains(output, "Cannot create template") {
		t.Errorf("apply: %v\n%s", err, output)
	}
	if err := env.OnlyKeyLeft(); err != nil {
		t.Error(err)
	}
}

// job is an ephemeral key of a run.
const job = `
ephemeral "gpurent_api_key" "job" {
  name   = "job"
  scopes = ["instances:read"]
}
`

// A failed revocation because of the rate limit is a warning, because the key expires. The log has the keys that were
// not revoked at the end.
func TestAccEphemeralAPIKey_failedRevocationIsReported(t *testing.T) {
	acctest.FirstCLIOnly(t)
	proxy := new(simtest.Proxy)
	proxy.Set(simtest.Request("DELETE", ".*").Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		w.Header().Set("Retry-After", "50")
		simtest.Fail(429)(w, r, api)
	}))
	env := acctest.Start(t, proxy.Option())
	workspace := env.Workspace(env.Provider()+job+useJobKey, acctest.Traced()...)
	output := acctest.Words(workspace.Run("plan", "-no-color"))
	left := acctest.Fetch[struct{ Data []struct{ ID string } }](env, "api-keys").Data[1].ID
	for _, want := range []string{"Warning: Cannot revoke API key " + left, "works until it expires (at 20",
		"To revoke it before, import it as a gpurent_api_key"} {
		if !strings.Contains(output, want) {
			t.Errorf("the output has no %q:\n%s", want, output)
		}
	}
	if log := workspace.Trace(); !regexp.MustCompile(`Cleanup at shutdown failed.*API key ` + left +
		`, which expires at 20.*was not deleted: .*429`).MatchString(log) {
		t.Errorf("the log does not contain the key")
	}
	proxy.Set()
	env.Delete("api-keys/" + left)
}

// useJobKey is a configuration that uses the ephemeral key.
const useJobKey = `
provider "gpurent" {
  alias   = "job"
  api_key = ephemeral.gpurent_api_key.job.secret
}
data "gpurent_templates" "all" {
  provider = gpurent.job
}
`
