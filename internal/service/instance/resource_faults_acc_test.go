package instance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
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

func fault(t *testing.T, env *acctest.Env, faults ...simulator.Fault) {
	t.Helper()
	for _, f := range faults {
		if err := env.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
}

// impatient fails where others would retry, so that faults reach the resource.
func impatient(env *acctest.Env, parts ...string) string {
	return strings.Replace(env.Config(parts...), "max_retries = 3", "max_retries = 0", 1)
}

func nothingLeft(env *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error { return env.NothingLeft("instances") }
}

func TestAccInstance_aLostAnswerRentsNoSecondServer(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// Slow enough that a repeated DELETE meets the server still destroying: a conflict.
	env := acctest.Start(t, func(c *simulator.Config) { c.Boot = 2 * time.Minute })
	fault(t, env,
		simulator.Fault{Method: "POST", Path: "/instances", Drop: "after", Times: 1},
		simulator.Fault{Method: "DELETE", Path: "/instances/{id}", Drop: "after", Times: 1},
	)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(server()),
			Check:  func(*terraform.State) error { return env.Left("instances?status=all", 1) },
		}},
		CheckDestroy: nothingLeft(env),
	})
	if n := env.CountRequests("POST", "/instances"); n != 2 {
		t.Errorf("%d requests to rent, want the lost one and its repetition", n)
	}
}

func TestAccInstance_anUnreachableServiceLosesNoServer(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// Without retries, further errors reach the resource.
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors"))
	same := statecheck.CompareValue(compare.ValuesSame())
	sameServer := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				// While it boots.
				PreConfig: func() {
					fault(t, env, simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 503, Times: 2}, simulator.Fault{Method: "GET", Path: "/instances/{id}", Drop: "before", Times: 1})
				},
				Config:            impatient(env, server()),
				ConfigStateChecks: []statecheck.StateCheck{sameServer(), at("status", knownvalue.StringExact("running"))},
			},
			{
				// At a refresh: an error, and the server stays in the state.
				PreConfig:   func() { fault(t, env, simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 500, Times: 1}) },
				Config:      impatient(env, server()),
				ExpectError: regexp.MustCompile(`(?s)Cannot read instance.*Run\s+again\s+later`),
			},
			{
				Config:            impatient(env, server()),
				ConfigPlanChecks:  acctest.Unchanged(),
				ConfigStateChecks: []statecheck.StateCheck{sameServer()},
			},
			{
				// At its destruction.
				PreConfig: func() {
					fault(t, env, simulator.Fault{Method: "DELETE", Path: "/instances/{id}", Drop: "after", Times: 1})
				},
				Config:  env.Config(server()),
				Destroy: true,
			},
		},
		CheckDestroy: nothingLeft(env),
	})
}

// slow makes servers boot in an hour of simulated time, which passes only when
// a test says so.
func slow(c *simulator.Config) { c.Boot = time.Hour }

func TestAccInstance_aTimeOutTaintsAndSaysHowToUntaint(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the status creating, which an unknown one replaces at random.
	env := acctest.Start(t, slow, acctest.WithoutQuirks("unknown-enums"))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      env.Config(server(`timeouts = { create = "100ms" }`)),
				ExpectError: regexp.MustCompile(`(?s)is not ready yet.*status "creating".*untaint\s+ADDRESS`),
			},
			{
				Config:             env.Config(server(`timeouts = { create = "100ms" }`)),
				PlanOnly:           true,
				ExpectNonEmptyPlan: true,
				ConfigPlanChecks:   resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{planned(plancheck.ResourceActionDestroyBeforeCreate)}},
			},
		},
		CheckDestroy: nothingLeft(env),
	})
}

func TestAccInstance_aKeptTimeOutIsResumed(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the status creating, which an unknown one replaces at random.
	env := acctest.Start(t, slow, acctest.WithoutQuirks("unknown-enums"))
	same := statecheck.CompareValue(compare.ValuesSame())
	sameServer := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	config := env.Config(server(`keep_on_timeout = true`, `timeouts = { create = "100ms" }`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:             config,
				ConfigStateChecks:  []statecheck.StateCheck{sameServer(), at("status", knownvalue.StringExact("creating")), at("ssh", knownvalue.Null())},
				ExpectNonEmptyPlan: true,
			},
			{
				PreConfig:         func() { env.Advance(2 * time.Hour) },
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{sameServer(), at("status", knownvalue.StringExact("running")), at("ssh", knownvalue.NotNull())},
			},
		},
	})
	if n := env.CountRequests("POST", "/instances"); n != 1 {
		t.Errorf("%d POST requests, want the one that rented", n)
	}
}

// onFirstLook does something when a server is first asked about by its id.
func onFirstLook(do func(id string)) acctest.Option {
	var done atomic.Bool
	looks := regexp.MustCompile(`^/api/v1/instances/([^/]+)$`)
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if found := looks.FindStringSubmatch(r.URL.Path); r.Method == http.MethodGet && found != nil && !done.Swap(true) {
				do(found[1])
			}
			next.ServeHTTP(w, r)
		})
	})
}

func TestAccInstance_aFailedBootIsReplaced(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	if err := env.SetOffer(env.CheapestOffer("rtx_4090", "on_demand").ID, simulator.OfferPatch{FailBoots: new(true)}); err != nil {
		t.Fatal(err)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(server()), ExpectError: regexp.MustCompile(`(?s)cannot be used.*next\s+apply\s+replaces.*status "failed".*end of its log`)},
			{
				Config:            env.Config(server()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("running"))},
			},
		},
		CheckDestroy: nothingLeft(env),
	})
}

// A host that vanishes takes the server down without its owner's doing. While it is away an apply says so and changes
// nothing; once it is back, the next apply starts the same server.
func TestAccInstance_aVanishedHostIsWaitedFor(t *testing.T) {
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
	config := env.Config(instanceBlock(fmt.Sprintf("%q", offer)))
	same := statecheck.CompareValue(compare.ValuesSame())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
			{PreConfig: online(false), Config: config, ExpectError: regexp.MustCompile(`(?s)Cannot start instance.*host.*offline`)},
			{
				PreConfig:        online(true),
				Config:           config,
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					at("status", knownvalue.StringExact("running")), at("stop_reason", knownvalue.Null()),
					same.AddStateValue(address, tfjsonpath.New("id")),
				},
			},
		},
		CheckDestroy: nothingLeft(env),
	})
}

func TestAccInstance_destroyedWhileItBoots(t *testing.T) {
	acctest.FirstCLIOnly(t)
	var env *acctest.Env
	destroyed := "destroyed"
	env = acctest.Start(t, onFirstLook(func(id string) {
		if err := env.SetInstance(id, simulator.InstancePatch{Status: &destroyed, DesiredState: &destroyed}); err != nil {
			t.Error(err)
		}
	}))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(server()), ExpectError: regexp.MustCompile(`(?s)no longer exists.*next\s+apply\s+creates\s+another`)},
			{Config: env.Config(server()), ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("running"))}},
		},
		CheckDestroy: nothingLeft(env),
	})
}

func TestAccInstance_aTemplateWithoutSSHIsReadyAllTheSame(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	config := env.Config(strings.Replace(server(), `"pytorch"`, `"vllm"`, 1))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("running")), at("ssh", knownvalue.Null())}},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

func TestAccInstance_isRentedStopped(t *testing.T) {
	env := acctest.Start(t)
	config := env.Config(server(`desired_state = "stopped"`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("stopped"))}},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

func TestAccInstance_sshKeysAreForCreationOnly(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	const key = "resource \"gpurent_ssh_key\" \"k\" {\n  public_key = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+\"\n}\n"
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(key, server(`ssh_key_ids = [gpurent_ssh_key.k.id]`))},
			{
				Config:           env.Config(key, server(`ssh_key_ids = []`)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionNoop),
			},
			{
				Config:            env.Config(key, server()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{at("ssh_key_ids", knownvalue.Null())},
			},
		},
	})
	if n := env.CountRequests("PATCH", "/instances"); n != 0 {
		t.Errorf("%d PATCH requests, want none", n)
	}
}
