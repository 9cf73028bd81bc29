package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The examples of the data sources and of the function.
func TestAccSSHKeyDataSources(t *testing.T) {
	// The test checks the whole list.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	anna := env.Post("ssh-keys", fmt.Sprintf(`{"name":"team-anna","public_key":%q}`, exampleKey))
	build := env.Post("ssh-keys", fmt.Sprintf(`{"name":"Сборка","public_key":%q}`, otherKey))
	key := func(id, name string, fingerprint knownvalue.Check) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{
			"id": knownvalue.StringExact(id), "name": knownvalue.StringExact(name),
			"type":        knownvalue.StringExact("ssh-ed25519"),
			"fingerprint": fingerprint, "created_at": knownvalue.StringRegexp(regexp.MustCompile(`Z$`)),
		}
	}
	checks := []statecheck.StateCheck{
		statecheck.ExpectKnownOutputValue("team_key_ids",
			knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact(anna)})),
		statecheck.ExpectKnownValue("data.gpurent_ssh_keys.all", tfjsonpath.New("ssh_keys"),
			knownvalue.ListExact([]knownvalue.Check{
				knownvalue.ObjectExact(key(anna, "team-anna", knownvalue.StringExact(fingerprint))),
				knownvalue.ObjectExact(key(build, "Сборка", knownvalue.StringRegexp(regexp.MustCompile(`^SHA256:`)))),
			})),
		statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("ssh_key_ids"),
			knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact(anna)})),
		statecheck.ExpectKnownOutputValue("fingerprint", knownvalue.StringExact(fingerprint)),
	}
	for name, value := range key(anna, "team-anna", knownvalue.StringExact(fingerprint)) {
		checks = append(checks, statecheck.ExpectKnownValue("data.gpurent_ssh_key.anna", tfjsonpath.New(name), value))
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_ssh_key/data-source.tf", "data-sources/gpurent_ssh_keys/data-source.tf",
				"functions/ssh_fingerprint/function.tf"),
			ConfigStateChecks: checks,
		}},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}
