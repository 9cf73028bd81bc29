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

const listed = "data.gpurent_api_keys.all"

// After 100 days, the list has the expired, the used and the unused keys with the correct times.
func TestAccAPIKeysDataSource(t *testing.T) {
	const day = 24 * time.Hour
	// The test checks the whole list and a documented source.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "unknown-enums"),
		func(c *simulator.Config) { c.Start = time.Now().Add(-100 * day) })
	env.Post("api-keys", `{"name":"Забытый","scopes":["billing:read"],"expires_in_days":365}`)
	env.Post("api-keys", `{"name":"expired","scopes":["billing:read"],"expires_in_days":30}`)
	env.Advance(100 * day)
	at := func(index int, path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(listed, tfjsonpath.New("api_keys").AtSliceIndex(index).AtMapKey(path), value)
	}
	instant := knownvalue.StringRegexp(regexp.MustCompile(`^2.*Z$`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_api_keys/data-source.tf"),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("unused_keys",
					knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact("Забытый")})),
				statecheck.ExpectKnownValue(listed, tfjsonpath.New("api_keys"), knownvalue.ListSizeExact(2)),
				// The provider's own key.
				at(0, "last_used_at", instant), at(0, "expires_at", knownvalue.Null()), at(0, "scopes", knownvalue.SetSizeExact(5)),
				at(1, "last_used_at", knownvalue.Null()), at(1, "expires_at", instant), at(1, "created_at", instant),
				at(1, "source", knownvalue.StringExact("api")),
				at(1, "prefix", knownvalue.StringRegexp(regexp.MustCompile(`^\S{8}$`))),
				at(1, "scopes", knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("billing:read")})),
			},
		}},
	})
}
