package apikey_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const (
	address = "gpurent_api_key.ci"
	example = "resources/gpurent_api_key/resource.tf"
	day     = 24 * time.Hour
)

func TestAccAPIKey_createImportRotate(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example(example),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("secret"),
						knownvalue.StringRegexp(regexp.MustCompile(`^.{4}[0-9A-Za-z]{40}$`))),
					statecheck.ExpectSensitiveValue(address, tfjsonpath.New("secret")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("source"), knownvalue.StringExact("api")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("expires_at"), knownvalue.NotNull()),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"secret", "rotate_before_days"}},
			{
				PreConfig: func() { env.Advance(77 * day) }, // 13 days are left, one less than rotate_before_days
				Config:    env.Example(example), ConfigPlanChecks: acctest.Planned(address,
					plancheck.ResourceActionCreateBeforeDestroy),
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.OnlyKeyLeft() },
	})
}
