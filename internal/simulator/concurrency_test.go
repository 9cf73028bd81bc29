package simulator_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestConcurrentRequests sends random requests and control calls from many goroutines. It is for the race detector. At
// the end each key has one instance, each offer has at most one rental and the ledger is consistent, even after a
// restart from the state file.
func TestConcurrentRequests(t *testing.T) {
	const clients, requests = 50, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	file := filepath.Join(t.TempDir(), "state.json")
	api := uncheckedClient(t, simulator.Config{Seed: 7, State: file, TimeScale: 1000, Boot: time.Second, APIKey: testKey})
	offers := api.list("/offers")[:4]
	var all sync.WaitGroup
	var created sync.Map
	for c := range clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(c)))
			for range requests {
				randomRequest(api, rng, offers, &created)
			}
		})
	}
	all.Wait()
	api.save()
	checkOneRentalPerOffer(api, offers)
	restarted := uncheckedClient(t, simulator.Config{State: file, Clock: simulator.ClockManual})
	checkLedger(restarted, nil)
	checkOneRentalPerOffer(restarted, offers)
}

func checkOneRentalPerOffer(api *client, offers []object) {
	api.t.Helper()
	rentals := map[string]int{}
	for _, i := range api.Overview().Instances {
		rentals[i.OfferID]++
	}
	for _, o := range offers {
		id := o.text("id")
		n, available := rentals[id], api.get("/offers/" + id).ok()["available"] == true
		check(api.t, n == 0 || n == 1 && !available, "offer %s has %d rentals, available %t", id, n, available)
	}
}

// randomRequest sends one request that may succeed or be refused, but must not be an internal error.
func randomRequest(api *client, rng *rand.Rand, offers []object, created *sync.Map) {
	id, offerID := "ins_none", offers[rng.IntN(len(offers))].text("id")
	if instances := api.Overview().Instances; len(instances) > 0 {
		id = instances[rng.IntN(len(instances))].ID
	}
	create := fmt.Sprintf(`{"offer_id":%q,"template":"ubuntu","disk_gb":50,"type":"interruptible"}`, offerID)
	calls := []struct{ method, target, body string }{
		{"POST", "/api/v1/instances", create},
		{"POST", "/api/v1/instances", create},
		{"POST", "/api/v1/instances/" + id + "/start", ""},
		{"POST", "/api/v1/instances/" + id + "/stop", ""},
		{"DELETE", "/api/v1/instances/" + id, ""},
		{"GET", "/api/v1/instances?status=all", ""},
		{"GET", "/api/v1/offers?limit=200", ""},
		{"POST", "/api/v1/ssh-keys", `{"public_key":"` + publicKey(1) + `"}`},
		{"POST", "/api/v1/auth/device", ""},
		{"POST", "/control/clock", `{"advance_seconds":900}`},
		{"PATCH", "/control/offers/" + offerID, fmt.Sprintf(`{"interruptible_kop_h":%d}`, rng.IntN(9000))},
		{"PATCH", "/control/offers/" + offerID, fmt.Sprintf(`{"available":%t}`, rng.IntN(3) > 0)},
		{"PATCH", "/control/instances/" + id, `{"status":"running"}`},
		{"PATCH", "/control/account", fmt.Sprintf(`{"balance_kop":%d}`, rng.IntN(9_000_000))},
		{"POST", "/control/faults", `{"path":"/gpus","status":503,"times":1}`},
		{"GET", "/control/requests", ""},
	}
	call := calls[rng.IntN(len(calls))]
	key := fmt.Sprint("key ", rng.IntN(30))
	a := api.withHeader("Idempotency-Key", key).send(call.method, call.target, call.body)
	check(api.t, a.status != http.StatusInternalServerError, "%s: %d %s", a.request, a.status, a.body)
	if call.target == "/api/v1/instances" && a.status < 300 {
		first, _ := created.LoadOrStore(key, a.object()["id"])
		equal(api.t, "instance of "+key, a.object()["id"], first)
	}
}
