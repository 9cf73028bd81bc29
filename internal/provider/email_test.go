package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// While the e-mail address of the account is not verified, a plan that rents a server fails: a creation, a replacement
// with and without a change, and the growth of a fleet. Other plans do not, nor do those with a key that may not read
// the account, or if the API omits the field.
func TestPlan_UnverifiedEmail(t *testing.T) {
	forEach(t, slices.Values(rented), func(t *testing.T, env *acctest.Env, kind string) {
		env.AddSSHKey()
		narrow := env.Arguments()
		narrow["api_key"] = env.Secret(`{"name":"narrow","scopes":["instances:read","instances:write"]}`)
		created := run(t, env).createSample(kind)
		if err := env.SetAccount(simulator.AccountPatch{EmailVerified: new(false)}); err != nil {
			t.Fatal(err)
		}
		with := func(name string, value any) map[string]any {
			changed := maps.Clone(samples[kind])
			changed[name] = value
			return changed
		}
		none := run(t, env).None(kind)
		forced := none // as Terraform plans the second part of -replace
		forced.Private = created.Private
		const want = "E-mail address is not verified"
		check := func(name string, provider map[string]any, prior acctest.Object, config map[string]any, want string) {
			t.Helper()
			_, diags := configured(t, provider).Plan(prior, config)
			if text := texts(diags); !strings.Contains(text, want) || want == "" && strings.Contains(text, "mail") {
				t.Errorf("%s: want %q, got %s", name, want, text)
			}
		}
		check("a creation", env.Arguments(), none, with("name", "other"), want)
		check("a replacement", env.Arguments(), created, with("template", "ubuntu"), want)
		check("no change", env.Arguments(), created, samples[kind], "")
		check("a key without user:read", narrow, none, with("name", "other"), "")
		if kind == "gpurent_fleet" {
			check("-replace", env.Arguments(), forced, samples[kind], want)
			check("growth", env.Arguments(), created, with("size", int64(2)), want)
			check("an empty fleet", env.Arguments(), none, with("size", int64(0)), "")
		}
		env.Proxy.Set(simtest.Request("GET", "/me").Do(simtest.Fail(500)))
		unreadable := env.Arguments()
		unreadable["max_retries"] = int64(0)
		check("a replacement, unreadable", unreadable, created, with("template", "ubuntu"), "Cannot read the account")
		check("a creation, unreadable", unreadable, none, with("name", "other"), "")
		env.Proxy.Set(simtest.Request("GET", "/me").Do(simtest.Rewrite(func(user map[string]any) {
			delete(user, "email_verified")
		})))
		check("the field is missing", env.Arguments(), created, with("template", "ubuntu"), "")
	})
}
