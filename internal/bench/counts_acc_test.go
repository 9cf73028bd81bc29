package main

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// fleetSize returns how many servers a fleet has: fewer in make test, because every
// limit below is per server or constant.
func fleetSize() int {
	if acctest.Whole() {
		return 200
	}
	return 60
}

// startLarge starts a service with room for a fleet, whose time passes quickly enough
// for a test and slowly enough for a CLI to make 200 requests within a boot.
func startLarge(t *testing.T) *acctest.Env {
	// The tests count requests: these quirks add some.
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work", "gateway-errors", "small-pages", "lagging-list",
		"lagging-status", "optional-fields-absent", "strange-neighbours"), func(c *simulator.Config) {
		c.Clock, c.Step, c.TimeScale, c.Boot, c.MarketScale = simulator.ClockReal, 0, 2, 0, 4
	})
	env.SetRateLimit(0, 0)
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)), MaxInstances: new(int64(400))}); err != nil {
		t.Fatal(err)
	}
	return env
}

// scaledProvider has the poll interval of a user, in the time of the simulator.
const scaledProvider = `
provider "gpurent" {
  poll_interval = "2500ms"
}
`

// counted runs a command and holds the number of its requests against a limit.
func counted(t *testing.T, env *acctest.Env, what string, most int, run func()) {
	t.Helper()
	env.ClearRequests()
	run()
	made := count(env.Requests())
	t.Logf("%s: %d requests, at most %d: %s", what, made.All, most, made)
	if made.All > most {
		t.Errorf("%s took %d requests, want at most %d: %s", what, made.All, most, made)
	}
}

// rentable are the ids of the first offers.
func rentable(env *acctest.Env, count int) []string {
	var offers []string
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { offers = append(offers, o.ID) })
	return offers[:count]
}

// A fleet lives its life with few requests beyond those that each server needs.
func TestAccRequestsOfAFleet(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := startLarge(t)
	size := fleetSize()
	w := env.Workspace(servers(scaledProvider, "gpu", rentable(env, size)))
	const parallel = "-parallelism=200"
	counted(t, env, "planning the fleet", 6, func() { w.Run("plan", "-out=plan", parallel) })
	counted(t, env, "renting the fleet", size+10, func() { w.Run("apply", parallel, "plan") })
	for _, parallel := range []string{"-parallelism=10", "-parallelism=50"} {
		counted(t, env, "refreshing the fleet, "+parallel, 2, func() { w.Run("plan", "-detailed-exitcode", parallel) })
	}
	counted(t, env, "refreshing one", 1, func() { w.Run("plan", "-target=gpurent_instance.server[7]") })
	counted(t, env, "destroying the fleet", size+6, func() { w.Run("destroy", "-auto-approve", parallel) })
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Keys and templates are refreshed with one listing of each kind.
func TestAccRequestsOfManyKeys(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := startLarge(t)
	config, err := smallThings()
	if err != nil {
		t.Fatal(err)
	}
	w := env.Workspace(config)
	w.Run("apply", "-auto-approve", "-parallelism=50")
	counted(t, env, "refreshing 200 SSH keys, 20 templates and 50 API keys", 5, func() { w.Run("plan", "-detailed-exitcode") })
}
