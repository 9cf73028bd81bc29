//go:build linux

package instance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// startStory starts a simulator with exactly these quirks, because a story is about one of them.
func startStory(t *testing.T, quirks []string, options ...acctest.Option) *acctest.Env {
	t.Helper()
	acctest.FirstCLIOnly(t)
	t.Parallel()
	env := acctest.Start(t, append(options, acctest.WithoutQuirks("all"), acctest.WithQuirks(quirks...))...)
	env.AddSSHKey()
	return env
}

// server is an instance of the account.
type server struct {
	ID, Status string
	CreatedAt  time.Time `json:"created_at"`
}

// live returns the servers that exist.
func live(env *acctest.Env) (servers []server) {
	acctest.List(env, "instances?limit=200", func(s server) {
		if s.Status != "destroying" {
			servers = append(servers, s)
		}
	})
	return servers
}

// expectServers checks that exactly the servers in the state exist, that they run, and their number. Rented is the
// number of all servers that were ever rented.
func expectServers(t *testing.T, env *acctest.Env, w *acctest.Workspace, want, rented int) {
	t.Helper()
	var now, saved []string
	for _, s := range live(env) {
		now = append(now, s.ID)
	}
	for _, object := range acctest.SavedIn[server](w, "gpurent_instance") {
		saved = append(saved, object.Attributes.ID)
		if object.Attributes.Status != "running" {
			t.Errorf("instance %s is %s in the state", object.Attributes.ID, object.Attributes.Status)
		}
	}
	slices.Sort(now)
	if slices.Sort(saved); len(now) != want || !slices.Equal(now, saved) {
		t.Errorf("the servers %v exist, and the state has %v: want %d", now, saved, want)
	}
	if err := env.Left("instances?status=all&limit=200", rented); err != nil {
		t.Errorf("of all that were ever rented: %v", err)
	}
}

// expectRun runs a command that must succeed.
func expectRun(t *testing.T, w *acctest.Workspace, command ...string) {
	t.Helper()
	if output, err := w.Try(append(command, "-no-color")...); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
}

// expectDestroyed destroys everything, after a plan without changes.
func expectDestroyed(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
	t.Helper()
	expectRun(t, w, "plan", "-detailed-exitcode")
	expectRun(t, w, "destroy", "-auto-approve")
	if left := live(env); len(left) > 0 {
		t.Errorf("the servers %v are left", left)
	}
}

// A 404 for a server right after its creation does not mean that it is gone, also if the list does not have it yet.
func TestAccInstance_laggingGet(t *testing.T) {
	for name, test := range map[string]struct {
		count  int
		quirks []string
	}{
		"one":           {1, []string{"lagging-get"}},
		"not in a list": {4, []string{"lagging-get", "lagging-list"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := startStory(t, test.quirks, func(c *simulator.Config) { c.Step = 200 * time.Millisecond })
			env.SetRateLimit(0, 0)
			w := env.Workspace(env.Config(configOfMany(test.count)))
			expectRun(t, w, "apply", "-auto-approve")
			if !answered(env, http.StatusNotFound) {
				t.Error("no response was 404, so that the test shows nothing")
			}
			expectServers(t, env, w, test.count, test.count)
			expectDestroyed(t, env, w)
		})
	}
}

// configOfMany returns equal instances.
func configOfMany(count int) string {
	return strings.Replace(configByQuery(`{}`), "offer_query", fmt.Sprintf("count = %d\n  offer_query", count), 1)
}

// answered reports whether a request had a status.
func answered(env *acctest.Env, status int) bool {
	return slices.ContainsFunc(env.Requests(), func(r simulator.Request) bool { return r.Status == status })
}

// A repeated create returns the first response. The state has the actual status of the server, and no destroyed server.
func TestAccInstance_firstAnswerReplays(t *testing.T) {
	for name, destroyed := range map[string]bool{"running": false, "destroyed": true} {
		t.Run(name, func(t *testing.T) {
			env := startStory(t, []string{"first-answer-replays"})
			w := env.Workspace(env.Config(configByQuery(`{}`, `idempotency_key = "k"`)))
			w.Run("apply", "-auto-approve")
			rented := 1
			if destroyed {
				env.Delete("instances/" + live(env)[0].ID)
				env.Advance(time.Minute)
				rented = 2
			}
			w.LoseState()
			expectRun(t, w, "apply", "-auto-approve")
			expectServers(t, env, w, 1, rented)
			expectDestroyed(t, env, w)
		})
	}
}

// A destruction right after an interrupted creation waits until the API allows it.
func TestAccInstance_busyWhileBooting(t *testing.T) {
	env := startStory(t, []string{"busy-while-booting"}, func(c *simulator.Config) { c.Boot = 5 * time.Minute })
	provider := strings.Replace(env.Provider(), `poll_interval = "1ms"`, `poll_interval = "20ms"`, 1)
	w := env.Workspace(provider + configByQuery(`{}`))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	for run.Running() && env.CountRequests(http.MethodPost, "/instances") == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if output, _ := run.Wait(); len(live(env)) != 1 || len(acctest.SavedIn[server](w, "gpurent_instance")) != 1 {
		t.Fatalf("the servers %v exist:\n%s", live(env), output)
	}
	if status := live(env)[0].Status; status != "creating" && status != "starting" {
		t.Fatalf("the server is %s after the interruption, so that the test shows nothing", status)
	}
	expectRun(t, w, "destroy", "-auto-approve")
	if left := live(env); len(left) > 0 {
		t.Errorf("the servers %v are left", left)
	}
}

// An offer that the API refuses for the disk is not the end: the others are tried.
func TestAccInstance_refusedDisks(t *testing.T) {
	env := startStory(t, []string{"refused-disks"})
	w := env.Workspace(env.Config(configOfMany(6)))
	expectRun(t, w, "apply", "-auto-approve")
	expectServers(t, env, w, 6, 6)
	if !answered(env, http.StatusUnprocessableEntity) {
		t.Error("no offer was refused, so that the test shows nothing")
	}
	expectDestroyed(t, env, w)
}

// A creation with wait_for_offer is not misled by an offer that is listed and cannot be rented.
func TestAccInstance_phantomOffers(t *testing.T) {
	env := startStory(t, []string{"phantom-offers"})
	offers := sellOut(t, env, "h100_sxm")
	w := env.Workspace(waitingProvider(env) + configOfWaiting(1, `wait_for_offer = "10m"`))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	awaitLooks(t, env, run, 3)
	appeared := env.Now()
	setOffer(t, env, offers[0].ID, simulator.OfferPatch{Available: new(true)})
	if output, code := run.Wait(); code != 0 || len(live(env)) != 1 {
		t.Fatalf("exit code %d, and the servers %v exist:\n%s", code, live(env), output)
	}
	if late := live(env)[0].CreatedAt.Sub(appeared); late > time.Minute {
		t.Errorf("the server was rented %s after the offer appeared", late)
	}
	expectServers(t, env, w, 1, 1)
	expectDestroyed(t, env, w)
}
