package apikey_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// After 100 days, the list has the used and the unused keys with the correct times, and no expired one.
func TestAccAPIKeyDataSources(t *testing.T) {
	// The test checks the whole list and a documented source.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "unknown-enums"),
		func(c *simulator.Config) { c.Start = time.Now().Add(-100 * day) })
	env.Post("api-keys", `{"name":"Забытый","scopes":["billing:read"],"expires_in_days":365}`)
	env.Post("api-keys", `{"name":"expired","scopes":["billing:read"],"expires_in_days":30}`)
	env.Advance(100 * day)
	id := env.Post("api-keys", `{"name":"ci","scopes":["billing:read"],"expires_in_days":30}`)
	one := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_api_key.ci", tfjsonpath.New(name), value)
	}
	const list = "data.gpurent_api_keys.all"
	own := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(list, tfjsonpath.New("api_keys").AtSliceIndex(0).AtMapKey(name), value)
	}
	instant := knownvalue.StringRegexp(regexp.MustCompile(`^2.*Z$`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_api_key/data-source.tf", "data-sources/gpurent_api_keys/data-source.tf"),
			ConfigStateChecks: []statecheck.StateCheck{
				one("id", knownvalue.StringExact(id)), one("name", knownvalue.StringExact("ci")),
				one("prefix", knownvalue.StringRegexp(regexp.MustCompile(`^\S{8}$`))),
				one("source", knownvalue.StringExact("api")),
				one("scopes", knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("billing:read")})),
				one("created_at", instant), one("expires_at", instant), one("last_used_at", knownvalue.Null()),
				statecheck.ExpectKnownOutputValue("unused_keys",
					knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact("Забытый")})),
				statecheck.ExpectKnownValue(list, tfjsonpath.New("api_keys"), knownvalue.ListSizeExact(3)),
				own("last_used_at", instant), own("expires_at", knownvalue.Null()), own("scopes", knownvalue.SetSizeExact(5)),
			},
		}},
	})
}
