package sshkey_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccSSHFingerprint(t *testing.T) {
	env := acctest.Start(t)
	const call = `output "fingerprint" { value = provider::gpurent::ssh_fingerprint("-----BEGIN PRIVATE KEY-----") }`
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("functions/ssh_fingerprint/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("fingerprint",
					knownvalue.StringExact(fingerprint))},
			},
			{Config: env.Config(call), ExpectError: regexp.MustCompile(`Invalid\s+value\s+for\s+"public_key"\s+parameter:\s+` +
				`this\s+is\s+a\s+private\s+key`)},
		},
	})
}
