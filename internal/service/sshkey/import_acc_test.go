package sshkey_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The service does not tell the key, so its fingerprint stands for it.
func TestAccSSHKey_configurationIsGenerated(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("ssh-keys", fmt.Sprintf(`{"name":"laptop","public_key":%q}`, exampleKey))
	generated := acctest.Words(env.Generated("resources/gpurent_ssh_key/import-by-string-id.tf", id))
	for _, want := range []string{`name = "laptop"`, `public_key = "SHA256:`} {
		if !strings.Contains(generated, want) {
			t.Errorf("%s is not in:\n%s", want, generated)
		}
	}
}

// Key and fingerprint can take each other's place, but no key can be made of a
// fingerprint.
func TestAccSSHKey_fingerprintStandsForAnImportedKey(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("ssh-keys", fmt.Sprintf(`{"name":"laptop","public_key":%q}`, exampleKey))
	parsed := acctest.Fetch[struct {
		Data []struct{ Fingerprint string }
	}](env, "ssh-keys").Data[0].Fingerprint
	imported := fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id)
	key := func(want string) []statecheck.StateCheck {
		return []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("public_key"), knownvalue.StringExact(want))}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(config(parsed)), ExpectError: regexp.MustCompile(`fingerprint\s+stands\s+for\s+a\s+key`)},
			{Config: env.Config(config(parsed), imported), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionNoop), ConfigStateChecks: key(parsed)},
			{Config: env.Config(config(exampleKey)), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate), ConfigStateChecks: key(exampleKey)},
			{Config: env.Config(config(parsed)), ConfigPlanChecks: acctest.Unchanged(), ConfigStateChecks: key(exampleKey)},
			{Config: env.Config(config(otherKey)), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate)},
			{Config: env.Config(config(parsed)), ExpectError: regexp.MustCompile(`fingerprint\s+stands\s+for\s+a\s+key`)},
		},
	})
}
