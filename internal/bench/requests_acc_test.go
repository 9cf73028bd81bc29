package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	// pageSize is the number of instances on a page of a list.
	pageSize = 200
	// cacheTTL is how long the provider reads instances from one list. A slower CLI needs another list.
	cacheTTL = 30 * time.Second
)

// maxPlanRequests returns the bound for the plan of new servers with offer ids. A market of several pages needs a
// request for each, up to five.
func maxPlanRequests(offers int) int { return 6 + min((offers-1)/pageSize, 4) }

// maxRefreshRequests returns the bound for a refresh with this duration.
func maxRefreshRequests(servers int, took time.Duration) int {
	return (servers/pageSize + 2) * (1 + int(took/cacheTTL))
}

// maxCreateRequests returns the bound for a creation with -parallelism=50, which waits until every server is ready.
func maxCreateRequests(servers int) int { return servers*3/2 + 15 }

// maxDestroyRequests returns the bound for a destruction with -parallelism=50.
func maxDestroyRequests(servers int) int { return servers*13/10 + 5 }

// scaledPolling is the default poll interval on a clock with the time scale 2.
const scaledPolling = `poll_interval = "2500ms"`

// startUnlimited starts a simulator without a rate limit that has an offer for each server. Its clock runs at twice the
// real time.
func startUnlimited(t *testing.T, servers int) *acctest.Env {
	t.Helper()
	// These quirks need additional requests.
	quirks := acctest.WithoutQuirks("status-after-work", "gateway-errors", "small-pages", "lagging-list",
		"lagging-status", "optional-fields-absent", "strange-neighbours")
	env := acctest.Start(t, quirks, func(c *simulator.Config) {
		c.Clock, c.Step, c.TimeScale, c.MarketScale = simulator.ClockReal, 0, 2, 1+servers/offersPerScale
	})
	env.SetRateLimit(0, 0)
	setAccount(t, env, servers)
	return env
}

func setAccount(t *testing.T, env *acctest.Env, servers int) {
	t.Helper()
	account := simulator.AccountPatch{BalanceKop: new(int64(balanceKop)), MaxInstances: new(int64(servers))}
	if err := env.SetAccount(account); err != nil {
		t.Fatal(err)
	}
}

func offerIDs(env *acctest.Env) (ids []string) {
	acctest.List(env, "offers?limit=200", func(o acctest.Offer) { ids = append(ids, o.ID) })
	return ids
}

// countRequests runs a command and checks the number of its requests.
func countRequests(
	t *testing.T, env *acctest.Env, w *acctest.Workspace, bound func(time.Duration) int, command ...string,
) {
	t.Helper()
	env.ClearRequests()
	begin := time.Now()
	w.Run(command...)
	limit, endpoints := bound(time.Since(begin)), map[string]int{}
	requests := env.Requests()
	for _, r := range requests {
		collection, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		endpoints[r.Method+" "+collection]++
	}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		text = append(text, fmt.Sprintf("%d %s", endpoints[name], name))
	}
	t.Logf("%s: %d requests (≤ %d): %s", command[0], len(requests), limit, strings.Join(text, ", "))
	if len(requests) > limit {
		t.Errorf("%s: %d requests, want at most %d", strings.Join(command, " "), len(requests), limit)
	}
}

func TestAccRequests(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	sizes := []int{60}
	if acctest.Whole() {
		sizes = []int{200, 500, 1000}
	}
	for _, servers := range sizes {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			t.Parallel()
			testRequests(t, servers)
		})
	}
}

func testRequests(t *testing.T, servers int) {
	t.Helper()
	env := startUnlimited(t, servers)
	offers := offerIDs(env)
	w := env.Workspace(serversConfig(scaledPolling, "gpu", offers[:servers]))
	constant := func(n int) func(time.Duration) int { return func(time.Duration) int { return n } }
	refresh := func(took time.Duration) int { return maxRefreshRequests(servers, took) }
	const parallel = "-parallelism=50"
	countRequests(t, env, w, constant(maxPlanRequests(len(offers))), "plan", "-out=plan", parallel)
	countRequests(t, env, w, constant(maxCreateRequests(servers)), "apply", parallel, "plan")
	countRequests(t, env, w, refresh, "plan", "-detailed-exitcode", "-parallelism=10")
	countRequests(t, env, w, refresh, "plan", "-detailed-exitcode", parallel)
	countRequests(t, env, w, constant(1), "plan", "-target=gpurent_instance.server[7]")
	countRequests(t, env, w, constant(maxDestroyRequests(servers)), "destroy", "-auto-approve", parallel)
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Instances that wait share one list of offers in each look interval, which is a minute by default, and send no
// requests with the key. The looks of a simulated hour take 18 seconds.
func TestAccRequests_Waiting(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const lookInterval = 300 * time.Millisecond
	servers, looks := 10, 10
	if acctest.Whole() {
		servers, looks = 50, 60
	}
	env := startUnlimited(t, servers)
	env.AddSSHKey()
	for _, offer := range env.Offers("gpu=h100_sxm&limit=200") {
		if err := env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
			t.Fatal(err)
		}
	}
	const config = `
provider "gpurent" {
  poll_interval = %q
}

resource "gpurent_instance" "server" {
  count          = %d
  name           = "server-${count.index}"
  template       = "pytorch"
  disk_gb        = 60
  offer_query    = { gpu = ["h100_sxm"] }
  wait_for_offer = %q
}
`
	w := env.Workspace(fmt.Sprintf(config, lookInterval/12, servers, time.Duration(looks)*lookInterval))
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

// The API has no request for a single SSH key, template or API key: a refresh lists each kind.
func TestAccRequests_KeysAndTemplates(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := startUnlimited(t, 0)
	w := env.Workspace(`
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
`)
	w.Run("apply", "-auto-approve", "-parallelism=50")
	const kinds = 3
	countRequests(t, env, w, func(time.Duration) int { return kinds + 2 }, "plan", "-detailed-exitcode")
}

// Four runs share a key whose rate limit is already exhausted. All of them succeed, and every server is in a state.
func TestAccRateLimit_FourRunsWithOneKey(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const runs, each, perKey, perAddress = 4, 40, 120, 60
	env := acctest.Start(t, func(c *simulator.Config) {
		// A minute of the simulator takes three seconds.
		c.Clock, c.Step, c.TimeScale, c.MarketScale = simulator.ClockReal, 0, 20, 1+runs*each/offersPerScale
	})
	setAccount(t, env, runs*each)
	env.SetRateLimit(0, 0)
	offers := offerIDs(env)[:runs*each]
	env.SetRateLimit(perKey, perAddress)
	for range perKey {
		acctest.Fetch[struct{}](env, "me")
	}
	var group sync.WaitGroup
	for run := range runs {
		config := serversConfig(`poll_interval = "250ms"`, fmt.Sprintf("run%d", run), offers[run*each:(run+1)*each])
		w := env.Workspace(config)
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
