package chaos

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var (
	count    = flag.Int("chaos.seeds", 1, "run the test with this `number` of random seeds")
	onlySeed = flag.Uint64("chaos.seed", 0, "run the test with this `seed` only; 0 means random seeds")
	applies  = flag.Int("chaos.applies", 2, "apply with changes and faults this `number` of times in each run")
)

// firstSeed is the first of the seeds of this run of the tests, which follow each other.
var firstSeed = uint64(rand.Uint32())

// TestMain prints the seeds before the tests, in the output of the package, which is shown even if all tests pass.
func TestMain(m *testing.M) {
	flag.Parse()
	if *onlySeed != 0 {
		firstSeed, *count = *onlySeed, 1
	}
	if os.Getenv("TF_ACC") != "" {
		fmt.Fprintf(os.Stdout, "chaos: %d runs from seed %d; repeat one with make chaos SEED=N APPLIES=%d\n",
			*count, firstSeed, *applies)
	}
	os.Exit(m.Run())
}

func TestAccChaos(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for seed := firstSeed; seed < firstSeed+uint64(*count); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			newRun(t, seed).test()
		})
	}
}

// run is one run with a seed: several applies, and the destruction of everything.
type run struct {
	*testing.T
	rng       *rand.Rand // for the changes and events
	quirkRNG  *rand.Rand
	env       *acctest.Env
	workspace *acctest.Workspace
	recorder  *recorder
	config    *configuration
	log       []string // what happened
	hadQuirks bool     // during at least one apply
}

func newRun(t *testing.T, seed uint64) *run {
	t.Helper()
	r := &run{
		T: t, recorder: newRecorder(),
		rng: rand.New(rand.NewPCG(seed, 0)), quirkRNG: rand.New(rand.NewPCG(seed, 1)),
	}
	r.config = newConfiguration(r.rng)
	// The run itself switches quirks on and off.
	r.env = acctest.Start(t, acctest.Intercept(acctest.AnyRequest.Do(r.recorder.intercept)),
		acctest.WithoutQuirks("all"),
		func(c *simulator.Config) { c.Seed = seed })
	r.recorder.secrets.Add(r.env.APIKey)
	r.workspace = r.env.Workspace("", append(acctest.Traced(), "GOGC=400")...)
	r.logf("kills: %t, max_retries: %d, short timeout: %t\n%s", r.config.kills, r.config.maxRetries,
		r.config.shortTimeout, r.config.resources())
	t.Cleanup(func() {
		if !t.Failed() && *onlySeed == 0 {
			return
		}
		for _, request := range r.env.Requests() {
			r.logf("%s %s %s %d", request.At.Format("15:04:05"), request.Method, request.Path, request.Status)
		}
		t.Logf("Repeat with: make chaos SEED=%d APPLIES=%d\n%s", seed, *applies, strings.Join(r.log, "\n"))
	})
	return r
}

func (r *run) logf(format string, arguments ...any) {
	r.log = append(r.log, fmt.Sprintf(format, arguments...))
}

// test applies a changing configuration under faults, then without faults, and destroys everything.
func (r *run) test() {
	r.must(r.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(fullBalance)), MaxInstances: new(int64(100))}))
	for range *applies {
		r.switchQuirks()
		r.addFaults()
		if r.config.kills && r.rng.IntN(4) > 0 {
			r.applyKilled()
		} else {
			output, err := r.apply()
			r.env.ClearFaults()
			r.logOutput("apply", output, err)
			r.removeReported(output)
		}
		r.checkNothingLost()
		r.logf("--- configuration change: %s", r.config.change(r.rng))
		r.logf("--- event: %s", r.event())
	}
	r.undoEvents()
	if !r.converge() {
		r.Errorf("%d applies without faults failed", attempts)
	}
	output, err := r.workspace.Try("plan", "-detailed-exitcode", "-no-color")
	r.logOutput("plan", output, err)
	if err != nil {
		r.Error("the plan after the apply has changes")
	}
	r.checkNothingLost()
	r.checkServers()
	r.switchQuirks()
	r.destroy()
	r.recorder.secrets.Check(r, map[string]string{"log": r.workspace.Trace(), "output": strings.Join(r.log, "\n")})
	if r.env.FaultsActed() == 0 {
		r.Error("no fault occurred: the run tested nothing")
	}
	if !r.hadQuirks {
		r.Error("no quirk was on: the run tested nothing")
	}
}

func (r *run) apply() (string, error) {
	r.configure()
	before := len(r.env.Requests())
	output, err := r.workspace.Try("apply", "-auto-approve", "-no-color")
	r.waitForService()
	if len(r.env.Requests()) == before {
		r.Errorf("the apply made no request: it tested nothing:\n%s", output)
	}
	return output, err
}

func (r *run) configure() {
	r.workspace.Configure(r.config.provider(r.env.BaseURL, r.env.APIKey) + r.config.resources())
}

func (r *run) logOutput(command, output string, err error) {
	r.logf("--- %s: %v\n%s", command, err, output)
}

// lists are the lists of objects, by resource type, that the API creates without an idempotency key.
var lists = map[string]string{
	"gpurent_template": "templates", "gpurent_ssh_key": "ssh-keys", "gpurent_api_key": "api-keys",
}

// removeReported does what an error about an unknown outcome advises: it removes the object, if there is one. At the
// end, nothing may be left that no error reported.
func (r *run) removeReported(output string) {
	for diagnostic := range strings.SplitSeq(output, "╷") {
		if !strings.Contains(acctest.WithoutFrame(diagnostic), "may or may not have been carried out") {
			continue
		}
		for kind, list := range lists {
			if strings.Contains(diagnostic, "with "+kind+".own") {
				r.removeUnsaved(kind, list)
			}
		}
	}
}

// removeUnsaved removes the objects of a resource type that this run created and that are not in the state.
func (r *run) removeUnsaved(kind, list string) {
	type object struct{ ID, Slug, Owner, Name string }
	id := func(o object) string { return cmp.Or(o.ID, o.Slug) }
	saved := acctest.SavedIn[object](r.workspace, kind)
	acctest.List(r.env, list+"?limit=200", func(o object) {
		created := o.Owner != "catalog" && (kind != "gpurent_api_key" || o.Name == "own")
		isSaved := slices.ContainsFunc(saved, func(s acctest.Saved[object]) bool { return id(s.Attributes) == id(o) })
		if created && !isSaved {
			r.logf("--- %s/%s is removed, as an error advises", list, id(o))
			r.env.Delete(list + "/" + id(o))
		}
	})
}

// attempts is the number of applies without faults of which one must succeed. The consequences of a fault, such as a
// failed boot, can need more than one.
const attempts = 3

// converge applies until an apply succeeds, and reports whether one did.
func (r *run) converge() bool {
	for range attempts {
		output, err := r.apply()
		r.logOutput("apply without faults", output, err)
		if err == nil {
			return true
		}
	}
	return false
}

// destroy destroys everything, first with faults and then without.
func (r *run) destroy() {
	r.addFaults()
	output, err := r.workspace.Try("destroy", "-auto-approve", "-no-color")
	r.env.ClearFaults()
	r.logOutput("destroy", output, err)
	r.checkNothingLost()
	r.env.SetQuirks() // without retries, one failure by a quirk ends the command
	output, err = r.workspace.Try("destroy", "-auto-approve", "-no-color")
	r.logOutput("destroy without faults", output, err)
	if left := r.live(); err != nil || len(left) > 0 || len(r.saved()) > 0 {
		r.Errorf("after destroy (%v), %v are left in the account and %v in the state", err, left, r.saved())
	}
	if err := errors.Join(r.env.NoOwnTemplate(), r.env.NothingLeft("ssh-keys"), r.env.OnlyKeyLeft()); err != nil {
		r.Error(err)
	}
	r.checkLedger()
}

// savedServer is a server in the state.
type savedServer struct {
	ID      string
	OfferID string `json:"rented_offer_id"`
}

// saved returns the servers in the state, including deposed ones and the members of the fleet.
func (r *run) saved() []acctest.Saved[savedServer] {
	type fleet struct {
		Instances map[string]struct {
			ID      string
			OfferID string `json:"offer_id"`
		}
	}
	all := acctest.SavedIn[savedServer](r.workspace, "gpurent_instance")
	for _, saved := range acctest.SavedIn[fleet](r.workspace, "gpurent_fleet") {
		for _, member := range saved.Attributes.Instances {
			all = append(all, acctest.Saved[savedServer]{Attributes: savedServer{member.ID, member.OfferID}})
		}
	}
	return all
}

// checkNothingLost holds after every apply, even a failed one: each existing server is in the state, and no idempotency
// key has created a second server while the first one existed. The fleet never had two members in one slot, and never
// exceeded its cap.
func (r *run) checkNothingLost() {
	r.Helper()
	saved := r.saved()
	for _, s := range r.live() {
		if !slices.ContainsFunc(saved, func(one acctest.Saved[savedServer]) bool { return one.Attributes.ID == s.ID }) {
			r.Errorf("server %+v is not in the state", s)
		}
	}
	for _, violation := range r.recorder.takeViolations() {
		r.Error(violation)
	}
}

// checkServers holds after the configuration has converged: the servers in the state are the existing ones, as many as
// the configuration has, in a stable status.
func (r *run) checkServers() {
	live, want := r.live(), len(r.config.servers)+r.config.size()
	if len(live) != want || len(r.saved()) != want {
		r.Errorf("%d servers exist, %d are in the state, and %d in the configuration", len(live), len(r.saved()), want)
	}
	for _, s := range live {
		if s.Status != "running" && s.Status != "stopped" && s.Status != "outbid" {
			r.Errorf("server %+v has no stable status", s)
		}
	}
}
