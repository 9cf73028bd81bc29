package instance_test

import (
	"fmt"
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
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// sameID returns a check that the instance has the same id in every step.
func sameID() func() statecheck.StateCheck {
	same := statecheck.CompareValue(compare.ValuesSame())
	return func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
}

// noSSH is the attribute ssh of an instance without an address.
var noSSH = knownvalue.ObjectExact(map[string]knownvalue.Check{
	"host": knownvalue.Null(), "port": knownvalue.Null(), "user": knownvalue.Null(), "command": knownvalue.Null(),
})

func TestAccInstance_basic(t *testing.T) {
	// The test asserts the GPU of the offer, documented values and optional fields, and counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks(
		"other-gpu", "optional-fields-absent", "unknown-enums", "status-after-work", "gateway-errors"))
	same := sameID()
	text := knownvalue.StringExact
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("resources/gpurent_instance/resource.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					same(),
					attributeIs("status", text("running")),
					attributeIs("desired_state", text("running")),
					attributeIs("ssh", knownvalue.ObjectPartial(
						map[string]knownvalue.Check{"command": knownvalue.StringRegexp(regexp.MustCompile("^ssh "))})),
					attributeIs("gpu", knownvalue.ObjectPartial(
						map[string]knownvalue.Check{"slug": text("rtx_4090"), "count": knownvalue.Int64Exact(1)})),
					attributeIs("started_at", knownvalue.NotNull()),
					attributeIs("stop_reason", knownvalue.Null()),
				},
			},
			{Config: env.Example("resources/gpurent_instance/resource.tf"), ConfigPlanChecks: acctest.Unchanged()},
			{
				Config:           env.Config(configByOffer(`name = "renamed"`, `desired_state = "stopped"`)),
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					same(),
					attributeIs("name", text("renamed")),
					attributeIs("status", text("stopped")),
					attributeIs("stop_reason", text("user")),
					attributeIs("ssh", noSSH),
				},
			},
			{
				Config: env.Config(configByOffer()),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate,
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("ssh")),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("price"))),
				ConfigStateChecks: []statecheck.StateCheck{
					same(),
					attributeIs("name", knownvalue.Null()),
					attributeIs("status", text("running")),
					attributeIs("ssh", knownvalue.NotNull()),
				},
			},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true,
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

// The examples of the page work as they are, and plan no change afterwards. One has a provisioner, for which the
// simulator has no SSH server.
func TestAccInstance_examples(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for example, planOnly := range map[string]bool{
		"resources/gpurent_instance/resource-interruptible.tf": false,
		"resources/gpurent_instance/resource-image.tf":         false,
		"resources/gpurent_instance/resource-provisioner.tf":   true,
	} {
		t.Run(filepath.Base(example), func(t *testing.T) {
			env := acctest.Start(t)
			config := env.Example(example)
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps:                    []resource.TestStep{{Config: config, PlanOnly: planOnly, ExpectNonEmptyPlan: planOnly}},
			})
		})
	}
}

// Instances that never get an SSH address, because of their template or their desired state, are complete. An output
// that refers to their address is null, and does not prevent the plan or the destruction.
func TestAccInstance_withoutSSH(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	config := env.Config(strings.Replace(configByQuery(`{}`), `"pytorch"`, `"vllm"`, 1),
		strings.Replace(configByQuery(`{}`, `desired_state = "stopped"`), `"trainer"`, `"stopped"`, 1),
		"output \"host\" {\n  value = gpurent_instance.trainer.ssh.host\n}\n")
	status := knownvalue.StringExact("stopped")
	stopped := statecheck.ExpectKnownValue("gpurent_instance.stopped", tfjsonpath.New("status"), status)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: append(statusIs("running"), attributeIs("ssh", noSSH), stopped)},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// Errors of a creation name the cause and the next step. Those at plan come before an apply creates a part of the
// resources.
func TestAccInstance_createErrors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	reader := env.Secret(`{"name":"reader","scopes":["instances:read"]}`)
	wrong := env.ProviderWithKey(rentaltest.Key)
	account := func(patch simulator.AccountPatch) func() { return func() { must(t, env.SetAccount(patch)) } }
	fails := func(config, message string, before func()) resource.TestStep {
		return resource.TestStep{PreConfig: before, Config: config, ExpectError: regexp.MustCompile(message)}
	}
	plans := func(config, message string) resource.TestStep {
		return resource.TestStep{Config: config, PlanOnly: true, ExpectError: regexp.MustCompile(message)}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			plans(wrong+configByOffer(),
				`(?s)API key rejected.*Cannot (read|check).*comes\s+from\s+the\s+provider\s+argument\s+api_key`),
			plans(env.Config(strings.Replace(configByOffer(), "pytorch", "no-such", 1)), `No such template`),
			plans(env.Config(configByOffer(`max_price_kop_h = 1`)), `(?s)Offer price above max_price_kop_h.*per\s+month`),
			fails(env.Config(configByOffer()), `(?s)Missing:.*₽.*Top up`,
				account(simulator.AccountPatch{BalanceKop: new(int64(100))})),
			fails(env.Config(resourceBlock(`offer_id = "off_gone"`)),
				`(?s)Offer\s+off_gone\s+is\s+not\s+available.\s+Nothing\s+was\s+rented`,
				account(simulator.AccountPatch{BalanceKop: new(int64(10_000_000))})),
			fails(env.ProviderWithKey(reader)+configByOffer(), `lacks\s+the\s+scope\s+instances:write`, nil),
			fails(env.Config(configByOffer()), `(?s)limit\s+of\s+the\s+account.*destroy\s+an\s+instance`,
				account(simulator.AccountPatch{MaxInstances: new(int64(0))})),
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_drift(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	var id string
	becomes := func(status, desired string) func() { return func() { setStatus(t, env, id, status, desired) } }
	running := append(statusIs("running"), attributeIs("desired_state", knownvalue.StringExact("running")))
	config := env.Config(configByOffer())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, Check: acctest.RememberID(address, &id)},
			{
				// Stopped in the console.
				PreConfig: becomes("stopped", "stopped"), Config: config,
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: running,
			},
			{
				// The boot failed, so only a replacement reaches the desired state.
				PreConfig: becomes("failed", "running"), Config: config,
				ConfigPlanChecks: planned(plancheck.ResourceActionDestroyBeforeCreate), ConfigStateChecks: running,
				Check: acctest.RememberID(address, &id),
			},
			{
				// Destroyed in the console.
				PreConfig: becomes("destroyed", "destroyed"), Config: config,
				ConfigPlanChecks: planned(plancheck.ResourceActionCreate), ConfigStateChecks: running,
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_outbid(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test outbids the instance itself.
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start"))
	offer := env.CheapestOffer("rtx_4090", "interruptible")
	bid := *offer.Price.InterruptibleKopH
	config := func(arguments ...string) string {
		arguments = append(arguments, fmt.Sprintf("offer_id = %q", offer.ID), `type = "interruptible"`)
		return env.Config(resourceBlock(arguments...))
	}
	outbid := func(price int64) func() {
		return func() { must(t, env.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: &price})) }
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config()},
			{PreConfig: outbid(bid + 100), Config: config(`on_outbid = "keep"`), ConfigStateChecks: statusIs("outbid")},
			{
				Config:      config(fmt.Sprintf("max_price_kop_h = %d", bid)),
				ExpectError: regexp.MustCompile(`costs\s+more\s+than\s+a\s+limit`),
			},
			{
				Config:           config(fmt.Sprintf("max_price_kop_h = %d", bid+100)),
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: statusIs("running"),
			},
			{
				// The offer of the instance may not be available again right after its destruction.
				PreConfig:        outbid(bid + 200),
				Config:           env.Config(configByQuery(`{}`, `type = "interruptible"`, `on_outbid = "replace"`)),
				ConfigPlanChecks: planned(plancheck.ResourceActionDestroyBeforeCreate),
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// With keep_on_timeout, the next apply waits for the same instance; otherwise it replaces the instance.
func TestAccInstance_createTimeout(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the status creating, which an unknown one replaces at random, and the SSH address of one refresh.
	slowBoot := func(c *simulator.Config) { c.Boot = time.Hour }
	env := acctest.Start(t, slowBoot, acctest.WithoutQuirks("unknown-enums", "optional-fields-absent"))
	same := sameID()
	kept := env.Config(configByOffer(`keep_on_timeout = true`, `timeouts = { create = "100ms" }`))
	tainted := env.Config(configByOffer(`timeouts = { create = "100ms" }`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:             kept,
				ConfigStateChecks:  append(statusIs("creating"), same(), attributeIs("ssh", noSSH)),
				ExpectNonEmptyPlan: true,
			},
			{
				PreConfig:         func() { env.Advance(2 * time.Hour) },
				Config:            kept,
				ConfigStateChecks: append(statusIs("running"), same(), attributeIs("ssh", knownvalue.NotNull())),
			},
			{Config: env.Provider()},
			{
				Config:      tainted,
				ExpectError: regexp.MustCompile(`(?s)is not ready yet.*untaint\s+ADDRESS.*status "creating"`),
			},
			{
				Config: tainted, PlanOnly: true, ExpectNonEmptyPlan: true,
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionDestroyBeforeCreate),
				}},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
	if n := env.CountRequests("POST", "/instances"); n != 2 {
		t.Errorf("%d POST requests, want only the create requests", n)
	}
}

// One creation rents one server, whatever happens to its requests. Later failures keep it in the state.
func TestAccInstance_unavailableAPI(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// Without retries, the resource receives the errors.
	slowBoot := func(c *simulator.Config) { c.Boot = 2 * time.Minute }
	env := acctest.Start(t, slowBoot, acctest.WithoutQuirks("gateway-errors", "status-after-work"))
	same := sameID()
	faults := func(all ...simulator.Fault) func() {
		return func() {
			for _, fault := range all {
				must(t, env.AddFault(fault))
			}
		}
	}
	const rent, get = "/instances", "/instances/{id}"
	config := configWithoutRetries(env, configByOffer())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				PreConfig: faults(
					simulator.Fault{Method: "POST", Path: rent, Drop: "after", Times: 1},
					simulator.Fault{Method: "POST", Path: rent, Drop: "before", Times: 3},
					simulator.Fault{Method: "POST", Path: rent, Status: 500, Times: 3},
					simulator.Fault{Method: "GET", Path: get, Status: 503, Times: 2},
					simulator.Fault{Method: "GET", Path: get, Drop: "before", Times: 1},
				),
				Config:            config,
				ConfigStateChecks: append(statusIs("running"), same(), attributeIs("rented_offer_id", knownvalue.NotNull())),
			},
			{
				// A refresh fails, and the instance stays in the state.
				PreConfig:   faults(simulator.Fault{Method: "GET", Path: get, Status: 500, Times: 1}),
				Config:      config,
				ExpectError: regexp.MustCompile(`(?s)Cannot read instance.*Run\s+again\s+later`),
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged(), ConfigStateChecks: []statecheck.StateCheck{same()}},
			{
				PreConfig: faults(simulator.Fault{Method: "DELETE", Path: get, Drop: "after", Times: 1}),
				Config:    env.Config(configByOffer()), Destroy: true,
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error("of all that were ever rented:", err)
	}
}

// The key of an instance without idempotency_key derives from the prefix and its name. A run that lost the
// instance recovers it, and a replacement gets another one.
func TestAccInstance_idempotencyPrefix(t *testing.T) {
	env := acctest.Start(t)
	env.AddSSHKey()
	const prefix = `idempotency_prefix = "team-"`
	config := env.Provider(prefix) + configByQuery(`{}`, `name = "trainer"`)
	// Removes the instance from the state, like a kill before the state is saved.
	forget := env.Provider(prefix) + "removed {\n  from = " + address + "\n  lifecycle {\n    destroy = false\n  }\n}\n"
	larger := strings.Replace(config, "disk_gb  = 60", "disk_gb  = 70", 1)
	same, other := sameID(), statecheck.CompareValue(compare.ValuesDiffer())
	otherID := func() statecheck.StateCheck { return other.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{same()}},
			{Config: forget},
			{
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{same(), otherID(), attributeIs("matched_query", knownvalue.Null())},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
			{Config: larger, ConfigStateChecks: []statecheck.StateCheck{otherID()}},
			{Config: larger, ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
