package bench

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// scaledPolling is the default poll interval on a clock with the time scale 2.
const scaledPolling = `poll_interval = "2500ms"`

// start starts a simulator with a real clock and without a rate limit. It has an offer for each server.
func start(t *testing.T, servers int, clockSpeed float64, options ...acctest.Option) *acctest.Env {
	t.Helper()
	// These quirks need additional requests.
	quirks := acctest.WithoutQuirks("status-after-work", "gateway-errors", "small-pages", "lagging-list",
		"lagging-status", "optional-fields-absent", "strange-neighbours")
	clock := func(c *simulator.Config) {
		c.Clock, c.Step, c.TimeScale, c.MarketScale = simulator.ClockReal, 0, clockSpeed, 1+servers/offersPerScale
	}
	env := acctest.Start(t, append(options, quirks, clock)...)
	env.SetRateLimit(0, 0)
	account := simulator.AccountPatch{BalanceKop: new(int64(balanceKop)), MaxInstances: new(int64(servers))}
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
	return []int{60}
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
	count := map[string]int{}
	for _, r := range env.Requests() {
		count[r.Method]++
	}
	requests := len(env.Requests())
	t.Logf("%v: %d requests (≤ %d): %v", command, requests, most, count)
	if requests == 0 || requests > most {
		t.Errorf("%v: %d requests, want 1 to %d", command, requests, most)
	}
}

func TestAccRequests_Instances(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	for _, n := range sizes(200, 500, 1000) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			env := start(t, n, 2)
			w := env.Workspace(providerConfig(scaledPolling) + serversConfig(n))
			const parallel = "-parallelism=50"
			expectRequests(t, env, w, n/200+10, "plan", "-out=plan", parallel)
			expectRequests(t, env, w, n*16/10+20, "apply", parallel, "plan")
			expectRequests(t, env, w, n/200+4, "plan", "-detailed-exitcode", "-parallelism=10")
			expectRequests(t, env, w, n/200+4, "plan", "-detailed-exitcode", parallel)
			expectRequests(t, env, w, 1, "plan", "-target=gpurent_instance.server[7]")
			expectRequests(t, env, w, n*13/10+10, "destroy", "-auto-approve", parallel)
			if err := env.NothingLeft("instances"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A fleet needs a request for each member that it creates or destroys, and one for each page of a list.
func TestAccRequests_Fleet(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	for _, n := range sizes(200, 1000, 5000) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			env := start(t, n, 2)
			w := env.Workspace(providerConfig(scaledPolling) + fleetConfig(n))
			pages := n/200 + 1
			expectRequests(t, env, w, 6+4*pages, "plan", "-out=plan")
			expectRequests(t, env, w, n*115/100+15+10*pages, "apply", "plan")
			expectRequests(t, env, w, pages+1, "plan", "-detailed-exitcode")
			expectRequests(t, env, w, pages+1, "plan", "-refresh=false", "-detailed-exitcode")
			expectRequests(t, env, w, n*13/10+10, "destroy", "-auto-approve")
		})
	}
}

// Instances that wait share one list of offers in each look interval, which is a minute by default, and send no
// requests with the key. The looks of a simulated hour take 18 seconds.
func TestAccRequests_WaitingForOffers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const lookInterval = 300 * time.Millisecond
	servers, looks := 10, 10
	if acctest.Whole() {
		servers, looks = 50, 60
	}
	env := start(t, servers, 2)
	env.AddSSHKey()
	for _, offer := range env.Offers("gpu=h100_sxm&limit=200") {
		if err := env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
			t.Fatal(err)
		}
	}
	w := env.Workspace(providerConfig(fmt.Sprintf("poll_interval = %q", lookInterval/12)) + fmt.Sprintf(`
resource "gpurent_instance" "server" {
  count          = %d
  name           = "server-${count.index}"
  template       = "pytorch"
  disk_gb        = 60
  offer_query    = { gpu = ["h100_sxm"] }
  wait_for_offer = %q
}
`, servers, time.Duration(looks)*lookInterval))
	env.ClearRequests()
	if output, err := w.Try("apply", "-auto-approve", "-no-color", "-parallelism=50"); err == nil {
		t.Errorf("an apply without offers succeeded:\n%s", output)
	}
	withKey, without := 0, 0
	for _, r := range env.Requests() {
		if r.KeyID == "" {
			without++
		} else {
			withKey++
		}
	}
	t.Logf("%d servers, %d looks: %d requests with the key, %d without", servers, looks, withKey, without)
	// A look reads one list, on a busy machine up to three. The GPU models are read once.
	if withKey > 130 || without > 3*looks+8 {
		t.Errorf("%d requests with the key, %d without", withKey, without)
	}
}

// keysAndTemplates has ten objects of each other type that the account has.
const keysAndTemplates = `
resource "gpurent_template" "test" {
  count = 10
  name  = "template-${count.index}"
  image = "ubuntu:24.04"
}

resource "gpurent_api_key" "test" {
  count  = 10
  name   = "key-${count.index}"
  scopes = ["instances:read"]
}

resource "gpurent_ssh_key" "test" {
  count      = 10
  name       = "key-${count.index}"
  public_key = "ssh-ed25519 ${base64encode("${local.header}${format("%032d", count.index)}")}"
}

locals {
  # The lengths of the two fields of a key are not printable, so that a string can not have them.
  header = base64decode("AAAAC3NzaC1lZDI1NTE5AAAAIA==")
}
`

// The API has no request for a single SSH key, template or API key: a refresh lists each kind.
func TestAccRequests_KeysAndTemplates(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := start(t, 0, 2)
	w := env.Workspace(keysAndTemplates)
	w.Run("apply", "-auto-approve", "-parallelism=50")
	const kinds = 3
	expectRequests(t, env, w, kinds+2, "plan", "-detailed-exitcode")
}

// Four runs share a key whose rate limit is already exhausted. All of them succeed, and every server is in a state.
func TestAccRequests_FourRunsWithOneKey(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const runs, each, perKey, perAddress = 4, 40, 120, 60
	env := start(t, runs*each, 20) // a minute of the simulator takes three seconds
	var offers []string
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { offers = append(offers, strconv.Quote(o.ID)) })
	var workspaces [runs]*acctest.Workspace
	for run := range workspaces { // each has different offers
		own := "locals {\n  offers = [" + strings.Join(offers[run*each:(run+1)*each], ", ") + "]\n}\n"
		servers := strings.Replace(serversConfig(each), "offer_query = {}", "offer_id    = local.offers[count.index]", 1)
		workspaces[run] = env.Workspace(providerConfig(`poll_interval = "250ms"`) + own + servers)
	}
	env.SetRateLimit(perKey, perAddress)
	for range perKey {
		acctest.Fetch[struct{}](env, "me")
	}
	var group sync.WaitGroup
	for run, w := range workspaces {
		group.Go(func() {
			for _, command := range [][]string{
				{"apply", "-auto-approve", "-parallelism=50"}, {"plan", "-detailed-exitcode"},
			} {
				if out, err := w.Try(command...); err != nil {
					t.Errorf("run %d: %s: %v\n%s", run, command[0], err, out)
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

// A plan ends soon if everything is gone or nothing answers. The time is from its first request to its last, because
// the CLI is slow on a busy machine.
func TestAccRequests_ThingsMissingOrAPIDown(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const n, most = 20, 15 * time.Second
	env := start(t, 2*n, 1)
	existing := env.Workspace(keysAndTemplates + serversConfig(n) + fleetConfig(n))
	existing.Run("apply", "-auto-approve", "-parallelism=50")
	planned := env.Workspace(serversConfig(n) + fleetConfig(n))
	plan := func(reason string, outage bool, workspaces ...*acctest.Workspace) {
		env.ClearRequests()
		var plans sync.WaitGroup
		for i, w := range workspaces {
			plans.Go(func() {
				output, err := w.Try("plan", "-detailed-exitcode", "-no-color")
				output = acctest.Words(acctest.WithoutFrame(output))
				if err == nil || outage != strings.Contains(output, "no usable answer") {
					t.Errorf("%s: plan %d ends with %v:\n%s", reason, i, err, output)
				}
			})
		}
		plans.Wait()
		requests := env.Requests()
		took := requests[len(requests)-1].At.Sub(requests[0].At)
		if t.Logf("%s: %d requests in %s", reason, len(requests), took); took > most {
			t.Errorf("%s: %s, want at most %s", reason, took, most)
		}
	}
	for fault, reason := range map[simulator.Fault]string{
		{Drop: simulator.DropBefore}:            "the connections are cut",
		{Status: http.StatusServiceUnavailable}: "the API is unavailable",
	} {
		if err := env.AddFault(fault); err != nil {
			t.Fatal(err)
		}
		plan(reason, true, existing, planned)
		env.ClearFaults()
	}
	for _, list := range []string{"instances", "templates", "ssh-keys", "api-keys"} {
		acctest.List(env, list+"?limit=200", func(one struct{ ID, Slug, Owner string }) {
			if one.Owner != "catalog" && one.ID != env.OwnKeyID() {
				env.Delete(list + "/" + one.ID + one.Slug)
			}
		})
	}
	plan("everything is missing", false, existing)
}
