package instance_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestAccInstance_lostResponse(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// A repeated DELETE finds the instance still destroying, which is a conflict.
	env := acctest.Start(t, func(c *simulator.Config) { c.Boot = 2 * time.Minute })
	addFaults(t, env,
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "after", Times: 1},
		simulator.Fault{Method: "DELETE", Path: "/instances/{id}", Drop: "after", Times: 1},
	)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(configByOffer()),
			Check:  func(*terraform.State) error { return env.Left("instances?status=all", 1) },
		}},
		CheckDestroy: checkDestroyed(env),
	})
	if n := env.CountRequests("POST", "/instances"); n != 2 {
		t.Errorf("%d requests to rent, want the lost one and its repetition", n)
	}
}

func TestAccInstance_unavailableAPI(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// Without retries, the resource receives the errors.
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors"))
	same := statecheck.CompareValue(compare.ValuesSame())
	sameID := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				// While it boots.
				PreConfig: func() {
					addFaults(
						t,
						env,
						simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 503, Times: 2},
						simulator.Fault{Method: "GET", Path: "/instances/{id}", Drop: "before", Times: 1},
					)
				},
				Config:            configWithoutRetries(env, configByOffer()),
				ConfigStateChecks: []statecheck.StateCheck{sameID(), attributeIs("status", knownvalue.StringExact("running"))},
			},
			{
				// A refresh fails, and the instance stays in the state.
				PreConfig: func() {
					addFaults(t, env, simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 500, Times: 1})
				},
				Config:      configWithoutRetries(env, configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)Cannot read instance.*Run\s+again\s+later`),
			},
			{
				Config:            configWithoutRetries(env, configByOffer()),
				ConfigPlanChecks:  acctest.Unchanged(),
				ConfigStateChecks: []statecheck.StateCheck{sameID()},
			},
			{
				// During the destruction.
				PreConfig: func() {
					addFaults(t, env, simulator.Fault{Method: "DELETE", Path: "/instances/{id}", Drop: "after", Times: 1})
				},
				Config:  env.Config(configByOffer()),
				Destroy: true,
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_createTimeout(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the status creating, which an unknown one replaces at random.
	env := acctest.Start(t, bootInOneHour, acctest.WithoutQuirks("unknown-enums"))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      env.Config(configByOffer(`timeouts = { create = "100ms" }`)),
				ExpectError: regexp.MustCompile(`(?s)is not ready yet.*status "creating".*untaint\s+ADDRESS`),
			},
			{
				Config:             env.Config(configByOffer(`timeouts = { create = "100ms" }`)),
				PlanOnly:           true,
				ExpectNonEmptyPlan: true,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PostApplyPreRefresh: []plancheck.PlanCheck{expectAction(plancheck.ResourceActionDestroyBeforeCreate)},
				},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_keepOnTimeout(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the status creating, which an unknown one replaces at random, and the SSH address of one refresh.
	env := acctest.Start(t, bootInOneHour, acctest.WithoutQuirks("unknown-enums", "optional-fields-absent"))
	same := statecheck.CompareValue(compare.ValuesSame())
	sameID := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	config := env.Config(configByOffer(`keep_on_timeout = true`, `timeouts = { create = "100ms" }`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("status", knownvalue.StringExact("creating")),
					attributeIs("ssh", knownvalue.Null()),
				},
				ExpectNonEmptyPlan: true,
			},
			{
				PreConfig: func() { env.Advance(2 * time.Hour) },
				Config:    config,
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("status", knownvalue.StringExact("running")),
					attributeIs("ssh", knownvalue.NotNull()),
				},
			},
		},
	})
	if n := env.CountRequests("POST", "/instances"); n != 1 {
		t.Errorf("%d POST requests, want only the create request", n)
	}
}

func TestAccInstance_failedBoot(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers")) // the second step needs another offer
	err := env.SetOffer(env.CheapestOffer("rtx_4090", "on_demand").ID, simulator.OfferPatch{FailBoots: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)cannot be used.*next\s+apply\s+replaces.*status "failed".*end of its log`),
			},
			{
				Config:            env.Config(configByOffer()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("running"))},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// If a host goes offline, the instance stops without a request of the user. Meanwhile an apply reports it and changes
// nothing. When the host is online again, the next apply starts the instance.
func TestAccInstance_hostOffline(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand").ID
	online := func(there bool) func() {
		return func() {
			if err := env.SetOffer(offer, simulator.OfferPatch{Online: &there}); err != nil {
				t.Error(err)
			}
		}
	}
	config := env.Config(resourceBlock(fmt.Sprintf("%q", offer)))
	same := statecheck.CompareValue(compare.ValuesSame())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
			{
				PreConfig:   online(false),
				Config:      config,
				ExpectError: regexp.MustCompile(`(?s)Cannot start instance.*host.*offline`),
			},
			{
				PreConfig:        online(true),
				Config:           config,
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("status", knownvalue.StringExact("running")), attributeIs("stop_reason", knownvalue.Null()),
					same.AddStateValue(address, tfjsonpath.New("id")),
				},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_destroyedWhileCreating(t *testing.T) {
	acctest.FirstCLIOnly(t)
	var env *acctest.Env
	destroyed := "destroyed"
	env = acctest.Start(t, onFirstGet(func(id string) {
		if err := env.SetInstance(id, simulator.InstancePatch{Status: &destroyed, DesiredState: &destroyed}); err != nil {
			t.Error(err)
		}
	}))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      env.Config(configByOffer()),
				ExpectError: regexp.MustCompile(`(?s)no longer exists.*the\s+apply\s+creates\s+another`),
			},
			{
				Config:            env.Config(configByOffer()),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("running"))},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
