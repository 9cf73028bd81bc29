package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listed = "data.gpurent_ssh_keys.all"

func TestAccSSHKeysDataSource(t *testing.T) {
	// The test checks the whole list.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	anna := env.Post("ssh-keys", fmt.Sprintf(`{"name":"team-anna","public_key":%q}`, exampleKey))
	build := env.Post("ssh-keys", fmt.Sprintf(`{"name":"Сборка","public_key":%q}`, otherKey))
	key := func(id, name string, fingerprint knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringExact(id), "name": knownvalue.StringExact(name),
			"type":        knownvalue.StringExact("ssh-ed25519"),
			"fingerprint": fingerprint, "created_at": knownvalue.StringRegexp(regexp.MustCompile(`Z$`)),
		})
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_ssh_keys/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("team_key_ids",
						knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact(anna)})),
					statecheck.ExpectKnownValue(listed, tfjsonpath.New("ssh_keys"), knownvalue.ListExact([]knownvalue.Check{
						key(anna, "team-anna", knownvalue.StringExact(fingerprint)),
						key(build, "Сборка", knownvalue.StringRegexp(regexp.MustCompile(`^SHA256:`))),
					})),
				},
			},
			{
				PreConfig: func() { env.Delete("ssh-keys/" + anna); env.Delete("ssh-keys/" + build) },
				Config:    env.Config(`data "gpurent_ssh_keys" "all" {}`),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(listed, tfjsonpath.New("ssh_keys"),
					knownvalue.ListSizeExact(0))},
			},
		},
	})
}
