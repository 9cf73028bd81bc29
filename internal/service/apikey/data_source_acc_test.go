package apikey_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccAPIKeyDataSource(t *testing.T) {
	// The test checks a documented source.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums"))
	id := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":30}`)
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_api_key.ci", tfjsonpath.New(path), value)
	}
	instant := knownvalue.StringRegexp(regexp.MustCompile(`^2.*Z$`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_api_key/data-source.tf"),
			ConfigStateChecks: []statecheck.StateCheck{
				expect("id", knownvalue.StringExact(id)), expect("name", knownvalue.StringExact("ci")),
				expect("prefix", knownvalue.StringRegexp(regexp.MustCompile(`^\S{8}$`))),
				expect("source", knownvalue.StringExact("api")),
				expect("scopes", knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("billing:read")})),
				expect("created_at", instant), expect("expires_at", instant), expect("last_used_at", knownvalue.Null()),
			},
		}},
	})
}

// A key that expires soon leads to the warning of the example.
func TestAccAPIKeyDataSource_exampleWarnsBeforeExpiry(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	w := env.Workspace(env.Example("data-sources/gpurent_api_key/data-source.tf"))
	for days, warns := range map[string]bool{"30": false, "10": true} {
		id := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":`+days+`}`)
		plan := acctest.WithoutFrame(w.Run("plan", "-no-color"))
		if warned := strings.Contains(plan, "The API key ci expires at 2"); warned != warns {
			t.Errorf("%s days before the expiry: warned %t:\n%s", days, warned, plan)
		}
		env.Delete("api-keys/" + id)
	}
}
