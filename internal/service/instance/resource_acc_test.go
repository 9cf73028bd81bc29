package instance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestAccInstance_basic(t *testing.T) {
	// The test asserts the GPU of the offer, documented values and optional fields, and counts requests.
	env := acctest.Start(
		t,
		acctest.WithoutQuirks("other-gpu", "optional-fields-absent", "unknown-enums", "status-after-work", "gateway-errors"),
	)
	same := statecheck.CompareValue(compare.ValuesSame())
	sameID := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("resources/gpurent_instance/resource.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("status", knownvalue.StringExact("running")),
					attributeIs("desired_state", knownvalue.StringExact("running")),
					attributeIs(
						"ssh",
						knownvalue.ObjectPartial(
							map[string]knownvalue.Check{"command": knownvalue.StringRegexp(regexp.MustCompile("^ssh "))},
						),
					),
					attributeIs(
						"gpu",
						knownvalue.ObjectPartial(
							map[string]knownvalue.Check{"slug": knownvalue.StringExact("rtx_4090"), "count": knownvalue.Int64Exact(1)},
						),
					),
					attributeIs("started_at", knownvalue.NotNull()),
					attributeIs("stop_reason", knownvalue.Null()),
				},
			},
			{
				Config:           env.Example("resources/gpurent_instance/resource.tf"),
				ConfigPlanChecks: acctest.Unchanged(),
			},
			{
				Config:           env.Config(configByOffer(`name = "renamed"`, `desired_state = "stopped"`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("name", knownvalue.StringExact("renamed")),
					attributeIs("status", knownvalue.StringExact("stopped")),
					attributeIs("stop_reason", knownvalue.StringExact("user")),
					attributeIs("ssh", knownvalue.Null()),
				},
			},
			{
				Config: env.Config(configByOffer()),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					expectAction(plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("ssh")),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("price")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("name", knownvalue.Null()),
					attributeIs("status", knownvalue.StringExact("running")),
					attributeIs("ssh", knownvalue.NotNull()),
				},
			},
			{
				ResourceName:      address,
				ImportState:       true,
				ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{
					"idempotency_key", "matched_query", "offer_id", "offer_query", "quoted_kop_h", "rented_offer", "rented_offer_id",
				},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
	if n := env.CountRequests("POST", "/instances"); n != 3 {
		t.Errorf("%d POST requests, want one creation, one stop, one start", n)
	}
}

// The examples of the page work as they are, and plan no change afterwards.
func TestAccInstance_examples(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for _, example := range []string{
		"resources/gpurent_instance/resource-interruptible.tf",
		"resources/gpurent_instance/resource-offer.tf",
		"resources/gpurent_instance/resource-image.tf",
		"resources/gpurent_instance/resource-stopped.tf",
	} {
		t.Run(filepath.Base(example), func(t *testing.T) {
			env := acctest.Start(t)
			resource.ParallelTest(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps:                    []resource.TestStep{{Config: env.Example(example)}},
			})
		})
	}
}

// The simulator has no SSH server for the provisioner.
func TestAccInstance_exampleWithProvisioner(t *testing.T) {
	acctest.FirstCLIOnly(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id_ed25519", "id_ed25519.pub"} {
		key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop\n"
		if err := os.WriteFile(filepath.Join(home, ".ssh", name), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := acctest.Start(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config:   env.Example("resources/gpurent_instance/resource-provisioner.tf"),
			PlanOnly: true, ExpectNonEmptyPlan: true,
		}},
	})
}

func TestAccInstance_offerIDChange(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(configByOffer())},
			{
				Config: env.Config(
					offersDataSource(`order = "-price"`) + resourceBlock("data.gpurent_offers.test.ids[0]"),
				),
				ConfigPlanChecks: acctest.Unchanged(),
			},
			{Config: env.Config(resourceBlock(`"off_gone"`)), ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

// An import adopts creation-only arguments, which the API does not return, from the configuration, without a request.
func TestAccInstance_importAdoptsArguments(t *testing.T) {
	for name, test := range map[string]struct {
		config func(offer string) string
		adopts map[string]knownvalue.Check
	}{
		"an offer": {
			func(offer string) string { return resourceBlock(fmt.Sprintf("%q", offer)) },
			map[string]knownvalue.Check{"offer_id": knownvalue.NotNull(), "on_outbid": knownvalue.StringExact("restart")},
		},
		"a query, a key and SSH keys": {
			func(string) string {
				return configByQuery(`{ gpu = ["rtx_4090"] }`, `idempotency_key = "k"`, `ssh_key_ids = []`,
					`replace_on = ["offer_query", "ssh_key_ids"]`)
			},
			map[string]knownvalue.Check{
				"offer_query": knownvalue.NotNull(), "idempotency_key": knownvalue.StringExact("k"),
				"ssh_key_ids":     knownvalue.SetSizeExact(0),
				"rented_offer_id": knownvalue.Null(), "quoted_kop_h": knownvalue.Null(),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			offer := env.CheapestOffer("rtx_4090", "on_demand").ID
			id := env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60}`, offer))
			env.Advance(time.Minute)
			config := env.Config(test.config(offer), fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id))
			checks := []statecheck.StateCheck{attributeIs("id", knownvalue.StringExact(id))}
			for attribute, want := range test.adopts {
				checks = append(checks, attributeIs(attribute, want))
			}
			resource.ParallelTest(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps: []resource.TestStep{
					{
						Config: config,
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							expectAction(plancheck.ResourceActionUpdate),
							plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("running")),
							plancheck.ExpectKnownValue(address, tfjsonpath.New("ssh"), knownvalue.NotNull()),
						}},
						ConfigStateChecks: checks,
					},
					{Config: config, ConfigPlanChecks: acctest.Unchanged()},
				},
			})
			if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 1 {
				t.Errorf("%d requests that change something, want only the test's own", n)
			}
		})
	}
}

func TestAccInstance_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{strings.Replace(configByOffer(), "disk_gb  = 60", "disk_gb  = 9", 1), `between 10 and 2000`},
		{strings.Replace(configByOffer(), "disk_gb  = 60", "disk_gb  = 2001", 1), `between 10 and 2000`},
		{configByOffer(fmt.Sprintf("name = %q", strings.Repeat("я", 61))), `between 1 and 60`},
		{configByOffer(`desired_state = "paused"`), `value must be one of`},
		{configByOffer(`type = "spot"`), `value must be one of`},
		{configByOffer(`on_outbid = "cry"`), `value must be one of`},
		{configByOffer(`max_price_kop_h = 0`), `at least 1`},
		{configByOffer(`ssh_key_ids = ["1","2","3","4","5","6","7","8","9","10","11"]`), `at most 10`},
		{configByOffer(`timeouts = { create = "soon" }`), `[Dd]uration`},
	})
}

func TestAccInstance_createErrors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	lowBalance, rich := int64(100), int64(10_000_000)
	no, yes := false, true
	reader := env.Secret(`{"name":"reader","scopes":["instances:read"]}`)
	taken := env.CheapestOffer("rtx_3090", "on_demand")
	account := func(patch simulator.AccountPatch) func() {
		return func() {
			if err := env.SetAccount(patch); err != nil {
				t.Error(err)
			}
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				PreConfig:   account(simulator.AccountPatch{BalanceKop: &lowBalance}),
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)Missing:.*₽.*Top up`),
			},
			{
				PreConfig:   account(simulator.AccountPatch{BalanceKop: &rich, EmailVerified: &no}),
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`Confirm the account's e-mail`),
			},
			{
				PreConfig:   account(simulator.AccountPatch{EmailVerified: &yes}),
				Config:      env.Config(resourceBlock(`"off_gone"`)),
				ExpectError: regexp.MustCompile(`(?s)Nothing\s+was\s+rented:\s+offer\s+off_gone\s+is\s+not\s+available`),
			},
			{
				Config:      env.ProviderWithKey(reader) + configByOffer(),
				ExpectError: regexp.MustCompile(`(?s)lacks\s+the\s+scope\s+instances:write.*Create\s+a\s+key`),
			},
			{
				PreConfig:   account(simulator.AccountPatch{Blocked: &yes}),
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)or\s+the\s+account\s+is\s+blocked.*contact\s+its\s+support`),
			},
			{
				PreConfig:   account(simulator.AccountPatch{Blocked: &no, MaxInstances: new(int64(0))}),
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)limit\s+of\s+the\s+account.*destroy\s+an\s+instance`),
			},
			{
				PreConfig:   account(simulator.AccountPatch{MaxInstances: new(int64(20))}),
				Config:      strings.Replace(env.Config(configByOffer()), "= 60", "= 2000", 1),
				ExpectError: regexp.MustCompile(`(?s)Disk above the offer's maximum.*disk_gb\s+is\s+2000`),
			},
			{
				Config:      env.Config(configByOffer(`max_price_kop_h = 1`)),
				ExpectError: regexp.MustCompile(`Offer price above max_price_kop_h`),
			},
			{
				// Another customer has rented the offer.
				PreConfig: func() {
					env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60}`, taken.ID))
				},
				Config:      env.Config(resourceBlock(fmt.Sprintf("%q", taken.ID))),
				ExpectError: regexp.MustCompile(`(?s)Nothing\s+was\s+rented:\s+offer.*is\s+not\s+available`),
			},
		},
	})
	if err := env.Left("instances", 1); err != nil {
		t.Error("apart from the instance that took the offer:", err)
	}
}

// An invalid API key is an error at plan, before an apply creates a part of the resources.
func TestAccInstance_invalidAPIKey(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	complaint := regexp.MustCompile(`(?s)Cannot (read|check).*API\s+key\s+is\s+wrong`)
	wrong := env.ProviderWithKey("test" + strings.Repeat("0", 40))
	ownTemplate := "resource \"gpurent_template\" \"own\" {\n  name = \"Own\"\n  image = \"ubuntu:24.04\"\n}\n"
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: wrong + configByOffer(), PlanOnly: true, ExpectError: complaint},
			{
				Config:      wrong + ownTemplate + strings.Replace(configByOffer(), `"pytorch"`, "gpurent_template.own.slug", 1),
				PlanOnly:    true,
				ExpectError: complaint,
			},
		},
	})
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("POST", "/templates"); n != 0 {
		t.Errorf("%d things were asked for", n)
	}
}

func TestAccInstance_templateWithoutSSH(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	config := env.Config(strings.Replace(configByOffer(), `"pytorch"`, `"vllm"`, 1))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("status", knownvalue.StringExact("running")),
					attributeIs("ssh", knownvalue.Null()),
				},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

func TestAccInstance_createdStopped(t *testing.T) {
	env := acctest.Start(t)
	config := env.Config(configByOffer(`desired_state = "stopped"`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("stopped"))},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

func TestAccInstance_sshKeyIDsChange(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
	const key = "resource \"gpurent_ssh_key\" \"k\" {\n  public_key = \"" + publicKey + "\"\n}\n"
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(key, configByOffer(`ssh_key_ids = [gpurent_ssh_key.k.id]`))},
			{
				Config:           env.Config(key, configByOffer(`ssh_key_ids = []`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionNoop),
			},
			{
				Config:            env.Config(key, configByOffer()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("ssh_key_ids", knownvalue.Null())},
			},
		},
	})
	if n := env.CountRequests("PATCH", "/instances"); n != 0 {
		t.Errorf("%d PATCH requests, want none", n)
	}
}
