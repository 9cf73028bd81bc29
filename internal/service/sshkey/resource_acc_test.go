package sshkey_test

import (
	"fmt"
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

func TestAccSSHKey_createImportReplace(t *testing.T) {
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
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"public_key"}},
			{
				Config:           env.Config(fmt.Sprintf("resource %q \"me\" {\n  public_key = %q\n}\n", kind, otherKey)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("ssh-keys") },
	})
}
