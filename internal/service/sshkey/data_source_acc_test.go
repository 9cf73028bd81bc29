package sshkey_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// dataSourceConfig returns a data block with arguments.
func dataSourceConfig(arguments ...string) string {
	return "data \"gpurent_ssh_key\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// addKey adds a key outside of Terraform.
func addKey(env *acctest.Env, name, publicKey string) (id string) {
	return env.Post("ssh-keys", fmt.Sprintf(`{"name":%q,"public_key":%q}`, name, publicKey))
}

func TestAccSSHKeyDataSource_byNameAndByFingerprint(t *testing.T) {
	env := acctest.Start(t)
	id := addKey(env, "team-anna", exampleKey)
	other := addKey(env, "Сборка", otherKey)
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_ssh_key.one", tfjsonpath.New(path), value)
	}
	anna := []statecheck.StateCheck{
		expect("id", knownvalue.StringExact(id)), expect("name", knownvalue.StringExact("team-anna")),
		expect("type", knownvalue.StringExact("ssh-ed25519")), expect("fingerprint", knownvalue.StringExact(fingerprint)),
		expect("created_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
	}
	bare := strings.TrimPrefix(fingerprint, "SHA256:")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_ssh_key/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("ssh_key_ids"),
						knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact(id)})),
				},
			},
			{Config: env.Config(dataSourceConfig(fmt.Sprintf("fingerprint = %q", fingerprint))), ConfigStateChecks: anna},
			{Config: env.Config(dataSourceConfig(fmt.Sprintf("fingerprint = %q", bare+"="))), ConfigStateChecks: anna},
			{
				Config:            env.Config(dataSourceConfig(`name = "Сборка"`)),
				ConfigStateChecks: []statecheck.StateCheck{expect("id", knownvalue.StringExact(other))},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}
