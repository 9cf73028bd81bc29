package chaos

import (
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
	seeds = flag.Int("chaos.seeds", 1, "how many walks to take")
	only  = flag.Uint64("chaos.seed", 0, "the one walk to take; 0 takes all")
)

const steps = 5

func TestAccChaos(t *testing.T) {
	acctest.FirstCLIOnly(t)
	if *only != 0 {
		takeWalk(t, *only)
		return
	}
	first := uint64(1)
	if os.Getenv("TF_ACC_PROVIDER_HOST") != "" {
		first = 10_001 // OpenTofu takes other walks
	}
	for seed := first; seed < first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			takeWalk(t, seed)
		})
	}
}

// walk is one life of a configuration.
type walk struct {
	*testing.T
	env     *acctest.Env
	space   *acctest.Workspace
	witness *witness
	wishes  *wishes
	away    []string // offers whose host is away
	failing []string // offers that fail to boot
	told    []string // what happened
	quirky  bool     // quirks were on during an apply
}

func takeWalk(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := &walk{T: t, witness: newWitness(), wishes: newWishes(rng)}
	// The walk switches quirks by itself.
	w.env = acctest.Start(t, acctest.WithWrap(w.witness.wrap), acctest.WithoutQuirks("all"), func(c *simulator.Config) { c.Seed = seed })
	quirks := rand.New(rand.NewPCG(seed, 1))
	w.witness.issued(w.env.APIKey)
	w.space = w.env.Workspace("", append(acctest.Traced(), "GOGC=400")...)
	w.told = append(w.told, fmt.Sprintf("--- retries: %d, impatient: %t", w.wishes.retries, w.wishes.impatient))
	defer func() {
		if t.Failed() || *only != 0 {
			for _, r := range w.env.Requests() {
				w.told = append(w.told, fmt.Sprintf("%s %s %s %d", r.At.Format("15:04:05"), r.Method, r.Path, r.Status))
			}
			t.Logf("go test ./internal/chaos -run TestAccChaos -chaos.seed=%d\n%s", seed, strings.Join(w.told, "\n"))
		}
	}()
	w.must(w.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(wealth)), MaxInstances: new(int64(100))}))
	for range steps {
		w.switchQuirks(quirks)
		calm := w.stormy()
		output, err := w.apply()
		calm()
		w.tell("apply", output, err)
		w.nothingLost()
		w.told = append(w.told, "--- the user: "+w.wishes.change(rng), "--- the world: "+w.happen(rng))
	}
	w.peace()
	w.settle()
	w.nothingLost()
	w.converged()
	w.switchQuirks(quirks)
	w.endWell()
	w.secrets()
	if w.env.FaultsActed() == 0 {
		w.Error("no fault fired: nothing was tested")
	}
	if !w.quirky {
		w.Error("no quirk was on: nothing was tested")
	}
}

func (w *walk) apply() (string, error) {
	w.space.Configure(w.wishes.provider(w.env.BaseURL, w.env.APIKey) + w.wishes.text())
	before := len(w.env.Requests())
	output, err := w.space.Try("apply", "-auto-approve", "-no-color")
	if len(w.env.Requests()) == before {
		w.Errorf("the apply made no request: nothing was tested:\n%s", output)
	}
	return output, err
}

func (w *walk) tell(what, output string, err error) {
	w.told = append(w.told, fmt.Sprintf("--- %s: %v\n%s", what, err, output))
}

// settle applies until all is well. What a storm has left behind may take one
// apply to come to light, as a boot that fails does.
func (w *walk) settle() {
	const tries = 3
	for n := range tries {
		output, err := w.apply()
		w.tell("apply in peace", output, err)
		if err == nil {
			break
		}
		if n == tries-1 {
			w.Error("it does not converge")
		}
	}
	output, err := w.space.Try("plan", "-detailed-exitcode", "-no-color")
	w.tell("plan", output, err)
	if err != nil {
		w.Error("there is still something to change")
	}
}

// endWell destroys everything, in a storm and then in peace.
func (w *walk) endWell() {
	calm := w.stormy()
	output, err := w.space.Try("destroy", "-auto-approve", "-no-color")
	calm()
	w.tell("destroy", output, err)
	w.nothingLost()
	w.must(w.env.SetQuirks()) // without retries, one of their failures ends an apply
	output, err = w.space.Try("destroy", "-auto-approve", "-no-color")
	w.tell("destroy in peace", output, err)
	if left := w.live(); err != nil || len(left) > 0 || len(w.saved()) > 0 {
		w.Errorf("the destruction ends with %v and leaves %v, and in the state %v", err, left, w.saved())
	}
	if err := errors.Join(w.env.NoneOwned(), w.env.NothingLeft("ssh-keys"), w.env.OnlyKeyLeft()); err != nil {
		w.Error(err)
	}
	w.ledgerRight()
}

// savedServer is a server of the state.
type savedServer struct {
	ID      string
	OfferID string `json:"rented_offer_id"`
}

// saved are the servers of the state, those to be destroyed yet included.
func (w *walk) saved() []acctest.Saved[savedServer] {
	return acctest.SavedIn[savedServer](w.space, "gpurent_instance")
}

// nothingLost holds after every apply, however it ended: what exists is saved,
// and no key has rented twice.
func (w *walk) nothingLost() {
	w.Helper()
	saved := w.saved()
	for _, s := range w.live() {
		if !slices.ContainsFunc(saved, func(one acctest.Saved[savedServer]) bool { return one.Attributes.ID == s.ID }) {
			w.Errorf("server %+v is in no state", s)
		}
	}
	for key, ids := range w.witness.rented() {
		if len(ids) != 1 {
			w.Errorf("key %s has rented %v", key, ids)
		}
	}
}

// converged holds in the end: the servers of the state are those that exist, as
// many as are wanted, each where it is wanted.
func (w *walk) converged() {
	live := w.live()
	if len(live) != len(w.wishes.servers) || len(w.saved()) != len(live) {
		w.Errorf("%d servers exist, %d are saved, %d are wanted", len(live), len(w.saved()), len(w.wishes.servers))
	}
	for _, s := range live {
		if s.Status != "running" && s.Status != "stopped" && s.Status != "outbid" {
			w.Errorf("server %+v is not settled", s)
		}
	}
}
