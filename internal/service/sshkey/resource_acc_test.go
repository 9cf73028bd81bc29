package sshkey_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const (
	address = "gpurent_ssh_key.me"
	example = "resources/gpurent_ssh_key/resource.tf"

	exampleKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8"
	fingerprint = "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo"
	otherKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
)

func config(publicKey string) string {
	return fmt.Sprintf("resource \"gpurent_ssh_key\" \"me\" {\n  name = \"me\"\n  public_key = %q\n}\n", publicKey)
}

func TestAccSSHKey_createReplaceImport(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example(example),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionCreate,
					plancheck.ExpectKnownValue(address, tfjsonpath.New("fingerprint"), knownvalue.StringExact(fingerprint)),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("type"), knownvalue.StringExact("ssh-ed25519")),
				),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("name"), knownvalue.StringExact("me")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("created_at"), knownvalue.NotNull()),
				},
			},
			{Config: env.Example(example), ConfigPlanChecks: acctest.Unchanged()},
			{Config: env.Config(config("  " + exampleKey + "   another comment\n")), ConfigPlanChecks: acctest.Unchanged()},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"public_key"}},
			{Config: env.Config(config(otherKey)), ConfigPlanChecks: acctest.Planned(address,
				plancheck.ResourceActionDestroyBeforeCreate)},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("ssh-keys") },
	})
}

// A key that is unknown at plan is validated at apply, before a request.
func TestAccSSHKey_privateKeyUnknownAtPlan(t *testing.T) {
	env := acctest.Start(t)
	failingStep := func(key, message string) resource.TestStep {
		return resource.TestStep{
			Config: env.Config(fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\n"+
				"resource \"gpurent_ssh_key\" \"me\" {\n  public_key = terraform_data.key.output\n}\n", key)),
			ExpectError: regexp.MustCompile(message),
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			failingStep("-----BEGIN OPENSSH PRIVATE KEY-----", `private\s+key`),
			// The API client rejects only text with PRIVATE KEY. The resource rejects everything but a public key.
			failingStep("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAA", `Not\s+a\s+public\s+key`),
		},
	})
	if n := env.CountRequests("POST", "/ssh-keys"); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}
