package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccSSHFingerprint(t *testing.T) {
	env := acctest.Start(t)
	call := func(publicKey string) string {
		return env.Config(fmt.Sprintf("output \"fingerprint\" {\n  value = provider::gpurent::ssh_fingerprint(%q)\n}\n",
			publicKey))
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("functions/ssh_fingerprint/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("fingerprint",
					knownvalue.StringExact(fingerprint))},
			},
			{Config: call("  " + exampleKey + "   another comment\n"), ConfigPlanChecks: acctest.Unchanged()},
			{Config: call("-----BEGIN OPENSSH PRIVATE KEY-----"),
				ExpectError: regexp.MustCompile(`Invalid\s+value\s+for\s+"public_key"\s+parameter:\s+this\s+is\s+a\s+` +
					`private\s+key`)},
			{Config: call(exampleKey + "\n" + otherKey), ExpectError: regexp.MustCompile(`more\s+than\s+one\s+line`)},
		},
	})
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}
