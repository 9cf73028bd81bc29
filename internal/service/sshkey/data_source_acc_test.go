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

func TestAccSSHKeyDataSource(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("ssh-keys", fmt.Sprintf(`{"name":"team-anna","public_key":%q}`, exampleKey))
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_ssh_key.one", tfjsonpath.New(path), value)
	}
	bare := strings.TrimPrefix(fingerprint, "SHA256:") + "=" // another notation
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
			{
				Config: env.Config(fmt.Sprintf("data \"gpurent_ssh_key\" \"one\" {\n  fingerprint = %q\n}\n", bare)),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("id", knownvalue.StringExact(id)), expect("name", knownvalue.StringExact("team-anna")),
					expect("type", knownvalue.StringExact("ssh-ed25519")), expect("fingerprint", knownvalue.StringExact(fingerprint)),
					expect("created_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
				},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}
