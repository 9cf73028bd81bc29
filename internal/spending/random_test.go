package spending

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

var seeds = flag.Uint64("spending.seeds", 200, "run TestAccount_Random with this `number` of seeds")

// randomLimit is the burn limit of a randomAccount, in kopecks per hour.
const randomLimit = 1000

// randomAccount is an account in which this process and others rent, start and destroy instances at random times.
type randomAccount struct {
	mu      sync.Mutex
	random  *rand.Rand
	servers map[string]*randomServer
	// listLag and burnLag are how long the list and the burn rate lack a change.
	listLag, burnLag time.Duration
	failing          float64 // share of the readings that fail
	changes          []costChange
	own              int64 // sum of what requests of this process in flight may add
}

type randomServer struct {
	foreign          bool
	running, stopped int64 // prices
	history          []serverState
	bootsUntil       time.Time // the burn rate lacks it until then
}

// serverState is the state of a server from a time on.
type serverState struct {
	at     time.Time
	status rental.InstanceStatus
}

// costChange is the sum of all costs from a time on.
type costChange struct {
	at          time.Time
	all, others int64
}

func (w *randomAccount) sleep(most time.Duration) {
	w.mu.Lock()
	d := time.Duration(w.random.Int64N(int64(most)))
	w.mu.Unlock()
	time.Sleep(d)
}

// state returns the state of a server as it was a lag ago; none if it did not exist.
func (s *randomServer) state(lag time.Duration) rental.InstanceStatus {
	status := rental.InstanceStatus("")
	for _, state := range s.history {
		if time.Since(state.at) >= lag {
			status = state.status
		}
	}
	return status
}

func (s *randomServer) cost(lag time.Duration) int64 {
	switch s.state(lag) {
	case "", rental.StatusDestroyed:
		return 0
	case rental.StatusStopped, rental.StatusOutbid:
		return s.stopped
	default:
		return s.running
	}
}

// set changes a server, and records the costs. The lock is held.
func (w *randomAccount) set(s *randomServer, status rental.InstanceStatus) {
	s.history = append(s.history, serverState{time.Now(), status})
	change := costChange{at: time.Now()}
	for _, s := range w.servers {
		change.all += s.cost(0)
		if s.foreign {
			change.others += s.cost(0)
		}
	}
	w.changes = append(w.changes, change)
}

// RoundTrip serves the balance and the list.
func (w *randomAccount) RoundTrip(req *http.Request) (*http.Response, error) {
	w.sleep(time.Second)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.random.Float64() < w.failing {
		return rentaltest.JSONResponse(req, http.StatusForbidden, rentaltest.Failure(http.StatusForbidden))
	}
	burn, list := int64(0), []rental.Instance{}
	for id, s := range w.servers {
		if time.Since(s.bootsUntil) >= 0 {
			burn += s.cost(w.burnLag)
		}
		if status := s.state(w.listLag); status != "" && status != rental.StatusDestroyed {
			list = append(list, rental.Instance{
				ID: id, Status: status, Type: rental.OnDemand,
				Price: rental.InstancePrice{RunningKopH: s.running, StoppedKopH: s.stopped},
			})
		}
	}
	if strings.HasSuffix(req.URL.Path, "/balance") {
		return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"burn_kop_h": burn, "currency": "RUB"})
	}
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": list, "next_cursor": nil})
}

// others is what others have added since a reading could have seen it. The lock is held.
func (w *randomAccount) others() int64 {
	window := maxAge + 3*time.Second + max(w.listLag, w.burnLag)
	before, now := int64(0), int64(0)
	for _, change := range w.changes {
		if time.Since(change.at) > window {
			before = change.others
		} else {
			before = min(before, change.others)
		}
		now = change.others
	}
	return now - before
}

// highest is the highest sum in the time in which a refusal was decided. The lock is held.
func (w *randomAccount) highest(since time.Time) (sum int64) {
	for _, change := range slices.Backward(w.changes) {
		sum = max(sum, change.all)
		if change.at.Before(since.Add(-maxAge - 3*time.Second)) {
			break
		}
	}
	return sum
}

// try rents (inst is nil) or starts an instance.
func (w *randomAccount) try(t *testing.T, account *Account, id string, inst *randomServer, kopH int64) {
	started := id
	if inst == nil {
		started = ""
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	requested := false
	err := account.Spend(ctx, started, kopH, func(context.Context) (string, error) {
		requested = true
		return w.request(t, id, inst, kopH), nil
	})
	if requested {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, refused := errors.AsType[AboveBurnLimit](err)
	sum, lags := w.highest(began)+w.own, w.listLag+w.burnLag > 0
	if _, unreadable := errors.AsType[AccountUnreadable](err); !refused && !unreadable ||
		refused && sum+kopH <= randomLimit && !lags {
		t.Errorf("%v at %d, the account costs %d", err, kopH, sum)
	}
}

// request rents or starts an instance, or does not. It returns the id of what may be billed.
func (w *randomAccount) request(t *testing.T, id string, inst *randomServer, kopH int64) string {
	w.mu.Lock()
	w.own += kopH
	w.mu.Unlock()
	w.sleep(2 * time.Second)
	w.mu.Lock()
	outcome := w.random.IntN(10)
	works := outcome > 1 // 0: refused, 1: the outcome is unknown and nothing was done
	if outcome == 2 {
		outcome = 1 // the outcome is unknown, and it was done
	}
	if works {
		w.perform(t, id, inst, kopH)
	}
	if outcome == 1 { // it counts for a while
		time.AfterFunc(lag+maxAge+3*time.Second, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.own -= kopH
		})
	} else {
		w.own -= kopH
	}
	w.mu.Unlock()
	w.sleep(time.Second)
	switch {
	case outcome == 0:
		return ""
	case outcome == 1 && inst == nil:
		return "key " + id
	default:
		return id
	}
}

// perform rents or starts an instance. The lock is held.
func (w *randomAccount) perform(t *testing.T, id string, s *randomServer, kopH int64) {
	status := rental.StatusRunning
	if s == nil {
		s = &randomServer{running: kopH, stopped: kopH / 10, bootsUntil: time.Now().Add(time.Minute)}
		w.servers[id] = s
		status = rental.StatusCreating
	}
	s.running = kopH
	w.set(s, status)
	if last := w.changes[len(w.changes)-1]; last.all-w.others() > randomLimit {
		t.Errorf("the account costs %d, of which others added %d a moment ago", last.all, w.others())
	}
}

// actor rents an instance, then stops, starts and destroys it, with new prices.
func (w *randomAccount) actor(t *testing.T, account *Account, n int) {
	w.sleep(20 * time.Second)
	for round := range 3 {
		id := fmt.Sprintf("own-%d-%d", n, round)
		w.try(t, account, id, nil, 50+int64(n*37%200))
		w.sleep(time.Minute)
		w.mu.Lock()
		s := w.servers[id]
		if s == nil {
			w.mu.Unlock()
			continue
		}
		w.set(s, rental.StatusOutbid)
		bid := s.running + w.random.Int64N(60)
		w.mu.Unlock()
		w.sleep(time.Minute)
		w.try(t, account, id, s, bid)
		w.sleep(time.Minute)
		w.mu.Lock()
		w.set(s, rental.StatusDestroyed)
		w.mu.Unlock()
		account.Destroyed(id)
	}
}

// foreign rents and destroys instances for another user of the account.
func (w *randomAccount) foreign() {
	for n := range 8 {
		w.sleep(40 * time.Second)
		w.mu.Lock()
		s := &randomServer{foreign: true, running: 20 + w.random.Int64N(150), stopped: 5}
		w.servers[fmt.Sprint("foreign-", n)] = s
		w.set(s, rental.StatusRunning)
		w.mu.Unlock()
		w.sleep(time.Minute)
		w.mu.Lock()
		w.set(s, cmp.Or(map[bool]rental.InstanceStatus{n%3 == 0: rental.StatusStopped}[true], rental.StatusDestroyed))
		w.mu.Unlock()
	}
}

// What this process rents and starts never exceeds the limit, whatever happens at the same time. An instance that is
// refused would have exceeded it, unless the API returns what others have destroyed for a while.
func TestAccount_Random(t *testing.T) {
	for seed := range *seeds {
		synctest.Test(t, func(t *testing.T) {
			w := &randomAccount{
				random: rand.New(rand.NewPCG(seed, 41)), servers: map[string]*randomServer{},
				listLag: time.Duration(seed%3) * 10 * time.Second, burnLag: time.Duration(seed/3%3) * 10 * time.Second,
				failing: []float64{0, 0.05}[seed%2],
			}
			client := rentaltest.Client(t, w)
			account := NewAccount(Limits{RequireFunds: FundsOff, MaxBurnKopH: randomLimit}, client)
			var all sync.WaitGroup
			for n := range 12 {
				all.Go(func() { w.actor(t, account, n) })
			}
			all.Go(w.foreign)
			all.Wait()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}
