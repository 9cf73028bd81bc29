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

// The list has a key of the same apply, without its secret. It shares one request with the refresh of the resource.
func TestAccAPIKeysDataSource_listsNewKeyWithoutSecret(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test checks that a new key is listed immediately, and counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("lagging-list", "small-pages", "gateway-errors"))
	const config = `
resource "gpurent_api_key" "ci" {
  name   = "ci"
  scopes = ["billing:read"]
}
data "gpurent_api_keys" "all" {
  depends_on = [gpurent_api_key.ci]
}
output "keys" {
  value = data.gpurent_api_keys.all.api_keys
}
`
	w := env.Workspace(env.Config(config))
	w.Run("apply", "-auto-approve")
	output := w.Run("output", "-json", "keys")
	if !regexp.MustCompile(`"name":\s*"ci"`).MatchString(output) {
		t.Errorf("the new key is not listed: %s", output)
	}
	for _, key := range acctest.SavedIn[struct{ Secret string }](w, "gpurent_api_key") {
		if err := acctest.Leak(key.Attributes.Secret, map[string]string{"list": output}); err != nil {
			t.Error(err)
		}
	}
	env.ClearRequests()
	w.Run("plan")
	if n := len(env.Requests()); n != 1 {
		t.Errorf("%d requests for a resource and a list: %v", n, env.Requests())
	}
}

func TestAccAPIKeysDataSource_requiresScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "instances:read", `(?s)Cannot list API keys.*lacks\s+the\s+scope\s+user:read`,
		`data "gpurent_api_keys" "all" {}`)
}
