package main_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// fleetSize is how many servers the gates are for.
const fleetSize = 200

// startLarge starts a service with room for a fleet, whose time passes quickly enough
// for a test and slowly enough for a CLI to make 200 requests within a boot.
func startLarge(t *testing.T) *acctest.Env {
	env := acctest.Start(t, func(c *simulator.Config) {
		c.Clock, c.Step, c.TimeScale, c.Boot, c.MarketScale = simulator.ClockReal, 0, 2, 0, 4
	})
	env.SetRateLimit(0, 0)
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)), MaxInstances: new(int64(2 * fleetSize))}); err != nil {
		t.Fatal(err)
	}
	return env
}

// provider has the poll interval of a user, in the time of the simulator.
func provider(env *acctest.Env, arguments string) string {
	return fmt.Sprintf("provider \"gpurent\" {\n  base_url = %q\n  api_key = %q\n  poll_interval = \"2500ms\"\n  %s\n}\n", env.BaseURL, env.APIKey, arguments)
}

// counted runs a command and holds the number of its requests against a limit.
func counted(t *testing.T, env *acctest.Env, what string, most int, run func()) {
	t.Helper()
	env.ClearRequests()
	run()
	requests := env.Requests()
	kinds := map[string]int{}
	for _, r := range requests {
		kinds[fmt.Sprintf("%s %s %d", r.Method, strings.Join(strings.Split(r.Path, "/")[:2], "/"), r.Status)]++
	}
	t.Logf("%s: %d requests, at most %d: %v", what, len(requests), most, kinds)
	if len(requests) > most {
		t.Errorf("%s took %d requests, want at most %d: %v", what, len(requests), most, kinds)
	}
}

// A fleet lives its life with few requests beyond those that each server needs.
func TestAccRequestsOfAFleet(t *testing.T) {
	t.Parallel()
	env := startLarge(t)
	var offers []string
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { offers = append(offers, o.ID) })
	list, err := json.Marshal(offers[:fleetSize])
	if err != nil {
		t.Fatal(err)
	}
	servers := func(count int) string {
		return fmt.Sprintf("locals {\n  offers = %s\n}\nresource \"gpurent_instance\" \"gpu\" {\n  count = %d\n  name = \"gpu-${count.index}\"\n"+
			"  offer_id = local.offers[count.index]\n  template = \"ubuntu\"\n  disk_gb = 20\n}\n", list, count)
	}
	w := env.Workspace(provider(env, "") + servers(fleetSize))
	const parallel = "-parallelism=200"
	counted(t, env, "planning 200 servers", 6, func() { w.Run("plan", "-out=plan", parallel) })
	counted(t, env, "renting 200 servers", fleetSize+10, func() { w.Run("apply", parallel, "plan") })
	for _, parallel := range []string{"-parallelism=10", "-parallelism=50"} {
		counted(t, env, "refreshing 200 servers, "+parallel, 2, func() { w.Run("plan", "-detailed-exitcode", parallel) })
	}
	counted(t, env, "refreshing one", 1, func() { w.Run("plan", "-target=gpurent_instance.gpu[7]") })
	counted(t, env, "destroying 200 servers", fleetSize+6, func() { w.Run("destroy", "-auto-approve", parallel) })
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Keys and templates are refreshed with one listing of each kind.
func TestAccRequestsOfManyKeys(t *testing.T) {
	t.Parallel()
	env := startLarge(t)
	var keys []string
	for n := range uint64(fleetSize) {
		public, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(binary.LittleEndian.AppendUint64(make([]byte, 24), n)).Public())
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))))
	}
	list, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	w := env.Workspace(provider(env, "") + fmt.Sprintf(`
locals {
  keys = %s
}
resource "gpurent_ssh_key" "all" {
  count      = 200
  public_key = local.keys[count.index]
}
resource "gpurent_template" "all" {
  count = 20
  name  = "template ${count.index}"
  image = "registry.example/image:${count.index}"
}
resource "gpurent_api_key" "all" {
  count  = 50
  name   = "key ${count.index}"
  scopes = ["instances:read"]
}
`, list))
	w.Run("apply", "-auto-approve", "-parallelism=50")
	counted(t, env, "refreshing 200 SSH keys, 20 templates and 50 API keys", 5, func() { w.Run("plan", "-detailed-exitcode") })
}
