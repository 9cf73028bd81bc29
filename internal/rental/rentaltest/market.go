package rentaltest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Market is an http.RoundTripper with offers. Each of them is rented once, and its instance runs after ten seconds.
// Each response takes a second.
type Market struct {
	mu sync.Mutex

	Prices     map[string]int64                  // of the available offers by id, kopecks per hour
	OnDemand   map[string]bool                   // offers without a price for interruptible instances
	StorageKop int64                             // price of an additional GB of disk for a month
	ReadStatus int                               // of reads of offers; 0 for success
	Outage     func() bool                       // reports whether no request succeeds now; may be nil
	OthersKopH int64                             // part of the burn rate for which there is no instance in the list
	Refused    map[string]int                    // status of requests to rent offers that are available, by id
	Before     func(order rental.InstanceCreate) // is called before each rental; may be nil
	// After is called with each new instance, and can change it. An error replaces the response; may be nil.
	After func(inst *rental.Instance) error

	ByKey map[string]rental.Instance // by idempotency key, as the first response returned it
	// Actual are the instances by id, as reads return them. Those without are not found.
	Actual map[string]rental.Instance
	Hidden int            // how many requests for an instance by its id do not find it
	Counts map[string]int // requests by method and path
	Rented []string       // ids of offers, in order
	Sent   []string       // stop and destroy requests, in order
}

// NewMarket returns a market with offers.
func NewMarket(prices map[string]int64) *Market {
	return &Market{
		Prices: prices, Refused: map[string]int{}, ByKey: map[string]rental.Instance{},
		Actual: map[string]rental.Instance{}, Counts: map[string]int{}, OnDemand: map[string]bool{},
	}
}

// Set changes the price of an offer; 0 removes the offer.
func (m *Market) Set(offerID string, kopH int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.Prices, offerID); kopH > 0 {
		m.Prices[offerID] = kopH
	}
}

// Add adds an instance that was rented under a key.
func (m *Market) Add(key string, inst rental.Instance) {
	m.ByKey[key], m.Actual[inst.ID] = inst, inst
}

// RoundTrip implements http.RoundTripper.
func (m *Market) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := backoff.Sleep(req.Context(), time.Second); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/api/v1")
	m.Counts[req.Method+" "+path]++
	_, id, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	failed := func(status int) (*http.Response, error) { return JSONResponse(req, status, Failure(status)) }
	switch {
	case m.Outage != nil && m.Outage():
		return failed(http.StatusServiceUnavailable)
	case strings.HasPrefix(path, "/offers") && m.ReadStatus != 0:
		return failed(m.ReadStatus)
	case path == "/offers":
		data := []any{}
		for _, id := range slices.Sorted(maps.Keys(m.Prices)) {
			if gpu := req.URL.Query().Get("gpu"); gpu == "" || gpu == part(id, 1) {
				data = append(data, m.offer(id))
			}
		}
		return JSONResponse(req, http.StatusOK, map[string]any{"data": data, "next_cursor": nil})
	case strings.HasPrefix(path, "/offers/") && m.Prices[id] == 0:
		return failed(http.StatusNotFound)
	case strings.HasPrefix(path, "/offers/"):
		return JSONResponse(req, http.StatusOK, m.offer(id))
	case path == "/balance":
		return JSONResponse(req, http.StatusOK, map[string]any{"burn_kop_h": m.burnKopH(), "currency": "RUB"})
	case path == "/instances" && req.Method == http.MethodPost:
		return m.create(req, failed)
	case path == "/instances":
		data := []any{}
		for id := range m.Actual {
			data = append(data, m.instance(id))
		}
		return JSONResponse(req, http.StatusOK, map[string]any{"data": data, "next_cursor": nil})
	case req.Method == http.MethodGet && (m.Actual[id].ID == "" || m.Counts["GET "+path] <= m.Hidden):
		return failed(http.StatusNotFound)
	}
	if id, stop := strings.CutSuffix(id, "/stop"); stop {
		m.change(id, "stop", rental.StatusStopped)
		return JSONResponse(req, http.StatusOK, m.instance(id))
	}
	if req.Method == http.MethodDelete {
		m.change(id, "destroy", rental.StatusDestroyed)
	}
	return JSONResponse(req, http.StatusOK, m.instance(id))
}

func (m *Market) burnKopH() int64 {
	sum := m.OthersKopH
	for id := range m.Actual {
		sum += m.instance(id).BurnKopH()
	}
	return sum
}

func (m *Market) change(id, request string, status rental.InstanceStatus) {
	inst := m.Actual[id]
	inst.Status = status
	m.Actual[id] = inst
	m.Sent = append(m.Sent, request+" "+id)
}

// instance is an instance as reads return it.
func (m *Market) instance(id string) rental.Instance {
	inst := m.Actual[id]
	if inst.Status == rental.StatusCreating && time.Since(inst.CreatedAt) > 10*time.Second {
		Is(rental.StatusRunning, rental.DesiredRunning)(&inst)
		m.Actual[id] = inst
	}
	return inst
}

func (m *Market) create(req *http.Request, failed func(int) (*http.Response, error)) (*http.Response, error) {
	var order rental.InstanceCreate
	if err := json.NewDecoder(req.Body).Decode(&order); err != nil {
		return nil, err
	}
	key := req.Header.Get("Idempotency-Key")
	if inst, known := m.ByKey[key]; known {
		resp, err := JSONResponse(req, http.StatusOK, inst)
		resp.Header.Set("Idempotent-Replayed", "true")
		return resp, err
	}
	if m.Before != nil {
		m.Before(order)
	}
	price := m.Prices[order.OfferID]
	switch {
	case m.Refused[order.OfferID] != 0:
		return failed(m.Refused[order.OfferID])
	case price == 0:
		return failed(http.StatusNotFound)
	}
	delete(m.Prices, order.OfferID)
	m.Rented = append(m.Rented, order.OfferID)
	inst := rental.Instance{
		ID: "ins_" + order.OfferID, Status: rental.StatusCreating, Type: order.Type, DiskGB: order.DiskGB,
		CreatedAt: time.Now(), Template: rental.TemplateRef{Slug: order.Template},
		Price: rental.InstancePrice{RunningKopH: price},
	}
	var err error
	if m.After != nil {
		err = m.After(&inst)
	}
	m.Add(key, inst)
	if err != nil {
		return nil, err
	}
	return JSONResponse(req, http.StatusCreated, inst)
}

// offer returns an offer whose id has its GPU model and country: "off_h100_ru_1" or "off_h100_1".
func (m *Market) offer(id string) any {
	price := map[string]any{
		"on_demand_kop_h": m.Prices[id], "storage_kop_gb_month": m.StorageKop, "traffic_kop_gb": 0,
	}
	if !m.OnDemand[id] {
		price["interruptible_kop_h"] = m.Prices[id]
	}
	offer := map[string]any{
		"id": id, "available": true, "gpu": map[string]any{"slug": part(id, 1), "name": "A", "count": 1, "vram_gb": 8},
		"price": price,
	}
	if country := part(id, 2); len(country) == 2 {
		offer["country"] = country
	}
	return offer
}

// part is an element of an id, "a" if there is none.
func part(id string, n int) string {
	if parts := strings.Split(id, "_"); len(parts) > n+1 {
		return parts[n]
	}
	return "a"
}
