package sshkey_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccSSHFingerprint(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("functions/ssh_fingerprint/function.tf"),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("fingerprint",
				knownvalue.StringExact(fingerprint))},
		}},
	})
}
