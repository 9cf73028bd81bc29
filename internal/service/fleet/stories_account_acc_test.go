package fleet_test

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

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
