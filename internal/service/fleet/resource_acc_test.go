package fleet_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const address = "gpurent_fleet.train"

// config returns a fleet with additional arguments.
func config(size int, arguments ...string) string {
	return fmt.Sprintf(`
resource "gpurent_fleet" "train" {
  name          = "train"
  size          = %d
  template      = "pytorch"
  disk_gb       = 20
  offer_queries = [{ gpu = ["rtx_4090"] }, {}]
  %s
}
`, size, strings.Join(arguments, "\n  "))
}

// A fleet grows, is imported, shrinks and stops, without changing the members that stay. After each step, the next plan
// has no changes.
func TestAccFleet_growImportShrinkStop(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers(), acctest.WithoutQuirks("optional-fields-absent"))
	updates := acctest.Planned(address, plancheck.ResourceActionUpdate)
	var before map[string]string
	stay := func(slots ...string) resource.TestCheckFunc {
		return func(s *terraform.State) error {
			now := slotsOf(s)
			stayed := slices.Sorted(maps.Keys(now))
			stayed = slices.DeleteFunc(stayed, func(slot string) bool { return now[slot] != before[slot] })
			if before = now; !slices.Equal(stayed, slots) {
				return fmt.Errorf("the slots %v have the same instance, want %v", stayed, slots)
			}
			return env.Left("instances", len(now))
		}
	}
	attribute := func(name, value string) resource.TestCheckFunc {
		return resource.TestCheckResourceAttr(address, name, value)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             func(*terraform.State) error { return env.NothingLeft("instances") },
		Steps: []resource.TestStep{
			{Config: env.Config(config(2)), Check: resource.ComposeTestCheckFunc(
				stay(), resource.TestMatchResourceAttr(address, "id", regexp.MustCompile(`^train/[a-z2-7]{16}$`)),
				attribute("ready", "2"), attribute("hosts.#", "2"), attribute("instances.%", "2"),
				attribute("instances.1.status", "running"), attribute("instances.1.generation", "1"),
			)},
			{Config: env.Config(config(3)), ConfigPlanChecks: updates, Check: stay("0", "1")},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{
				"offer_queries", "instances.0.offer_id", "instances.1.offer_id", "instances.2.offer_id",
				"instances.0.generation", "instances.1.generation", "instances.2.generation",
				"offer_queries.#", "offer_queries.0.%", "offer_queries.1.%",
			}},
			{
				Config: env.Config(config(1, `desired_state = "stopped"`)), ConfigPlanChecks: updates,
				Check: resource.ComposeTestCheckFunc(stay("0"), attribute("instances.0.status", "stopped"),
					attribute("ready", "1"), attribute("hosts.#", "0")),
			},
			{Config: env.Config(config(0)), Check: stay()},
		},
	})
}

// slotsOf returns the ids of the members by slot.
func slotsOf(s *terraform.State) map[string]string {
	ids := map[string]string{}
	for key, value := range s.RootModule().Resources[address].Primary.Attributes {
		parts := strings.Split(key, ".")
		if len(parts) == 3 && parts[0] == "instances" && parts[2] == "id" {
			ids[parts[1]] = value
		}
	}
	return ids
}

// The examples of the documentation can be applied, and the next plan has no changes.
func TestAccFleet_examples(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             func(*terraform.State) error { return env.NothingLeft("instances") },
		Steps: []resource.TestStep{{
			Config: env.Example("resources/gpurent_fleet/resource.tf", "resources/gpurent_fleet/resource-all.tf"),
		}},
	})
}

// startLimited starts a simulator, and returns a provider with a burn limit that is just enough for this many members.
func startLimited(t *testing.T, members int64) (env *acctest.Env, provider string) {
	t.Helper()
	// The tests count messages, and use a limit that is just enough.
	env = acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours", "other-gpu",
		"price-moves-on-create", "lagging-list", "optional-fields-absent"))
	env.AddSSHKey()
	return env, env.Provider(fmt.Sprintf("spending = { max_burn_kop_h = %d }", env.BurnOf(members)))
}

// members returns the ids of the members in the state by slot.
func members(w *acctest.Workspace) map[string]string {
	ids := map[string]string{}
	for _, state := range acctest.SavedIn[struct {
		Instances map[string]struct{ ID string }
	}](w, "gpurent_fleet") {
		for slot, member := range state.Attributes.Instances {
			ids[slot] = member.ID
		}
	}
	return ids
}

// -replace, a changed argument and a taint replace all members, within a limit that allows the fleet only once. A
// replacement that would fail destroys nothing, and shows one error. With a moved block, all members stay.
func TestAccFleet_replacedAndMoved(t *testing.T) {
	t.Parallel()
	const only = `offer_queries = [{ gpu = ["rtx_4090"], num_gpus = [1] }]`
	env, provider := startLimited(t, 2)
	fleet := func(diskGB string) string {
		return provider + strings.NewReplacer("= 20", "= "+diskGB, `offer_queries = [{ gpu = ["rtx_4090"] }, {}]`, only).
			Replace(config(2))
	}
	w := env.Workspace(fleet("20"))
	w.Run("apply", "-auto-approve")
	for _, replacement := range []struct{ diskGB, argument string }{{"20", "-replace=" + address}, {"30", "-refresh"}} {
		before := members(w)
		w.Configure(fleet(replacement.diskGB))
		contains(t, w.Run("apply", "-auto-approve", "-no-color", replacement.argument), "1 added, 0 changed, 1 destroyed",
			"!Instances have the names of members", "!Warning: Fleet", "!Warning: Inst")
		if now := members(w); len(now) != 2 || now["0"] == before["0"] || now["1"] == before["1"] {
			t.Errorf("%v, before %v", now, before)
		}
	}
	before := members(w)
	withheld := limitOffers(t, env, 0)
	env.Advance(2 * time.Minute)
	for _, replacement := range []struct{ diskGB, argument string }{{"30", "-replace=" + address}, {"40", "-refresh"}} {
		w.Configure(fleet(replacement.diskGB))
		output, err := w.Try("plan", "-no-color", replacement.argument)
		contains(t, output, "Error: Too few offers for fleet train", "Nothing was destroyed.")
		if n := strings.Count(output, "Error: "); err == nil || n != 1 {
			t.Errorf("the plan ends with %v and shows %d errors:\n%s", err, n, output)
		}
	}
	available(t, env, true, withheld...)
	env.Advance(2 * time.Minute)
	w.Run("taint", address)
	w.Configure(fleet("30"))
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 added, 0 changed, 1 destroyed")
	now := members(w)
	if len(now) != 2 || now["0"] == before["0"] {
		t.Errorf("after a taint: %v, before %v", now, before)
	}
	w.Configure(strings.Replace(fleet("30"), `"gpurent_fleet" "train"`, `"gpurent_fleet" "other"`, 1) +
		"moved {\n  from = gpurent_fleet.train\n  to   = gpurent_fleet.other\n}\n")
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "!Instances have the names of members",
		"0 added, 0 changed, 0 destroyed")
	if !maps.Equal(now, members(w)) {
		t.Errorf("after a move: %v, before %v", members(w), now)
	}
	w.Run("destroy", "-auto-approve")
	left(t, env, 0)
}
