package instance_test

import (
	"fmt"
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

const address = "gpurent_instance.trainer"

// server is a configuration of one server with the given further arguments.
func server(arguments ...string) string {
	return offers("") + instanceBlock("data.gpurent_offers.test.ids[0]", arguments...)
}

func offers(filter string) string {
	return fmt.Sprintf("data \"gpurent_offers\" \"test\" {\n  gpu = [\"rtx_4090\"]\n  num_gpus = [1]\n  %s\n}\n", filter)
}

func instanceBlock(offer string, arguments ...string) string {
	return fmt.Sprintf("resource \"gpurent_instance\" \"trainer\" {\n  offer_id = %s\n  template = \"pytorch\"\n  disk_gb  = 60\n  %s\n}\n",
		offer, strings.Join(arguments, "\n  "))
}

func at(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(path), value)
}

func planned(action plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, action)
}

func TestAccInstance_rentsStopsStartsAndImports(t *testing.T) {
	// The test asserts the GPU of the offer, documented values and fields that may be absent, and counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("other-gpu", "optional-fields-absent", "unknown-enums", "status-after-work", "gateway-errors"))
	same := statecheck.CompareValue(compare.ValuesSame())
	sameServer := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("resources/gpurent_instance/resource.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					sameServer(),
					at("status", knownvalue.StringExact("running")),
					at("desired_state", knownvalue.StringExact("running")),
					at("ssh", knownvalue.ObjectPartial(map[string]knownvalue.Check{"command": knownvalue.StringRegexp(regexp.MustCompile("^ssh "))})),
					at("gpu", knownvalue.ObjectPartial(map[string]knownvalue.Check{"slug": knownvalue.StringExact("rtx_4090"), "count": knownvalue.Int64Exact(1)})),
					at("started_at", knownvalue.NotNull()),
					at("stop_reason", knownvalue.Null()),
				},
			},
			{
				Config:           env.Example("resources/gpurent_instance/resource.tf"),
				ConfigPlanChecks: acctest.Unchanged(),
			},
			{
				Config:           env.Config(server(`name = "renamed"`, `desired_state = "stopped"`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					sameServer(),
					at("name", knownvalue.StringExact("renamed")),
					at("status", knownvalue.StringExact("stopped")),
					at("stop_reason", knownvalue.StringExact("user")),
					at("ssh", knownvalue.Null()),
				},
			},
			{
				Config: env.Config(server()),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					planned(plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("ssh")),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("price")),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					sameServer(),
					at("name", knownvalue.Null()),
					at("status", knownvalue.StringExact("running")),
					at("ssh", knownvalue.NotNull()),
				},
			},
			{
				ResourceName:            address,
				ImportState:             true,
				ImportStateVerify:       true,
				ImportStateVerifyIgnore: []string{"offer_id", "offer_query", "rented_offer_id", "quoted_kop_h"},
			},
		},
		CheckDestroy: nothingLeft(env),
	})
	if n := env.CountRequests("POST", "/instances"); n != 3 {
		t.Errorf("%d POST requests, want one creation, one stop, one start", n)
	}
}

func TestAccInstance_anOfferIsAQuoteNotAnIdentity(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(server())},
			{Config: env.Config(offers(`order = "-price"`) + instanceBlock("data.gpurent_offers.test.ids[0]")), ConfigPlanChecks: acctest.Unchanged()},
			{Config: env.Config(instanceBlock(`"off_gone"`)), ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

// What the service cannot tell is taken over from the configuration after an
// import, without a request and without touching the server.
func TestAccInstance_importAdoptsWhatTheServiceCannotTell(t *testing.T) {
	for name, test := range map[string]struct {
		config func(offer string) string
		adopts map[string]knownvalue.Check
	}{
		"an offer": {
			func(offer string) string { return instanceBlock(fmt.Sprintf("%q", offer)) },
			map[string]knownvalue.Check{"offer_id": knownvalue.NotNull(), "on_outbid": knownvalue.StringExact("restart")},
		},
		"a query, a key and SSH keys": {
			func(string) string {
				return queried(`{ gpu = ["rtx_4090"] }`, `idempotency_key = "k"`, `ssh_key_ids = []`, `replace_on = ["offer_query", "ssh_key_ids"]`)
			},
			map[string]knownvalue.Check{
				"offer_query": knownvalue.NotNull(), "idempotency_key": knownvalue.StringExact("k"), "ssh_key_ids": knownvalue.SetSizeExact(0),
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
			checks := []statecheck.StateCheck{at("id", knownvalue.StringExact(id))}
			for attribute, want := range test.adopts {
				checks = append(checks, at(attribute, want))
			}
			resource.ParallelTest(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps: []resource.TestStep{
					{
						Config: config,
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							planned(plancheck.ResourceActionUpdate),
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

func TestAccInstance_whatCannotChangeInPlaceReplaces(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	var steps []resource.TestStep
	steps = append(steps, resource.TestStep{Config: env.Config(server())})
	for _, change := range []func(string) string{
		func(c string) string { return strings.Replace(c, "= 60", "= 61", 1) },
		func(c string) string { return strings.Replace(c, `"pytorch"`, `"ubuntu"`, 1) },
		func(c string) string { return strings.Replace(c, "disk_gb", "type = \"interruptible\"\n  disk_gb", 1) },
		func(c string) string {
			return strings.Replace(c, `"pytorch"`, "\"custom\"\n  image = \"ubuntu:24.04\"", 1)
		},
	} {
		steps = append(steps, resource.TestStep{
			Config: env.Config(change(server())), PlanOnly: true, ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{planned(plancheck.ResourceActionDestroyBeforeCreate)}},
		})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

func TestAccInstance_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{strings.Replace(server(), "disk_gb  = 60", "disk_gb  = 9", 1), `between 10 and 2000`},
		{strings.Replace(server(), "disk_gb  = 60", "disk_gb  = 2001", 1), `between 10 and 2000`},
		{server(fmt.Sprintf("name = %q", strings.Repeat("я", 61))), `between 1 and 60`},
		{server(`desired_state = "paused"`), `value must be one of`},
		{server(`type = "spot"`), `value must be one of`},
		{server(`on_outbid = "cry"`), `value must be one of`},
		{server(`max_price_kop_h = 0`), `at least 1`},
		{server(`idempotency_key = "a\r\nX-Evil: 1"`), `printable\s+ASCII`},
		{server(`ssh_key_ids = ["1","2","3","4","5","6","7","8","9","10","11"]`), `at most 10`},
		{server(`timeouts = { create = "soon" }`), `[Dd]uration`},
	})
}

func TestAccInstance_refusalsSayWhatToDo(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	poor, rich := int64(100), int64(10_000_000)
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
			{PreConfig: account(simulator.AccountPatch{BalanceKop: &poor}), Config: env.Config(server()), ExpectError: regexp.MustCompile(`(?s)Missing:.*₽.*Top up`)},
			{PreConfig: account(simulator.AccountPatch{BalanceKop: &rich, EmailVerified: &no}), Config: env.Config(server()), ExpectError: regexp.MustCompile(`Confirm the account's e-mail`)},
			{PreConfig: account(simulator.AccountPatch{EmailVerified: &yes}), Config: env.Config(instanceBlock(`"off_gone"`)), ExpectError: regexp.MustCompile(`(?s)not_found.*Nothing\s+was\s+rented`)},
			{Config: env.ProviderWithKey(reader) + server(), ExpectError: regexp.MustCompile(`(?s)lacks\s+the\s+scope\s+instances:write.*Create\s+a\s+key`)},
			{PreConfig: account(simulator.AccountPatch{Blocked: &yes}), Config: env.Config(server()), ExpectError: regexp.MustCompile(`(?s)or\s+the\s+account\s+is\s+blocked.*contact\s+its\s+support`)},
			{PreConfig: account(simulator.AccountPatch{Blocked: &no, MaxInstances: new(int64(0))}), Config: env.Config(server()), ExpectError: regexp.MustCompile(`(?s)limit\s+of\s+the\s+account.*Destroy\s+an\s+instance`)},
			{
				PreConfig:   account(simulator.AccountPatch{MaxInstances: new(int64(20))}),
				Config:      strings.Replace(env.Config(server()), "= 60", "= 2000", 1),
				ExpectError: regexp.MustCompile(`(?s)Disk above the offer's maximum.*disk_gb\s+is\s+2000`),
			},
			{Config: env.Config(server(`max_price_kop_h = 1`)), ExpectError: regexp.MustCompile(`Offer price above max_price_kop_h`)},
			{
				// Someone else was quicker.
				PreConfig: func() {
					env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60}`, taken.ID))
				},
				Config:      env.Config(instanceBlock(fmt.Sprintf("%q", taken.ID))),
				ExpectError: regexp.MustCompile(`(?s)conflict.*Nothing\s+was\s+rented`),
			},
		},
	})
	if err := env.Left("instances", 1); err != nil {
		t.Error("besides the one of someone else:", err)
	}
}

// A key that the service does not know is told at plan: an apply would make half of what it needs before it found out.
func TestAccInstance_aWrongKeyIsToldAtPlan(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	complaint := regexp.MustCompile(`(?s)Cannot (read|check).*API\s+key\s+is\s+wrong`)
	wrong := env.ProviderWithKey("test" + strings.Repeat("0", 40))
	ownTemplate := "resource \"gpurent_template\" \"own\" {\n  name = \"Own\"\n  image = \"ubuntu:24.04\"\n}\n"
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: wrong + server(), PlanOnly: true, ExpectError: complaint},
			{Config: wrong + ownTemplate + strings.Replace(server(), `"pytorch"`, "gpurent_template.own.slug", 1), PlanOnly: true, ExpectError: complaint},
		},
	})
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("POST", "/templates"); n != 0 {
		t.Errorf("%d things were asked for", n)
	}
}
