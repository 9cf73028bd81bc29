package simulator_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestConcurrentRequests sends random requests and control calls from many goroutines. It is for the race detector. At
// the end each offer has at most one rental and the ledger is consistent, also after a restart from the state file.
func TestConcurrentRequests(t *testing.T) {
	const clients, requests = 50, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	file := filepath.Join(t.TempDir(), "state.json")
	srv := start(t, simulator.Config{Seed: 7, State: file, TimeScale: 1000, Boot: time.Second, APIKey: testKey})
	srv.SetRateLimit(0, 0)
	r := &rig{Simulator: srv.Simulator, t: t, key: testKey, header: http.Header{}}
	offers := list[offer](r, "/offers", 200)[:4]
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(c)))
			for n := range requests {
				randomRequest(t, srv, rng, offers, fmt.Sprint(c, "-", n))
			}
		})
	}
	all.Wait()
	checkOneRentalPerOffer(r, offers)
	http.DefaultClient.CloseIdleConnections()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	restarted := uncheckedRig(t, simulator.Config{State: file, Clock: simulator.ClockManual})
	checkLedger(restarted, nil)
	checkOneRentalPerOffer(restarted, offers)
}

func checkOneRentalPerOffer(r *rig, offers []offer) {
	r.t.Helper()
	rentals := map[string]int{}
	for _, i := range r.Overview().Instances {
		rentals[i.OfferID]++
	}
	for _, o := range offers {
		var now offer
		r.do("GET", "/offers/"+o.ID, nil).want(200).into(&now)
		if n := rentals[o.ID]; n > 1 || n == 1 && now.Available {
			r.t.Errorf("offer %s has %d rentals, available %t", o.ID, n, now.Available)
		}
	}
}

// randomRequest sends one request that may succeed or be refused, but must not be an internal error.
func randomRequest(t *testing.T, srv *simulator.Server, rng *rand.Rand, offers []offer, key string) {
	id, offerID := "ins_none", offers[rng.IntN(len(offers))].ID
	if instances := srv.Overview().Instances; len(instances) > 0 {
		id = instances[rng.IntN(len(instances))].ID
	}
	create := fmt.Sprintf(`{"offer_id":%q,"template":"ubuntu","disk_gb":50,"type":"interruptible"}`, offerID)
	calls := []struct{ method, url, body string }{
		{"POST", srv.BaseURL + "/instances", create},
		{"POST", srv.BaseURL + "/instances", create},
		{"POST", srv.BaseURL + "/instances/" + id + "/start", ""},
		{"POST", srv.BaseURL + "/instances/" + id + "/stop", ""},
		{"DELETE", srv.BaseURL + "/instances/" + id, ""},
		{"GET", srv.BaseURL + "/instances?status=all", ""},
		{"GET", srv.BaseURL + "/offers?limit=200", ""},
		{"POST", srv.BaseURL + "/ssh-keys", `{"public_key":"` + ed25519A + `"}`},
		{"POST", srv.BaseURL + "/auth/device", ""},
		{"POST", srv.ControlURL + "/clock", `{"advance_seconds":900}`},
		{"PATCH", srv.ControlURL + "/offers/" + offerID, fmt.Sprintf(`{"interruptible_kop_h":%d}`, rng.IntN(9000))},
		{"PATCH", srv.ControlURL + "/offers/" + offerID, fmt.Sprintf(`{"online":%t}`, rng.IntN(3) > 0)},
		{"PATCH", srv.ControlURL + "/instances/" + id, `{"status":"running","traffic_gb":1.5}`},
		{"PATCH", srv.ControlURL + "/account", fmt.Sprintf(`{"balance_kop":%d}`, rng.IntN(9_000_000))},
		{"POST", srv.ControlURL + "/faults", `{"path":"/gpus","status":503,"times":1}`},
		{"GET", srv.ControlURL + "/requests", ""},
	}
	call := calls[rng.IntN(len(calls))]
	if rng.IntN(300) == 0 {
		call.method, call.url, call.body = "POST", srv.ControlURL+"/reset", ""
	}
	req, err := http.NewRequestWithContext(t.Context(), call.method, call.url, strings.NewReader(call.body))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", call.method, call.url, err)
		return
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s %s: %d %s, %v", call.method, call.url, resp.StatusCode, body, err)
	}
}
