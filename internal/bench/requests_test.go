package bench

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// providerConfig returns a provider block.
func providerConfig(pollInterval string) string {
	return fmt.Sprintf("provider \"gpurent\" {\n  poll_interval = %q\n}\n", pollInterval)
}

// serversConfig returns servers with count.
func serversConfig(servers int) string {
	return fmt.Sprintf(`
resource "gpurent_instance" "server" {
  count       = %d
  name        = "server-${count.index}"
  template    = "ubuntu"
  disk_gb     = 20
  offer_query = {}
}
`, servers)
}

// fleetConfig returns a fleet.
func fleetConfig(servers int) string {
	return fmt.Sprintf(`
resource "gpurent_fleet" "servers" {
  name          = "member"
  size          = %d
  template      = "ubuntu"
  disk_gb       = 20
  offer_queries = [{}]
}
`, servers)
}

// otherTypes has objects of each other type that the account has.
const otherTypes = `
resource "gpurent_template" "test" {
  count = 5
  name  = "template-${count.index}"
  image = "ubuntu:24.04"
}

resource "gpurent_api_key" "test" {
  count  = 5
  name   = "key-${count.index}"
  scopes = ["instances:read"]
}

resource "gpurent_ssh_key" "test" {
  name       = "key"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
}
`

// start starts a simulator with a real clock of the given speed, without a rate limit, and with an offer, money and a
// place for each server.
func start(t *testing.T, servers int, speed float64, options ...acctest.Option) *acctest.Env {
	t.Helper()
	acctest.FirstCLIOnly(t)
	const offersPerScale = 60 // at least
	// These quirks need additional requests.
	quirks := acctest.WithoutQuirks("status-after-work", "gateway-errors", "small-pages", "lagging-list",
		"lagging-status", "optional-fields-absent", "strange-neighbours")
	clock := func(c *simulator.Config) {
		c.Clock, c.Step, c.TimeScale, c.MarketScale = simulator.ClockReal, 0, speed, 1+servers/offersPerScale
	}
	env := acctest.Start(t, append(options, quirks, clock)...)
	env.SetRateLimit(0, 0)
	account := simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)), MaxInstances: new(int64(servers))}
	if err := env.SetAccount(account); err != nil {
		t.Fatal(err)
	}
	return env
}

// sizes returns numbers of servers: a small one in a short run.
func sizes(whole ...int) []int {
	if acctest.Whole() {
		return whole
	}
	return []int{40}
}

// expectRequests runs a command, which sends at most the given number of requests. A command of more than 30 seconds,
// such as a refresh that finds its listing expired, may send that number again in each further 30 seconds.
func expectRequests(t *testing.T, env *acctest.Env, w *acctest.Workspace, most int, command ...string) {
	t.Helper()
	env.ClearRequests()
	begin := time.Now()
	w.Run(command...)
	if command[0] == "plan" {
		const cacheTTL = 30 * time.Second
		most *= 1 + int(time.Since(begin)/cacheTTL)
	}
	requests := len(env.Requests())
	t.Logf("%v: %d requests (≤ %d)", command, requests, most)
	if requests == 0 || requests > most {
		t.Errorf("%v: %d requests, want 1 to %d", command, requests, most)
	}
}

func TestAccRequests_Instances(t *testing.T) {
	t.Parallel()
	for _, n := range sizes(200, 1000) {
		env := start(t, n, 2)
		w := env.Workspace(providerConfig("2500ms") + serversConfig(n))
		const parallel = "-parallelism=50"
		expectRequests(t, env, w, n/200+10, "plan", "-out=plan", parallel)
		expectRequests(t, env, w, n*16/10+20, "apply", parallel, "plan")
		expectRequests(t, env, w, n/200+4, "plan", "-detailed-exitcode", parallel)
		expectRequests(t, env, w, 1, "plan", "-target=gpurent_instance.server[7]")
		expectRequests(t, env, w, n*13/10+10, "destroy", "-auto-approve", parallel)
	}
}

// A fleet needs a request for each member that it creates or destroys, and one for each page of a list.
func TestAccRequests_Fleet(t *testing.T) {
	t.Parallel()
	for _, n := range sizes(200, 1000, 5000) {
		env := start(t, n, 2)
		w := env.Workspace(providerConfig("2500ms") + fleetConfig(n))
		pages := n/200 + 1
		expectRequests(t, env, w, 6+4*pages, "plan", "-out=plan")
		expectRequests(t, env, w, n*115/100+15+10*pages, "apply", "plan")
		expectRequests(t, env, w, pages+1, "plan", "-detailed-exitcode")
		expectRequests(t, env, w, n*13/10+10, "destroy", "-auto-approve")
	}
}

// Four runs share a key whose rate limit is already exhausted. All of them succeed, and every server is in a state.
func TestAccRequests_FourRunsWithOneKey(t *testing.T) {
	t.Parallel()
	const runs, perKey, perAddress = 4, 120, 60
	each := sizes(160)[0] / runs
	env := start(t, runs*each, 20) // a minute of the simulator takes three seconds
	var offers []string
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { offers = append(offers, strconv.Quote(o.ID)) })
	env.SetRateLimit(perKey, perAddress)
	for range perKey {
		acctest.Fetch[struct{}](env, "me")
	}
	var group sync.WaitGroup
	for run := range runs { // each has different offers
		own := "locals {\n  offers = [" + strings.Join(offers[run*each:(run+1)*each], ", ") + "]\n}\n"
		servers := strings.Replace(serversConfig(each), "offer_query = {}", "offer_id    = local.offers[count.index]", 1)
		w := env.Workspace(providerConfig("250ms") + own + servers)
		group.Go(func() {
			for _, command := range [][]string{{"apply", "-auto-approve"}, {"plan", "-detailed-exitcode"}} {
				if output, err := w.Try(command...); err != nil {
					t.Errorf("run %d: %s: %v\n%s", run, command[0], err, output)
				}
			}
		})
	}
	group.Wait()
	env.SetRateLimit(0, 0)
	if err := env.Left("instances?limit=200", runs*each); err != nil {
		t.Error(err)
	}
}

// A refresh lists each other type once, and ends soon if everything is missing or nothing answers. That time is from
// its first request to its last, because the CLI is slow on a busy machine.
func TestAccRequests_AllTypesMissingOrDown(t *testing.T) {
	t.Parallel()
	const n, most, otherLists = 5, 15 * time.Second, 3
	env := start(t, 2*n, 2)
	w := env.Workspace(providerConfig("250ms") + otherTypes + serversConfig(n) + fleetConfig(n))
	w.Run("apply", "-auto-approve", "-parallelism=50")
	expectRequests(t, env, w, otherLists+5, "plan", "-detailed-exitcode")
	expectSoon := func(reason string) string {
		env.ClearRequests()
		output, err := w.Try("plan", "-detailed-exitcode", "-no-color")
		requests := env.Requests()
		if took := requests[len(requests)-1].At.Sub(requests[0].At) / 2; err == nil || took > most { // twice as fast
			t.Errorf("%s: the plan took %s and ended with %v:\n%s", reason, took, err, output)
		}
		return acctest.WithoutFrame(output)
	}
	if err := env.AddFault(simulator.Fault{Drop: simulator.DropBefore}); err != nil {
		t.Fatal(err)
	}
	if output := expectSoon("the API is down"); !strings.Contains(output, "no usable answer") {
		t.Errorf("the output does not name the outage:\n%s", output)
	}
	env.ClearFaults()
	for _, list := range []string{"instances", "templates", "ssh-keys", "api-keys"} {
		acctest.List(env, list+"?limit=200", func(one struct{ ID, Slug, Owner string }) {
			if one.Owner != "catalog" && one.ID != env.OwnKeyID() {
				env.Delete(list + "/" + one.ID + one.Slug)
			}
		})
	}
	expectSoon("everything is missing")
}
