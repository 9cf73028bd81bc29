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

func TestAccAPIKey_changesReplace(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	var id string
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Config(config()),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("expires_at"), knownvalue.Null()),
				},
			},
			{
				Config:           env.Config(config(`expires_in_days = 30`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
			},
			{
				Config:           env.Config(config(`expires_in_days = 30`, `rotate_before_days = 3`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				Check:            acctest.RememberID(address, &id),
			},
			{
				PreConfig: func() { env.Delete("api-keys/" + id); env.Advance(time.Minute) },
				Config:    env.Config(config()), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionCreate),
			},
		},
	})
}

// After a lost response, the provider revokes the key without a known secret and creates another one.
func TestAccAPIKey_lostResponse(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts the revocations after one lost response.
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	env.LoseResponse("/api-keys")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps:                    []resource.TestStep{{Config: env.Config(config())}},
		CheckDestroy:             func(*terraform.State) error { return env.OnlyKeyLeft() },
	})
	if n := env.CountRequests("DELETE", "/api-keys"); n != 2 {
		t.Errorf("%d keys revoked, want that of the lost response and that of the destroy", n)
	}
}

func TestAccAPIKey_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{strings.Replace(config(), `"ci"`+"\n", `""`+"\n", 1), `between 1 and 60`},
		{strings.Replace(config(), `["instances:read"]`, `[]`, 1), `at least 1`},
		{strings.Replace(config(), `"instances:read"`, `"instances:admin"`, 1), `value must be one of`},
		{config(`expires_in_days = 0`), `between 1 and 3650`},
		{config(`expires_in_days = 3651`), `between 1 and 3650`},
		{config(`rotate_before_days = 3`), `"expires_in_days"\s+must\s+be\s+specified`},
		{config(`expires_in_days = 3`, `rotate_before_days = 3`), `replaced at every apply`},
	})
}
