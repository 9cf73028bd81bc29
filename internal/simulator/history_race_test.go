package simulator_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	crowd     = 50 // who act at once
	crowdActs = 25 // how often each of them does
)

// TestHistoryOfACrowd lets many do everything at once, over connections and through methods, also what ends everything:
// a reset. Under the race detector nothing may be found, and the books must be right afterwards, also in the file.
func TestHistoryOfACrowd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	srv, err := simulator.Start(t.Context(), simulator.Config{Seed: 7, State: file, TimeScale: 1000, Boot: time.Second, APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	srv.SetRateLimit(0, 0)
	r := &rig{Simulator: srv.Simulator, t: t, key: testKey, header: http.Header{}}
	offers := showcase(r, 7)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowd}}
	var all sync.WaitGroup
	var rented atomic.Int64
	for n := range crowd {
		all.Go(func() {
			one := &member{t: t, srv: srv, client: client, rng: rand.New(rand.NewPCG(7, uint64(n))), offers: offers, number: n, rented: &rented}
			for range crowdActs {
				one.act(t.Context())
			}
		})
	}
	all.Wait()
	if rented.Load() == 0 {
		t.Error("nobody has rented anything")
	}
	client.CloseIdleConnections()
	srv.ClearFaults()
	checkOffers(r, offers)
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	back := bareRig(t, simulator.Config{State: file, Clock: simulator.ClockManual})
	checkBooks(back)
	checkOffers(back, offers)
}

// checkOffers wants at most one rental on each server, and none listed that is held.
func checkOffers(r *rig, offers []offer) {
	r.t.Helper()
	o := r.Overview()
	held := map[string]int{}
	for _, i := range o.Instances {
		held[i.OfferID]++
	}
	for _, shown := range offers {
		var now offer
		r.do("GET", "/offers/"+shown.ID, nil).want(200).into(&now)
		if n := held[shown.ID]; n > 1 || n == 1 && now.Available {
			r.t.Errorf("%d rentals hold an offer that is available: %v", n, now.Available)
		}
	}
}

// member is one of the crowd.
type member struct {
	t      *testing.T
	srv    *simulator.Server
	client *http.Client
	rng    *rand.Rand
	offers []offer
	number int
	acts   int
	rented *atomic.Int64 // how many rentals there were, of all members
}

// act does one thing, of those that anybody may do at any moment. Only an internal error is wrong.
func (c *member) act(ctx context.Context) {
	c.acts++
	offer := c.offers[c.rng.IntN(len(c.offers))].ID
	switch c.rng.IntN(16) {
	case 0, 1, 2:
		kind := []string{"on_demand", "interruptible"}[c.rng.IntN(2)]
		c.ask(ctx, "POST", c.srv.BaseURL+"/instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":50,"type":%q}`, offer, kind))
	case 3, 4:
		c.ask(ctx, "POST", c.srv.BaseURL+"/instances/"+c.any()+[]string{"/start", "/stop"}[c.rng.IntN(2)], "")
	case 5:
		c.ask(ctx, "DELETE", c.srv.BaseURL+"/instances/"+c.any(), "")
	case 6:
		c.ask(ctx, "GET", c.srv.BaseURL+[]string{"/instances?status=all", "/transactions", "/offers?limit=200", "/gpus", "/balance"}[c.rng.IntN(5)], "")
	case 7:
		c.ask(ctx, "POST", c.srv.BaseURL+"/ssh-keys", `{"public_key":"`+ed25519A+`"}`)
	case 8:
		c.ask(ctx, "POST", c.srv.BaseURL+"/auth/device", "")
	case 9:
		c.ask(ctx, "POST", c.srv.ControlURL+"/clock", `{"advance_seconds":900}`)
	case 10:
		c.ask(ctx, "PATCH", c.srv.ControlURL+"/offers/"+offer, fmt.Sprintf(`{"interruptible_kop_h":%d,"online":%v}`, c.rng.IntN(9000), c.rng.IntN(3) > 0))
	case 11:
		c.ask(ctx, "GET", c.srv.ControlURL+"/requests", "")
	case 12:
		c.srv.Advance(time.Duration(c.rng.IntN(5000)) * time.Millisecond)
		c.srv.Overview()
	case 13:
		// An instance may be gone by now.
		_ = c.srv.SetInstance(c.any(), simulator.InstancePatch{TrafficGB: new(1.5), Status: new("running")}) //nolint:errcheck // see above
	case 14:
		c.must(c.srv.SetAccount(simulator.AccountPatch{BalanceKop: new(c.rng.Int64N(9_000_000))}))
		c.must(c.srv.AddFault(simulator.Fault{Path: "/gpus", Drop: simulator.DropAfter, Times: 1}))
	case 15:
		c.srv.Requests()
		if c.acts == crowdActs/2 {
			c.must(c.srv.Reset())
			c.srv.SetRateLimit(0, 0)
		}
	}
}

func (c *member) must(err error) {
	if err != nil {
		c.t.Error(err)
	}
}

// any returns the id of an instance, or one that nobody has.
func (c *member) any() string {
	if all := c.srv.Overview().Instances; len(all) > 0 {
		return all[c.rng.IntN(len(all))].ID
	}
	return "ins_none"
}

func (c *member) ask(ctx context.Context, method, url, body string) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", fmt.Sprint("k", c.number, c.acts))
	resp, err := c.client.Do(req)
	if err != nil {
		if !strings.HasSuffix(url, "/gpus") { // those are cut, by a fault
			c.t.Errorf("%s %s: %v", method, url, err)
		}
		return
	}
	defer resp.Body.Close()
	if method == "POST" && strings.HasSuffix(url, "/instances") && resp.StatusCode == http.StatusCreated {
		c.rented.Add(1)
	}
	told, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusInternalServerError {
		c.t.Errorf("%s %s: %d %s, %v", method, url, resp.StatusCode, told, err)
	}
}
