package apikey_test

import (
	"regexp"
	"strings"
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

func config(arguments ...string) string {
	return "resource \"gpurent_api_key\" \"ci\" {\n  name = \"ci\"\n  scopes = [\"instances:read\"]\n  " +
		strings.Join(arguments, "\n  ") + "\n}\n"
}

func TestAccAPIKey_createRotateImport(t *testing.T) {
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
			{Config: env.Example(example), ConfigPlanChecks: acctest.Unchanged()},
			{ResourceName: address, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"secret", "rotate_before_days"}},
			{
				// 15 days are left, one more than rotate_before_days.
				PreConfig: func() { env.Advance(75*day - time.Hour) },
				Config:    env.Example(example), ConfigPlanChecks: acctest.Unchanged(),
			},
			{
				PreConfig: func() { env.Advance(2 * day) },
				Config:    env.Example(example), ConfigPlanChecks: acctest.Planned(address,
					plancheck.ResourceActionCreateBeforeDestroy),
			},
			{
				PreConfig: func() { env.Advance(91 * day) },
				Config:    env.Example(example), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionCreate),
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.OnlyKeyLeft() },
	})
}
