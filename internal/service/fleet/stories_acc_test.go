package fleet_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// test runs steps, and checks that nothing is left at the end.
func test(t *testing.T, env *acctest.Env, steps ...resource.TestStep) {
	t.Helper()
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             func(*terraform.State) error { return env.NothingLeft("instances") },
		Steps:                    steps,
	})
}

// remembered holds the ids of the members of the last step, by slot.
type remembered map[string]string

func (r *remembered) remember(s *terraform.State) error {
	*r = slots(s)
	return nil
}

// changed checks that exactly these slots have another instance than before.
func (r *remembered) changed(want ...string) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		var changed []string
		now := slots(s)
		for _, slot := range []string{"0", "1", "2", "3", "4", "5"} {
			if now[slot] != (*r)[slot] {
				changed = append(changed, slot)
			}
		}
		if strings.Join(changed, " ") != strings.Join(want, " ") {
			return fmt.Errorf("the slots %v changed, want %v", changed, want)
		}
		return r.remember(s)
	}
}

// A failed and a lost member are replaced, and a stopped one is started. The plan names them and the reason.
func TestAccFleet_heals(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers())
	w := env.Workspace(env.Config(config(4)))
	w.Run("apply", "-auto-approve")
	before := members(w)
	status(t, env, before["1"], "failed")
	env.Delete("instances/" + before["2"])
	env.Post("instances/"+before["3"]+"/stop", "")
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "Fleet train changes existing members",
		"): replaced, because its status is failed", "slot 2: ", "slot 3: start", "!slot 0: ")
	now := members(w)
	if kept(before, now) != 2 || now["0"] != before["0"] || now["3"] != before["3"] || len(now) != 4 {
		t.Errorf("%v, before %v", now, before)
	}
	w.Run("plan", "-detailed-exitcode")
	w.Run("destroy", "-auto-approve")
}

// on_outbid determines what happens to an outbid member.
func TestAccFleet_onOutbid(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start"))
	var before remembered
	outbid := func() { status(t, env, before["0"], "outbid") }
	spot := func(policy string, arguments ...string) string {
		arguments = append(arguments, `type = "interruptible"`, fmt.Sprintf("on_outbid = %q", policy))
		return env.Config(config(2, arguments...))
	}
	test(t, env,
		resource.TestStep{Config: spot("restart"), Check: before.remember},
		resource.TestStep{PreConfig: outbid, Config: spot("keep"), Check: resource.ComposeTestCheckFunc(
			before.changed(), resource.TestCheckResourceAttr(address, "instances.0.status", "outbid"),
		)},
		resource.TestStep{Config: spot("keep", `desired_state = "stopped"`), Check: before.changed()}, // then: no changes
		resource.TestStep{Config: spot("restart"), Check: resource.ComposeTestCheckFunc(
			before.changed(), resource.TestCheckResourceAttr(address, "instances.0.status", "running"),
		)},
		resource.TestStep{PreConfig: outbid, Config: spot("replace"), Check: before.changed("0")},
	)
}

// All or nothing: with capacity for 7 of 8, nothing is left. With wait_for_offer, the apply waits for the eighth.
func TestAccFleet_allOrNothing(t *testing.T) {
	p := new(acctest.Proxy)
	env := acctest.Start(t, p.Option())
	withheld := limitOffers(t, env, 7)
	var lists atomic.Int64
	release := acctest.Request("GET", "/offers").Do(acctest.Before(func(*http.Request) {
		if lists.Add(1) == 4 { // while the apply waits
			available(t, env, true, withheld[0])
		}
	}))
	all := `allocation = "all"`
	test(t, env,
		resource.TestStep{
			Config: env.Config(config(8, all)),
			ExpectError: regexp.MustCompile(`slots\s+0,\s+1.*7:\s+` +
				`Offers\s+needed:\s+8\.\s+Matching\s+the\s+query:\s+7\.`),
		},
		resource.TestStep{
			PreConfig: func() {
				if err := env.NothingLeft("instances"); err != nil {
					t.Fatal(err)
				}
				p.Set(release)
			},
			Config: env.Config(config(8, all, `wait_for_offer = "1m"`)),
			Check:  resource.TestCheckResourceAttr(address, "ready", "8"),
		},
	)
}

// With min_ready = 0, a creation that rents nothing succeeds, and the next plan contains all members.
func TestAccFleet_minReadyZero(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test counts the messages of each run.
	env := acctest.Start(t, acctest.WithoutQuirks("all"))
	env.AddSSHKey()
	withheld := limitOffers(t, env, 0)
	w := env.Workspace(env.Provider() + plain(2, 20, "min_ready = 0"))
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "Warning: Fleet train is not complete",
		"0 of 2 members are ready", "The next apply continues")
	contains(t, w.Run("plan", "-no-color"), "0 to add, 1 to change, 0 to destroy")
	available(t, env, true, withheld...)
	w.Run("apply", "-auto-approve")
	if now := members(w); len(now) != 2 {
		t.Errorf("members %v, want 2", now)
	}
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Run("destroy", "-auto-approve")
}

// desired_state stops and starts all members in place.
func TestAccFleet_stopsAndStarts(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers())
	var before remembered
	test(t, env,
		resource.TestStep{Config: env.Config(config(2)), Check: before.remember},
		resource.TestStep{
			Config: env.Config(config(2, `desired_state = "stopped"`)),
			Check: resource.ComposeTestCheckFunc(before.changed(),
				resource.TestCheckResourceAttr(address, "instances.0.status", "stopped"),
				resource.TestCheckResourceAttr(address, "ready", "2"),
				resource.TestCheckResourceAttr(address, "hosts.#", "0")),
		},
		resource.TestStep{Config: env.Config(config(2, `desired_state = "stopped"`)), ConfigPlanChecks: acctest.Unchanged()},
		resource.TestStep{
			Config: env.Config(config(2)),
			Check: resource.ComposeTestCheckFunc(before.changed(),
				resource.TestCheckResourceAttr(address, "instances.1.status", "running")),
		},
	)
}

// A change to the arguments of the members replaces the fleet, or with update = "rolling" its members in place.
func TestAccFleet_update(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers())
	var before remembered
	larger := func(arguments ...string) string {
		return env.Config(strings.ReplaceAll(config(3, arguments...), "disk_gb       = 20", "disk_gb       = 30"))
	}
	rolling := []string{`update = "rolling"`, "max_unavailable = 2", "min_ready = 3"}
	test(t, env,
		resource.TestStep{Config: env.Config(config(3, rolling...)), Check: before.remember},
		resource.TestStep{
			Config:           larger(rolling...),
			ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
			Check:            before.changed("0", "1", "2"),
		},
		resource.TestStep{Config: larger(rolling...), ConfigPlanChecks: acctest.Unchanged()},
		resource.TestStep{Config: larger(), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
			Check: before.changed()},
		resource.TestStep{
			Config:           env.Config(config(3)),
			ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionReplace),
			Check:            before.changed("0", "1", "2"),
		},
	)
}

// Policies, queries and SSH keys change in place, without a request that writes.
func TestAccFleet_changesInPlace(t *testing.T) {
	env := acctest.Start(t)
	var before remembered
	test(t, env,
		resource.TestStep{Config: env.Config(config(2)), Check: before.remember},
		resource.TestStep{
			PreConfig: env.ClearRequests,
			Config: env.Config(strings.ReplaceAll(config(2,
				`on_outbid = "keep"`, `allocation = "all"`, "min_ready = 1", "ssh_key_ids = []",
				`same = ["country", "gpu"]`, "max_price_kop_h = 1000000", `wait_for_offer = "5m"`,
				`timeouts = { create = "1h", update = "1h", delete = "1h" }`, "ready_when = { ssh_reachable = false }",
			), `"rtx_4090"`, `"rtx_3090"`)),
			ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
			Check: resource.ComposeTestCheckFunc(before.changed(), func(*terraform.State) error {
				for _, request := range env.Requests() {
					if request.Method != "GET" {
						return fmt.Errorf("%s %s", request.Method, request.Path)
					}
				}
				return nil
			}),
		},
		resource.TestStep{
			Config:      env.Config(config(2, `image = "foo/bar:1"`)),
			ExpectError: regexp.MustCompile("Image differs from the template"),
		},
		resource.TestStep{
			Config:      env.Config(config(2, `image = "foo/bar:1"`, `update = "rolling"`)),
			ExpectError: regexp.MustCompile("Image differs from the template"),
		},
	)
}

// A plan compares a fleet with all its members with the limits of the provider.
func TestAccFleet_spendingLimits(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours"))
	limited := env.Provider("spending = { max_burn_kop_h = 12000 }")
	test(t, env, resource.TestStep{
		Config:      limited + config(20),
		ExpectError: regexp.MustCompile(`(?s)Burn rate would exceed max_burn_kop_h.*Nothing\s+was\s+rented\s+or\s+started`),
	}, resource.TestStep{Config: limited + config(1)})
	for _, request := range env.Requests() {
		probe := request.Status == 404 // a destruction requests the keys of free slots
		if request.Method == "POST" && request.Status >= 400 && !probe {
			t.Errorf("%s %s: %d", request.Method, request.Path, request.Status)
		}
	}
}

func TestAccFleet_refusesInvalidArguments(t *testing.T) {
	env := acctest.Start(t)
	other := func(before, now string) string { return strings.Replace(config(1), before, now, 1) }
	env.Refuses(t, [][2]string{
		{other(`name          = "train"`, `name = "-x"`), "must consist of the letters a to z"},
		{other(`name          = "train"`, `name = "обучение"`), "must consist of the letters a to z"},
		{other(`name          = "train"`, `name = "`+strings.Repeat("x", 41)+`"`), "between 1 and 40"},
		{other("size          = 1", "size = -1"), "between 0 and 5000"},
		{other("disk_gb       = 20", "disk_gb = 5"), "between 10 and 2000"},
		{other(`[{ gpu = ["rtx_4090"] }, {}]`, "[]"), "must contain at least 1 elements"},
		{config(2, "min_ready = 3"), "must be at most sum of size"},
		{config(2, `same = ["region"]`), "must be one of"},
		{config(2, `allocation = "some"`), "must be one of"},
		{config(2, "max_unavailable = 0"), "at least 1"},
		{other(`{}]`, "null]"), "contains a null value"},
		{config(2, `wait_for_offer = "soon"`), "duration above zero"},
		{config(2, `timeouts = { create = "-5m" }`), "duration above zero"},
		{config(2, `ready_when = { log_pattern = "(" }`), "regular expression"},
	})
}

func TestAccFleet_needsScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "user:read", `(?s)lacks\s+the\s+scope\s+instances:`, config(1))
}

// A fleet is imported by its id or its name, and its members are found by theirs.
func TestAccFleet_import(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent"))
	test(t, env,
		resource.TestStep{Config: env.Config(config(2))},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{
				"offer_queries", "instances.0.offer_id", "instances.1.offer_id", "instances.0.generation", "instances.1.generation",
				"offer_queries.#", "offer_queries.0.%", "offer_queries.1.%",
			},
		},
		resource.TestStep{
			Config: env.Config(config(2)), ResourceName: address, ImportState: true, ImportStateId: "missing",
			ExpectError: regexp.MustCompile("Cannot import non-existent remote object"),
		},
	)
}

// Instances that have the names of members and that no state tracks are named in plans and stay, in slots of the fleet
// and above.
func TestAccFleet_othersWithNames(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "lagging-list"))
	w := env.Workspace(env.Config(config(1)))
	w.Run("apply", "-auto-approve")
	ids := map[string]string{}
	create := func(name string) {
		ids[name] = env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":20,"name":%q}`,
			env.Offers("")[0].ID, name))
		env.Advance(time.Minute)
	}
	create("train-5")
	w.Run("apply", "-refresh-only", "-auto-approve")
	env.Delete("instances/" + ids["train-5"])
	env.Advance(time.Minute)
	w.Run("plan", "-detailed-exitcode")
	create("train-0")
	create("train-4")
	for _, step := range []struct{ command, plan string }{
		{"plan -detailed-exitcode", "No changes."},
		{"plan -destroy", "1 to destroy"},
		{"destroy -auto-approve", "1 destroyed"},
	} {
		contains(t, w.Run(append(strings.Fields(step.command), "-no-color")...), step.plan,
			"Instances have the names of members of fleet train", ids["train-0"], ids["train-4"])
	}
	if err := env.Left("instances", 2); err != nil {
		t.Error(err)
	}
}
