package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The fingerprint of an imported key and the key are equivalent in a configuration. A fingerprint cannot create a key.
func TestAccSSHKey_fingerprintOfImportedKey(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("ssh-keys", fmt.Sprintf(`{"name":"me","public_key":%q}`, exampleKey))
	savedFingerprint := acctest.Fetch[struct {
		Data []struct{ Fingerprint string }
	}](env, "ssh-keys").Data[0].Fingerprint
	imported := fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id)
	key := func(want string) []statecheck.StateCheck {
		return []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("public_key"),
			knownvalue.StringExact(want))}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(config(savedFingerprint)),
				ExpectError: regexp.MustCompile(`fingerprint,\s+which\s+is\s+valid\s+only\s+for\s+an\s+imported\s+key`)},
			{Config: env.Config(config(savedFingerprint), imported), ConfigPlanChecks: acctest.Planned(address,
				plancheck.ResourceActionNoop), ConfigStateChecks: key(savedFingerprint)},
			{Config: env.Config(config(exampleKey)), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: key(exampleKey)},
			{Config: env.Config(config(savedFingerprint)), ConfigPlanChecks: acctest.Unchanged(),
				ConfigStateChecks: key(exampleKey)},
			{Config: env.Config(config(otherKey)), ConfigPlanChecks: acctest.Planned(address,
				plancheck.ResourceActionDestroyBeforeCreate)},
			{Config: env.Config(config(savedFingerprint)),
				ExpectError: regexp.MustCompile(`fingerprint,\s+which\s+is\s+valid\s+only\s+for\s+an\s+imported\s+key`)},
		},
	})
}
