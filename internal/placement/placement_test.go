package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// fakeAPI rents each of its offers once, and takes a second for each response.
type fakeAPI struct {
	mu     sync.Mutex
	prices map[string]int64                  // of the available offers, kopecks per hour
	byKey  map[string]rental.Instance        // by idempotency key
	counts map[string]int                    // requests by method and path
	order  []string                          // the offers that were rented
	before func(order rental.InstanceCreate) // is called before each rental; may be nil

	after func() error // is called after each rental, and replaces its response; may be nil

	listStatus int // the status of lists of offers, 0 for success
	// refused are offers that reads show as available, and whose rental returns a conflict.
	refused map[string]bool
	// actual are instances that are different from the first response for their key, by id.
	actual   map[string]rental.Instance
	storage  int64 // price of an additional GB of disk for a month
	omitTime bool  // instances have no created_at
	hidden   int   // the number of requests for an instance that do not find it
}

func newFakeAPI(prices map[string]int64) *fakeAPI {
	return &fakeAPI{prices: prices, byKey: map[string]rental.Instance{}, counts: map[string]int{}}
}

func (f *fakeAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := backoff.Sleep(req.Context(), time.Second); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/api/v1")
	f.counts[req.Method+" "+path]++
	switch {
	case path == "/offers" && f.listStatus != 0:
		return rentaltest.JSONResponse(req, f.listStatus, rentaltest.Failure(f.listStatus))
	case path == "/offers":
		data := []any{}
		for _, id := range slices.Sorted(maps.Keys(f.prices)) {
			if gpu := req.URL.Query().Get("gpu"); gpu == "" || gpu == f.gpu(id) {
				data = append(data, f.offer(id))
			}
		}
		return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": data, "next_cursor": nil})
	case strings.HasPrefix(path, "/offers/"):
		id := strings.TrimPrefix(path, "/offers/")
		if _, available := f.prices[id]; !available {
			return rentaltest.JSONResponse(req, http.StatusNotFound, rentaltest.Failure(http.StatusNotFound))
		}
		return rentaltest.JSONResponse(req, http.StatusOK, f.offer(id))
	case req.Method == http.MethodPost && path == "/instances":
		return f.create(req)
	case strings.HasPrefix(path, "/instances/"):
		return f.get(req, strings.TrimPrefix(path, "/instances/"))
	}
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": []any{}, "next_cursor": nil})
}

// get returns an instance by its id, unless it is hidden.
func (f *fakeAPI) get(req *http.Request, id string) (*http.Response, error) {
	if actual, found := f.actual[id]; found {
		return rentaltest.JSONResponse(req, http.StatusOK, actual)
	}
	for _, inst := range f.byKey {
		if inst.ID == id && f.counts["GET /instances/"+id] > f.hidden {
			return rentaltest.JSONResponse(req, http.StatusOK, inst)
		}
	}
	return rentaltest.JSONResponse(req, http.StatusNotFound, rentaltest.Failure(http.StatusNotFound))
}

func (f *fakeAPI) create(req *http.Request) (*http.Response, error) {
	var order rental.InstanceCreate
	if err := json.NewDecoder(req.Body).Decode(&order); err != nil {
		return nil, err
	}
	if inst, known := f.byKey[req.Header.Get("Idempotency-Key")]; known {
		resp, err := rentaltest.JSONResponse(req, http.StatusOK, inst)
		resp.Header.Set("Idempotent-Replayed", "true")
		return resp, err
	}
	if f.before != nil {
		f.before(order)
	}
	price, available := f.prices[order.OfferID]
	if f.refused[order.OfferID] {
		return rentaltest.JSONResponse(req, http.StatusConflict, rentaltest.Failure(http.StatusConflict))
	}
	if !available {
		return rentaltest.JSONResponse(req, http.StatusNotFound, rentaltest.Failure(http.StatusNotFound))
	}
	delete(f.prices, order.OfferID)
	f.order = append(f.order, order.OfferID)
	inst := rental.Instance{
		ID:        "ins_" + order.OfferID,
		Status:    rental.StatusCreating,
		Type:      order.Type,
		DiskGB:    order.DiskGB,
		CreatedAt: time.Now(),
		Template:  rental.TemplateRef{Slug: order.Template},
		Price:     rental.InstancePrice{RunningKopH: price},
	}
	if f.omitTime {
		inst.CreatedAt = time.Time{}
	}
	f.byKey[req.Header.Get("Idempotency-Key")] = inst
	if f.after != nil {
		if err := f.after(); err != nil {
			return nil, err
		}
	}
	return rentaltest.JSONResponse(req, http.StatusCreated, inst)
}

// gpu returns the GPU model of an offer: "h100" for "off_h100_1", and "a" for "off_1".
func (f *fakeAPI) gpu(offerID string) string {
	if parts := strings.Split(offerID, "_"); len(parts) == 3 {
		return parts[1]
	}
	return "a"
}

func (f *fakeAPI) offer(id string) any {
	return map[string]any{
		"id": id, "available": true, "gpu": map[string]any{"slug": f.gpu(id), "name": "A", "count": 1, "vram_gb": 8},
		"price": map[string]any{"on_demand_kop_h": f.prices[id], "storage_kop_gb_month": f.storage, "traffic_kop_gb": 0},
	}
}

// inRun runs a test in a synctest bubble with a Placer.
func inRun(t *testing.T, api *fakeAPI, test func(t *testing.T, p *Placer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := rentaltest.Client(t, api)
		test(t, New(client, rental.NewCache(client), new(Owners), 5*time.Second))
	})
}

func query(attempts int, maxPrice int64) Request {
	return Request{
		Order:        rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		Queries:      []Query{{rental.OfferQuery{Type: rental.OnDemand}, attempts}},
		MaxPriceKopH: maxPrice,
	}
}

// The API caches offers for a minute. An offer that another customer has rented can therefore still be available when
// it is read again, so a refusal of one offer does not mean that all are refused.
func TestCreate_RefusedOfferIsStillListed(t *testing.T) {
	for name, test := range map[string]struct {
		refused  map[string]bool
		want     string // the rented offer
		requests int
	}{
		"one":  {map[string]bool{"off_1": true}, "off_2", 2},
		"all":  {map[string]bool{"off_1": true, "off_2": true, "off_3": true, "off_4": true}, "", maxRefusals},
		"none": {nil, "off_1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100, "off_2": 100, "off_3": 100, "off_4": 100})
			api.refused = test.refused
			inRun(t, api, func(t *testing.T, p *Placer) {
				request, ledger := query(5, 0), spending.NewLedger(0)
				request.Order.DiskGB = 20
				request.Hold = func(_ context.Context, kopH int64) (spending.Hold, error) { return ledger.Hold("", kopH) }
				placed, err := p.Create(t.Context(), request)
				if held := map[bool]int64{true: 100}[err == nil]; ledger.Total() != held {
					t.Errorf("%d kopecks per hour are held, want %d", ledger.Total(), held)
				}
				if placed.OfferID != test.want || (err == nil) != (test.want != "") {
					t.Errorf("rented %s, %v", placed.OfferID, err)
				}
				if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Kind != OfferRefused || e.Available != Available) {
					t.Errorf("got %#v", err)
				}
			})
			if n := api.counts["POST /instances"]; n != test.requests {
				t.Errorf("%d create requests, want %d", n, test.requests)
			}
		})
	}
}

// With a single matching offer, the refusal is the error.
func TestCreate_RefusedOnlyOffer(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100})
	api.refused = map[string]bool{"off_1": true}
	inRun(t, api, func(t *testing.T, p *Placer) {
		if _, err := p.Create(t.Context(), query(5, 0)); KindOf(err) != OfferRefused {
			t.Errorf("got %#v", err)
		}
	})
}

// Instances with the same query get different offers, and read the list of offers once.
func TestCreate_InstancesOfARunGetDifferentOffers(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100, "off_2": 200, "off_3": 300})
	inRun(t, api, func(t *testing.T, p *Placer) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := p.Create(t.Context(), query(5, 0)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if len(api.order) != 3 || api.counts["GET /offers"] != 1 || api.counts["POST /instances"] != 3 {
		t.Errorf("rented %v with the requests %v", api.order, api.counts)
	}
}

func TestCreate_TriesTheNextOffer(t *testing.T) {
	for name, test := range map[string]struct {
		attempts int
		maxPrice int64
		want     string
		tried    int
	}{
		"the first one is taken meanwhile": {5, 0, "off_2", 0},
		"no attempt left":                  {1, 0, "", 1},
		"the next one is above the cap":    {5, 150, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100, "off_2": 200, "off_3": 300})
			api.before = func(rental.InstanceCreate) { delete(api.prices, "off_1") }
			inRun(t, api, func(t *testing.T, p *Placer) {
				placed, err := p.Create(t.Context(), query(test.attempts, test.maxPrice))
				if placed.OfferID != test.want {
					t.Errorf("rented from %q, want %q (%v)", placed.OfferID, test.want, err)
				}
				e, ok := errors.AsType[*Error](err)
				if test.want == "" && (!ok || e.Kind != NoOffer || e.Tried != test.tried) {
					t.Errorf("failed with %#v, want NoOffer after %d offers", err, test.tried)
				}
			})
		})
	}
}

// An instance that an earlier run rented under the key is taken only if it is lost: young, in no other object, and as
// requested. Otherwise nothing is rented or changed.
func TestCreate_TakesOnlyALostInstance(t *testing.T) {
	const age = 30 * time.Minute
	withoutTime := func(i *rental.Instance) { i.CreatedAt = time.Time{} }
	old, stranger := rental.Instance{ID: "ins_1"}, Object{Token: "other"}
	for name, test := range map[string]struct {
		within time.Duration
		change func(*rental.Instance)
		owner  Object // of the instance in this process
		want   ErrorKind
	}{
		"younger than allowed":            {time.Hour, nil, Object{}, 0},
		"older than allowed":              {age - time.Minute, nil, Object{}, NotLost},
		"never":                           {0, nil, Object{}, NotLost},
		"of unknown age":                  {time.Hour, withoutTime, Object{}, NotLost},
		"of unknown age, any allowed":     {AnyAge, withoutTime, Object{}, 0},
		"another object has it":           {AnyAge, nil, stranger, InUse},
		"the object itself had it before": {time.Hour, nil, Object{Token: "self"}, 0},
		"another disk":                    {time.Hour, func(i *rental.Instance) { i.DiskGB = 70 }, Object{}, OtherArguments},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{})
			inRun(t, api, func(t *testing.T, p *Placer) {
				inst := rental.Instance{
					ID: old.ID, Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60,
					Template: rental.TemplateRef{Slug: "ubuntu"}, CreatedAt: time.Now().Add(-age),
				}
				if test.change != nil {
					test.change(&inst)
				}
				api.byKey[ConfiguredKey("key").Key(1)] = inst
				if test.owner != (Object{}) {
					p.Owners.Claim(inst.ID, test.owner)
				}
				request := query(5, 0)
				request.KeySource, request.RecoverWithin, request.Object = ConfiguredKey("key"), test.within, Object{Token: "self"}
				placed, err := p.Create(t.Context(), request)
				if KindOf(err) != test.want ||
					test.want == 0 && (placed.ID != inst.ID || !placed.Recovered || placed.OfferID != "") {
					t.Errorf("got %+v, %v", placed, err)
				}
				if owner, found := p.Owners.Owner(inst.ID); found != (test.want == 0 || test.owner != Object{}) {
					t.Errorf("the owner is %v (%t)", owner, found)
				}
			})
			if len(api.order) > 0 {
				t.Errorf("rented %v", api.order)
			}
		})
	}
}

// The API may replay the first response for a key long after the instance is destroyed, and may not find an instance by
// its id that was created a moment ago.
func TestCreate_ReadsAReplayedInstance(t *testing.T) {
	for name, test := range map[string]struct {
		age    time.Duration
		actual rental.InstanceStatus // empty if there is none
		hidden int
		own    bool // this process has destroyed it
		want   string
	}{
		"it exists":                           {time.Minute, rental.StatusRunning, 0, false, "ins_1"},
		"it is destroyed":                     {time.Hour, rental.StatusDestroyed, 0, false, "ins_off_1"},
		"its status lags":                     {time.Hour, rental.StatusRunning, 0, true, "ins_off_1"},
		"it is gone":                          {time.Hour, "", 1000, false, "ins_off_1"},
		"it is not found yet":                 {time.Second, "", 3, false, "ins_1"},
		"it is new, and is destroyed already": {time.Second, "", 1000, false, "ins_off_1"},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100})
			api.hidden = test.hidden
			inRun(t, api, func(t *testing.T, p *Placer) {
				inst := rental.Instance{
					ID: "ins_1", Status: rental.StatusCreating, Type: rental.OnDemand, DiskGB: 60,
					Template: rental.TemplateRef{Slug: "ubuntu"}, CreatedAt: time.Now().Add(-test.age),
				}
				api.byKey[ConfiguredKey("key").Key(1)] = inst
				if inst.Status = test.actual; test.actual != "" {
					api.actual = map[string]rental.Instance{"ins_1": inst}
				}
				if p.Owners.Claim("ins_1", Object{}); test.own {
					p.Destroyed("ins_1")
				}
				request := query(5, 0)
				request.KeySource, request.RecoverWithin = ConfiguredKey("key"), AnyAge
				if placed, err := p.Create(t.Context(), request); err != nil || placed.ID != test.want {
					t.Errorf("got %s, %v, want %s", placed.ID, err, test.want)
				}
			})
		})
	}
}

// A creation takes the instance that it has rented itself in a request whose response was lost, whatever the limit, and
// also if the API omits the time. It does not take one that another run has created meanwhile under the same key. One
// that differs is an error.
func TestCreate_TakesItsOwnInstanceAfterALostResponse(t *testing.T) {
	for name, test := range map[string]struct {
		lost, omitted bool
		diskGB        int64 // of the instance that the API replays
		want          ErrorKind
	}{
		"lost":                    {true, false, 60, 0},
		"lost, without a time":    {true, true, 60, 0},
		"lost, with another disk": {true, false, 30, OtherArguments},
		"created by another run":  {false, false, 60, NotLost},
		"of another run, no time": {false, true, 60, NotLost},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100})
			inRun(t, api, func(t *testing.T, p *Placer) {
				request := query(5, 0)
				request.KeySource = ConfiguredKey("key")
				api.omitTime = test.omitted
				api.after = func() error {
					api.after = nil
					inst := api.byKey[request.KeySource.Key(1)]
					inst.DiskGB = test.diskGB
					api.byKey[request.KeySource.Key(1)] = inst
					return io.ErrUnexpectedEOF
				}
				if !test.lost {
					inst := rental.Instance{
						ID: "ins_other", Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60,
						Template: rental.TemplateRef{Slug: "ubuntu"}, CreatedAt: time.Now().Add(time.Second), // after Create begins
					}
					if test.omitted {
						inst.CreatedAt = time.Time{}
					}
					api.byKey[request.KeySource.Key(1)] = inst
				}
				placed, err := p.Create(t.Context(), request)
				if KindOf(err) != test.want {
					t.Errorf("got %+v, %v", placed, err)
				}
				if test.want == 0 && (placed.ID != "ins_off_1" || placed.Recovered || placed.OfferID != "off_1") {
					t.Errorf("got %+v", placed)
				}
			})
		})
	}
}

// A key whose instance is destroyed is used: the next generation rents the next instance.
func TestCreate_UsesTheNextGenerationOfAKey(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100})
	api.byKey[ConfiguredKey("key").Key(1)] = rental.Instance{ID: "ins_old", Status: rental.StatusDestroyed}
	inRun(t, api, func(t *testing.T, p *Placer) {
		request := query(5, 0)
		request.KeySource = ConfiguredKey("key")
		if placed, err := p.Create(t.Context(), request); err != nil || placed.ID != "ins_off_1" || placed.Generation != 2 {
			t.Errorf("got %+v, %v", placed, err)
		}
	})
}

// The key before the expected generation decides where the search for an unused key begins.
func TestCreate_ExpectedGeneration(t *testing.T) {
	destroyed := rental.Instance{ID: "ins_old", Status: rental.StatusDestroyed}
	running := rental.Instance{
		ID: "ins_running", Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60,
		Template: rental.TemplateRef{Slug: "ubuntu"}, CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	destroyedTimes := func(n int) []rental.Instance { return slices.Repeat([]rental.Instance{destroyed}, n) }
	for name, test := range map[string]struct {
		used         []rental.Instance // by the first keys
		id           string
		generation   int
		postRequests int
	}{
		"the key before it is used":      {destroyedTimes(8), "ins_off_1", 9, 2},
		"an earlier run has rented":      {append(destroyedTimes(7), running), "ins_running", 8, 1},
		"more keys are used":             {destroyedTimes(9), "ins_off_1", 10, 3},
		"fewer keys are used":            {destroyedTimes(1), "ins_off_1", 2, 3},
		"no key is used":                 {nil, "ins_off_1", 1, 2},
		"an earlier run rented long ago": {append(destroyedTimes(1), running), "ins_running", 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100})
			for keys := seriesOf("key"); keys.number <= len(test.used); keys.next() {
				api.byKey[keys.current()] = test.used[keys.number-1]
			}
			inRun(t, api, func(t *testing.T, p *Placer) {
				request := query(5, 0)
				request.KeySource, request.ExpectedGeneration, request.RecoverWithin = ConfiguredKey("key"), 9, AnyAge
				placed, err := p.Create(t.Context(), request)
				if err != nil || placed.ID != test.id || placed.Generation != test.generation {
					t.Errorf("got %s, generation %d, %v", placed.ID, placed.Generation, err)
				}
			})
			if sent := api.counts["POST /instances"]; sent != test.postRequests {
				t.Errorf("%d create requests, want %d", sent, test.postRequests)
			}
		})
	}
}

// Two creations with one key at the same time are an error for the second: the API returns the same instance.
func TestCreate_TwoCreationsWithOneKey(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100, "off_2": 200})
	inRun(t, api, func(t *testing.T, p *Placer) {
		results := make(chan error, 2)
		for _, token := range []string{"one", "other"} {
			go func() {
				request := query(5, 0)
				request.KeySource, request.RecoverWithin = ConfiguredKey("key"), AnyAge
				request.Object = Object{Token: token}
				_, err := p.Create(t.Context(), request)
				results <- err
			}()
		}
		kinds := fmt.Sprint(KindOf(<-results), KindOf(<-results))
		if strings.Count(kinds, InUse.String()) != 1 || len(api.order) != 1 {
			t.Errorf("%s, rented %v", kinds, api.order)
		}
	})
}

// An estimate is never of the offer that the replaced instance is rented from. It includes the disk.
func TestEstimate(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100, "off_2": 200, "off_3": 300})
	queries := []rental.OfferQuery{{Type: rental.OnDemand}}
	inRun(t, api, func(t *testing.T, p *Placer) {
		for except, want := range map[string]int64{"": 100, "off_1": 200} {
			price, found, err := p.Estimate(t.Context(), queries, except, 10)
			if err != nil || !found || price != want {
				t.Errorf("got %d, %t, %v, want %d", price, found, err, want)
			}
		}
	})
}
