package fleet_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// shortSteps makes the simulated time of each request shorter than the lag of a GET.
func shortSteps(c *simulator.Config) { c.Step = 200 * time.Millisecond }

// status sets the status of a server.
func status(t *testing.T, env *acctest.Env, id, status string) {
	t.Helper()
	if err := env.SetInstance(id, simulator.InstancePatch{Status: &status}); err != nil {
		t.Error(err)
	}
}

// available makes offers available, or not.
func available(t *testing.T, env *acctest.Env, available bool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := env.SetOffer(id, simulator.OfferPatch{Available: &available}); err != nil {
			t.Error(err)
		}
	}
}

// anyOffer returns a fleet whose members may differ in their GPUs.
func anyOffer(fleet string) string { return strings.Replace(fleet, only, "offer_queries = [{}]", 1) }

// statuses returns the statuses of the members in the state by id.
func statuses(w *acctest.Workspace) map[string]string {
	found := map[string]string{}
	for _, object := range acctest.SavedIn[struct{ Instances map[string]server }](w, "gpurent_fleet") {
		for _, member := range object.Attributes.Instances {
			found[member.ID] = member.Status
		}
	}
	return found
}

// A 404 for a server right after its creation does not mean that it is gone, also if the list does not have it yet.
func TestAccFleet_laggingGet(t *testing.T) {
	for name, test := range map[string]struct {
		size   int
		quirks []string
	}{
		"one":           {1, []string{"lagging-get"}},
		"not in a list": {6, []string{"lagging-get", "lagging-list"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := startStory(t, test.quirks, shortSteps)
			env.SetRateLimit(0, 0)
			w := env.Workspace(env.Provider() + plain(test.size, 20))
			expectApply(t, w, true)
			if !answered(env, http.StatusNotFound) {
				t.Error("no response was 404, so that the test shows nothing")
			}
			expectRented(t, env, test.size)
			expectLive(t, env, w, test.size)
			expectEmptyPlan(t, w)
			expectDestroyed(t, env, w)
		})
	}
}

// The state of a fleet with a replaced member is lost, and the API has forgotten the key of the first one. The apply
// rents nothing and prints an import block.
func TestAccFleet_forgottenKeys(t *testing.T) {
	env := startStory(t, []string{"forgotten-keys"})
	w := env.Workspace(env.Provider() + plain(2, 20))
	w.Run("apply", "-auto-approve")
	status(t, env, members(w)["0"], "failed")
	w.Run("apply", "-auto-approve")
	before := members(w)
	w.LoseState()
	expectApply(t, w, false, before["0"], "import {")
	expectRented(t, env, 3)
	if now := live(env); len(now) != 2 {
		t.Errorf("the servers %v exist, want %v", now, before)
	}
	w.Configure(env.Provider() + plain(2, 20) + "import {\n  to = gpurent_fleet.train\n  id = \"train\"\n}\n")
	expectApply(t, w, true, "1 imported, 0 added")
	if now := members(w); !maps.Equal(now, before) {
		t.Errorf("imported %v, want %v", now, before)
	}
	expectEmptyPlan(t, w)
	expectDestroyed(t, env, w)
}

// A repeated create returns the first response. The state has the actual status of the server.
func TestAccFleet_firstAnswerReplays(t *testing.T) {
	for name, destroyed := range map[string]bool{"running": false, "destroyed": true} {
		t.Run(name, func(t *testing.T) {
			env := startStory(t, []string{"first-answer-replays"})
			w := env.Workspace(env.Provider() + plain(2, 20))
			w.Run("apply", "-auto-approve")
			before, rented := current(w), 2
			if destroyed {
				env.Delete("instances/" + before[0])
				env.Advance(time.Minute)
				before, rented = before[1:], 3
			}
			w.LoseState()
			expectApply(t, w, true)
			expectRented(t, env, rented)
			expectLive(t, env, w, 2)
			for id, status := range statuses(w) {
				if status != "running" {
					t.Errorf("member %s is %s in the state", id, status)
				}
			}
			for _, id := range before {
				if !slices.Contains(current(w), id) {
					t.Errorf("the state has %v, and not the server %s of the first run", current(w), id)
				}
			}
			expectEmptyPlan(t, w)
			expectDestroyed(t, env, w)
		})
	}
}

// An allocation of all members that fails leaves no server, although the API destroys none that boots.
func TestAccFleet_busyWhileBooting(t *testing.T) {
	var env *acctest.Env
	var last string
	env = startStory(t, []string{"busy-while-booting"}, onPost(false, func() { available(t, env, false, last) }),
		func(c *simulator.Config) { c.Boot = time.Minute })
	offers := env.Offers("limit=200")
	limitOffers(t, env, 4)
	last = offers[3].ID
	w := env.Workspace(env.Provider() + anyOffer(plain(4, 20, `allocation = "all"`)))
	expectApply(t, w, false)
	if env.CountRequests(http.MethodPost, "/instances") == 0 {
		t.Error("nothing was rented")
	}
	if left := live(env); len(left) > 0 {
		t.Errorf("the servers %v are left", left)
	}
}

// The outcome of the rentals stays unknown until the apply gives up. The next apply finds the servers.
func TestAccFleet_unknownOutcome(t *testing.T) {
	env := startStory(t, nil)
	fault := simulator.Fault{Method: http.MethodPost, Path: "/instances", Drop: simulator.DropAfter}
	if err := env.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	provider := strings.Replace(env.Provider(`request_timeout = "2s"`), "max_retries = 3", "max_retries = 0", 1)
	w := env.Workspace(provider + plain(2, 20, `timeouts = { create = "300ms" }`))
	output := expectApply(t, w, false, "slot 0", "slot 1", "next apply", "unmanaged")
	if text := acctest.WithoutFrame(output); !regexp.MustCompile(`(?i)idempotency[ _]key`).MatchString(text) {
		t.Errorf("the error names no idempotency key:\n%s", text)
	}
	env.ClearFaults()
	w.Configure(env.Provider() + plain(2, 20))
	expectApply(t, w, true)
	expectRented(t, env, 2)
	expectLive(t, env, w, 2)
	expectDestroyed(t, env, w)
}

// An offer that the API refuses for the disk is not the end: the others are tried.
func TestAccFleet_refusedDisks(t *testing.T) {
	env := startStory(t, []string{"refused-disks"})
	w := env.Workspace(env.Provider() + plain(5, 20))
	expectApply(t, w, true)
	expectLive(t, env, w, 5)
	if !answered(env, http.StatusUnprocessableEntity) {
		t.Error("no offer was refused, so that the test shows nothing")
	}
	expectEmptyPlan(t, w)
	expectDestroyed(t, env, w)
}

// A limit that allows exactly the fleet allows the replacement of a failed member, which the API counts as billed.
func TestAccFleet_failedIsBilled(t *testing.T) {
	env := startStory(t, []string{"failed-is-billed"})
	for _, offer := range env.Offers("gpu=rtx_4090&num_gpus=1&limit=200") {
		if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(3000))}); err != nil {
			t.Fatal(err)
		}
	}
	// The price of an offer includes a disk of 10 GB.
	config := strings.Replace(plain(3, 10), `"pytorch"`, `"ubuntu"`, 1)
	w := env.Workspace(env.Provider("spending = { max_burn_kop_h = 9000 }") + config)
	expectApply(t, w, true)
	before := members(w)
	status(t, env, before["1"], "failed")
	output, err := w.Try("plan", "-no-color")
	if err != nil {
		t.Errorf("the plan fails:\n%s", output)
	}
	contains(t, output, "slot 1")
	expectApply(t, w, true)
	if now := members(w); kept(before, now) != 2 || now["1"] == before["1"] {
		t.Errorf("%v, before %v", now, before)
	}
	expectLive(t, env, w, 3)
	expectDestroyed(t, env, w)
}

// A new server that is destroyed outside Terraform while it boots was rented.
func TestAccFleet_destroyedWhileBooting(t *testing.T) {
	var env *acctest.Env
	var id string
	env = startStory(t, nil, onPost(true, func() {
		id = active(env)["train-0"]
		status(t, env, id, "destroyed")
	}))
	w := env.Workspace(env.Provider() + plain(1, 20))
	output := expectApply(t, w, false, "!rented nothing", "!othing was rented")
	if id == "" || !strings.Contains(output, id) {
		t.Errorf("the error does not name the server %q:\n%s", id, output)
	}
}

// By default, a fleet that finds too few offers is created with the members that it could rent.
func TestAccFleet_fewOffers(t *testing.T) {
	env := startStory(t, nil)
	withheld := limitOffers(t, env, 2)
	config := anyOffer(plain(4, 20))
	w := env.Workspace(env.Provider() + config)
	output := expectApply(t, w, true, "Warning: Fleet train", "offer")
	if !regexp.MustCompile(`(?i)slots? 2\b`).MatchString(acctest.WithoutFrame(output)) {
		t.Errorf("the warning does not list the missing slots:\n%s", output)
	}
	expectLive(t, env, w, 2)
	before := members(w)
	available(t, env, true, withheld...)
	env.Advance(2 * time.Minute)
	expectApply(t, w, true, "0 added, 1 changed, 0 destroyed")
	expectLive(t, env, w, 4)
	if now := members(w); kept(before, now) != 2 {
		t.Errorf("%v, before %v", now, before)
	}
	expectEmptyPlan(t, w)
	expectDestroyed(t, env, w)
}

// With min_ready, too few members are an error, and an untaint keeps those that exist.
func TestAccFleet_fewOffersMinReady(t *testing.T) {
	env := startStory(t, nil)
	withheld := limitOffers(t, env, 2)
	config := anyOffer(plain(4, 20, "min_ready = 4"))
	w := env.Workspace(env.Provider() + config)
	expectApply(t, w, false, "Error: Fleet train")
	expectLive(t, env, w, 2)
	before := members(w)
	available(t, env, true, withheld...)
	env.Advance(2 * time.Minute)
	contains(t, w.Run("plan", "-no-color"), "untaint")
	w.Run("untaint", address)
	expectApply(t, w, true, "0 added, 1 changed, 0 destroyed")
	expectLive(t, env, w, 4)
	if now := members(w); kept(before, now) != 2 {
		t.Errorf("%v, before %v", now, before)
	}
	expectEmptyPlan(t, w)
	expectDestroyed(t, env, w)
}

// Servers with members' names that the fleet does not have stay when a member is replaced and the fleet is destroyed.
func TestAccFleet_strangersWithNames(t *testing.T) {
	env := startStory(t, nil)
	w := env.Workspace(env.Provider() + plain(2, 20))
	w.Run("apply", "-auto-approve")
	var others []string
	for _, name := range []string{"train-0", "train-1", "train-5"} {
		others = append(others, env.Post("instances", fmt.Sprintf(
			`{"offer_id":%q,"template":"pytorch","disk_gb":20,"name":%q}`, env.Offers("gpu=rtx_4090")[0].ID, name)))
	}
	env.Advance(time.Minute)
	before := members(w)
	status(t, env, before["0"], "failed")
	contains(t, w.Run("plan", "-no-color"), append(others, "slot 0")...)
	expectApply(t, w, true)
	if now := members(w); len(now) != 2 || now["0"] == before["0"] || now["1"] != before["1"] {
		t.Errorf("%v, before %v", now, before)
	}
	for _, id := range others {
		if slices.Contains(current(w), id) {
			t.Errorf("the fleet has taken %s", id)
		}
	}
	w.Run("destroy", "-auto-approve")
	slices.Sort(others)
	if left := live(env); !slices.Equal(left, others) {
		t.Errorf("the servers %v are left, want %v", left, others)
	}
}
