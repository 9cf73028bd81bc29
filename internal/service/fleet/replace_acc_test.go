package fleet_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// only rents servers with one GPU of one model, so that all members cost about the same.
const only = `offer_queries = [{ gpu = ["rtx_4090"], num_gpus = [1] }]`

// plain returns a fleet with a disk size.
func plain(size, diskGB int, arguments ...string) string {
	return fmt.Sprintf(`
resource "gpurent_fleet" "train" {
  name     = "train"
  size     = %d
  template = "pytorch"
  disk_gb  = %d
  %s
  %s
}
`, size, diskGB, only, strings.Join(arguments, "\n  "))
}

// startLimited starts a simulator, and returns a provider with a burn limit that is just enough for this many members.
func startLimited(t *testing.T, members int64, options ...acctest.Option) (env *acctest.Env, provider string) {
	t.Helper()
	// The tests count messages, and use a limit that is just enough.
	env = acctest.Start(t, append(options, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours", "other-gpu",
		"price-moves-on-create", "lagging-list", "optional-fields-absent"))...)
	env.AddSSHKey()
	return env, env.Provider(fmt.Sprintf("spending = { max_burn_kop_h = %d }", env.BurnOf(members)))
}

// createLimited creates a fleet with a size under the limit of startLimited.
func createLimited(t *testing.T, limit int64, size int) (env *acctest.Env, provider string, w *acctest.Workspace) {
	t.Helper()
	env, provider = startLimited(t, limit)
	w = env.Workspace(provider + plain(size, 20))
	w.Run("apply", "-auto-approve")
	return env, provider, w
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

// kept returns how many members of before exist now in the same slots.
func kept(before, now map[string]string) (count int) {
	for slot, id := range before {
		if now[slot] == id {
			count++
		}
	}
	return count
}

// contains checks that the output has texts, and does not have those that begin with "!".
func contains(t *testing.T, output string, texts ...string) {
	t.Helper()
	output = acctest.Words(acctest.WithoutFrame(output))
	for _, text := range texts {
		without, absent := strings.CutPrefix(text, "!")
		if strings.Contains(output, without) == absent {
			t.Errorf("the output has, or lacks, %q:\n%s", text, output)
		}
	}
}

// -replace replaces all members, within a limit that allows the fleet only once.
func TestAccFleet_replaceOption(t *testing.T) {
	t.Parallel()
	env, provider, w := createLimited(t, 3, 3)
	before := members(w)
	output := w.Run("apply", "-auto-approve", "-no-color", "-replace="+address)
	contains(t, output, "!Instances have the names of members", "!Warning: Fleet", "!Warning: Inst")
	if now := members(w); len(now) != 3 || kept(before, now) != 0 {
		t.Errorf("%v, before %v", now, before)
	}
	w.Run("plan", "-detailed-exitcode")
	// The replacement of an updated fleet counts once, too.
	w.Configure(provider + plain(2, 20))
	contains(t, w.Run("apply", "-auto-approve", "-no-color", "-replace="+address), "!Instances have the names of members")
	w.Configure(provider + plain(3, 30))
	contains(t, w.Run("apply", "-auto-approve", "-no-color", "-replace="+address), "!Instances have the names of members")
	// A changed template replaces all members, unless the update is rolling.
	other := func(arguments ...string) string {
		return provider + strings.Replace(plain(3, 30, arguments...), `"pytorch"`, `"pytorch-jupyter"`, 1)
	}
	w.Configure(other())
	contains(t, w.Run("plan", "-no-color"), "must be replaced")
	w.Configure(other(`update = "rolling"`))
	contains(t, w.Run("plan", "-no-color"), "!must be replaced")
	// A replacement that would fail destroys nothing.
	before = members(w)
	limitOffers(t, env, 0)
	env.Advance(2 * time.Minute)
	for text, argument := range map[string]string{"No such SSH key": `ssh_key_ids = ["nokey"]`, "Too few offers": ""} {
		w.Configure(provider + plain(3, 30, argument))
		output, err := w.Try("apply", "-auto-approve", "-no-color", "-replace="+address)
		if contains(t, output, "Error: "+text); err == nil || kept(before, members(w)) != 3 {
			t.Errorf("the apply ends with %v and %v", err, members(w))
		}
		if n := strings.Count(output, "Error: "); n != 1 {
			t.Errorf("the apply shows %d errors:\n%s", n, output)
		}
	}
	w.Configure(env.Provider() + plain(3, 30))
	fault := simulator.Fault{Method: http.MethodGet, Path: "/offers", Status: http.StatusForbidden}
	if err := env.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	output, err := w.Try("apply", "-auto-approve", "-no-color", "-replace="+address)
	if contains(t, output, "Error: Cannot determine the price"); err == nil || kept(before, members(w)) != 3 {
		t.Errorf("the apply ends with %v and %v", err, members(w))
	}
	env.ClearFaults()
	// Terraform ends after the first part of the plan of a replacement, so that an error appears once.
	w.Configure(other())
	output, err = w.Try("plan", "-no-color")
	if n := strings.Count(output, "Error: "); err == nil || n != 1 {
		t.Errorf("the plan shows %d errors:\n%s", n, output)
	}
	contains(t, output, "Error: Too few offers for fleet train", "Nothing was destroyed.")
	w.Configure(provider + plain(3, 30))
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// A taint by hand replaces all members. With a moved block all members of a renamed resource stay.
func TestAccFleet_taintAndRename(t *testing.T) {
	t.Parallel()
	env, provider, w := createLimited(t, 2, 2)
	before := members(w)
	w.Run("taint", address)
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "1 added, 0 changed, 1 destroyed")
	now := members(w)
	if len(now) != 2 || kept(before, now) != 0 {
		t.Errorf("after a taint: %v, before %v", now, before)
	}
	renamed := strings.Replace(plain(2, 20), `"gpurent_fleet" "train"`, `"gpurent_fleet" "other"`, 1)
	w.Configure(provider + renamed + "moved {\n  from = gpurent_fleet.train\n  to   = gpurent_fleet.other\n}\n")
	contains(t, w.Run("plan", "-no-color"), "has moved to", "!Instances have the names of members",
		"0 to add, 0 to change, 0 to destroy")
	w.Run("apply", "-auto-approve")
	if kept(now, members(w)) != 2 {
		t.Errorf("after a move: %v, before %v", members(w), now)
	}
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// editInstances changes the instances in all responses.
func editInstances(change func(inst map[string]any)) acctest.Option {
	return acctest.Intercept(acctest.Request("", "/instances.*").Do(acctest.RewriteItems(change)))
}

const ready = `ready_when = { log_pattern = "^READY$" }`

// The creation of a fleet fails in its waits. The error names untaint, which keeps the members.
// Afterwards the fleet is like any other one.
func TestAccFleet_continuesFailedCreation(t *testing.T) {
	t.Parallel()
	p := new(acctest.Proxy)
	env, provider := startLimited(t, 2, p.Option())
	w := env.Workspace(provider + plain(2, 20, ready, `timeouts = { create = "3s" }`))
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if err == nil {
		t.Fatal(output)
	}
	contains(t, output, "too few ready members", "Not ready in time, status",
		"ready_when.log_pattern is not met", "is tainted", "terraform untaint ADDRESS")
	before := members(w)
	contains(t, w.Run("plan", "-no-color"), "must be replaced")
	w.Run("untaint", address)
	for range 2 { // the second refresh is the one without changes
		contains(t, w.Run("plan", "-no-color"), "0 to add, 1 to change, 0 to destroy",
			"slots 0, 1: the apply waits, because it was not ready last time",
			"!Instances have the names of members")
		w.Run("apply", "-refresh-only", "-auto-approve")
	}
	p.Set(acctest.Request("GET", "/instances/.*/logs").Do(acctest.SetField("lines", []string{"READY"})))
	w.Configure(provider + plain(2, 20, ready))
	w.Run("apply", "-auto-approve", "-no-color")
	if now := members(w); len(now) != 2 || kept(before, now) != 2 {
		t.Errorf("%v, before %v", now, before)
	}
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	// The members have kept what they were created with.
	w.Configure(provider + plain(2, 30, `update = "rolling"`))
	contains(t, w.Run("plan", "-no-color"), "): replaced, because it was created with other arguments")
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// The plan of an import already shows the members that differ from the configuration.
func TestAccFleet_importsUnequalMembers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env, provider := startLimited(t, 4)
	const order, larger = `"template":"pytorch","disk_gb":20`, `"template":"pytorch","disk_gb":40`
	before := rent(env, order, larger, order)
	w := env.Workspace(provider + plain(3, 20) + importBlock)
	contains(t, w.Run("plan", "-no-color"), "slot 1 (", "): replaced, because it was created with other arguments",
		"!slot 0",
		"!slot 2")
	w.Run("apply", "-auto-approve")
	if now := members(w); now["0"] != before["train-0"] || now["1"] == before["train-1"] || now["2"] != before["train-2"] {
		t.Errorf("%v, before %v", now, before)
	}
	contains(t, w.Run("apply", "-auto-approve", "-no-color", "-replace="+address), "!Instances have the names of members")
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}
