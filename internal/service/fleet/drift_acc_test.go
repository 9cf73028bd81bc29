package fleet_test

import (
	"maps"
	"net/http"
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

// An apply destroys no member that its plan did not name: a member that fails between plan and apply stays until the
// next apply.
func TestAccFleet_changesAfterPlan(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env, _, w := createLimited(t, 4, 3)
	before := members(w)
	status(t, env, before["2"], "failed")
	contains(t, w.Run("plan", "-no-color", "-out=plan"), "slot 2 (", "): replaced, because its status is failed",
		"!slot 0")
	status(t, env, before["0"], "failed")
	output, err := w.Try("apply", "-no-color", "plan")
	if err != nil {
		t.Error(err) // min_ready is 1
	}
	contains(t, output, "2 of 3 members are ready",
		"slot 0 ("+before["0"]+"): failed now, and the plan did not show its destruction: kept until the "+
			"next apply")
	now := members(w)
	if now["0"] != before["0"] || now["1"] != before["1"] || now["2"] == before["2"] {
		t.Errorf("%v, before %v", now, before)
	}
	contains(t, w.Run("apply", "-no-color", "-auto-approve"), "slot 0 (", "): replaced, because its status is failed")
	if kept(now, members(w)) != 2 || len(members(w)) != 3 {
		t.Errorf("%v, before %v", members(w), now)
	}
	w.Run("plan", "-detailed-exitcode")
	w.Run("destroy", "-auto-approve")
}

// A limit that is lowered below the prices of running members stops none of them. Each plan warns.
func TestAccFleet_warnsOfMembersAboveCap(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// Quirks add messages.
	env := acctest.Start(t, acctest.WithoutQuirks("all"))
	env.AddSSHKey()
	w := env.Workspace(env.Provider() + plain(2, 20))
	w.Run("apply", "-auto-approve")
	before := members(w)
	w.Configure(env.Provider() + plain(2, 20, "max_price_kop_h = 100"))
	const warning = "Running instances cost more than max_price_kop_h"
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), warning, before["0"], before["1"], "0 added, 1 changed")
	contains(t, w.Run("plan", "-no-color"), warning, "No changes.")
	if now := members(w); !maps.Equal(now, before) {
		t.Errorf("%v, before %v", now, before)
	}
	w.Configure(env.Provider() + plain(2, 20, "max_price_kop_h = 100", `desired_state = "stopped"`))
	contains(t, w.Run("apply", "-auto-approve", "-no-color"), "!"+warning, "0 added, 1 changed")
}

// ready counts the members in a new desired_state, even if they are in it already.
func TestAccFleet_readyInNewState(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env, provider := startLimited(t, 4)
	const output = "output \"ready\" {\n  value = gpurent_fleet.train.ready\n}\n"
	w := env.Workspace(provider + plain(2, 20) + output)
	w.Run("apply", "-auto-approve")
	for _, id := range members(w) {
		env.Post("instances/"+id+"/stop", "")
	}
	env.Advance(time.Minute)
	w.Configure(provider + plain(2, 20, `desired_state = "stopped"`) + output)
	w.Run("apply", "-auto-approve")
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Run("destroy", "-auto-approve")
}

// One member that the API finds shows that the other one is gone, also at another address of the API. If it finds none,
// a destroy keeps all in the state.
func TestAccFleet_missingAtAnotherAddress(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env, provider, w := createLimited(t, 4, 2)
	ids := members(w)
	lose := func(id string) {
		env.Delete("instances/" + id)
		env.Advance(time.Hour)
		if err := env.AddFault(simulator.Fault{Path: "/instances/" + id, Status: http.StatusNotFound}); err != nil {
			t.Fatal(err)
		}
	}
	lose(ids["0"])
	w.Configure(strings.Replace(provider, "127.0.0.1", "localhost", 1) + plain(2, 20))
	contains(t, w.Run("plan", "-no-color"), "slot 0: not found: another one is rented")
	lose(ids["1"])
	output, err := w.Try("destroy", "-auto-approve", "-no-color", "-refresh=false")
	contains(t, output, "Cannot find an instance of fleet train", "It was created at")
	if err == nil || len(members(w)) != 2 {
		t.Errorf("the destroy ends with %v and %v", err, members(w))
	}
	env.ClearFaults()
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}
