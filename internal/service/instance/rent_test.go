package instance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// answers are what a service does with one request to rent after the other; the
// last goes for all later ones.
type answers []func(http.ResponseWriter)

func (a answers) handler() http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		a[min(int(asked.Add(1)), len(a))-1](w)
	}
}

// inProcess serves requests without a network, so that it works in a synctest bubble.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	served := make(chan *http.Response, 1)
	go func() {
		defer close(served)
		defer func() {
			if problem := recover(); problem != nil && problem != http.ErrAbortHandler {
				panic(problem)
			}
		}()
		answer := httptest.NewRecorder()
		p.handler.ServeHTTP(answer, req)
		served <- answer.Result()
	}()
	select {
	case resp, ok := <-served:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func refuses(status int, code string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": code}}) //nolint:errcheck // the client tells
	}
}

func replays(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Idempotent-Replayed", "true")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "ins_1", "status": "running", "type": "on_demand"}) //nolint:errcheck // the client tells
}

func tooLate(http.ResponseWriter) { time.Sleep(4 * rental.DefaultRequestTimeout) }

func cuts(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// Until the outcome is known the same request is repeated; a refusal settles it, unless a request that was given up may
// still be carried out.
func TestSettle(t *testing.T) {
	gateway := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>")) //nolint:errcheck // the client tells
	}
	strange := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<html>")) //nolint:errcheck // the client tells
	}
	internal, wrongPair := refuses(500, rental.CodeInternal), refuses(409, rental.CodeInsufficientFunds)
	poor, unavailable, unauthorized := refuses(402, rental.CodeInsufficientFunds), refuses(503, rental.CodeProviderUnavailable), refuses(401, rental.CodeUnauthorized)
	for name, test := range map[string]struct {
		service answers
		want    string // the id, the code of the refusal, or "unknown"
	}{
		"refused":                            {answers{poor}, rental.CodeInsufficientFunds},
		"cut, then refused for good":         {answers{cuts, poor}, rental.CodeInsufficientFunds},
		"cut, refused, but there":            {answers{cuts, poor, replays}, "ins_1"},
		"500, refused, but there":            {answers{internal, poor, replays}, "ins_1"},
		"503, refused, but there":            {answers{unavailable, poor, replays}, "ins_1"},
		"502, refused, but there":            {answers{gateway, poor, replays}, "ins_1"},
		"wrong pair, but there":              {answers{wrongPair, replays}, "ins_1"},
		"foreign 404, but there":             {answers{strange, replays}, "ins_1"},
		"foreign 404 every time":             {answers{strange}, "unknown"},
		"503, then the key is revoked":       {answers{unavailable, unauthorized}, "unknown"},
		"cut again and again, then there":    {answers{cuts, cuts, unavailable, cuts, replays}, "ins_1"},
		"too late, refused, but there":       {answers{tooLate, poor, replays}, "ins_1"},
		"too late, cut, refused, but there":  {answers{tooLate, cuts, poor, replays}, "ins_1"},
		"too late, refused for good":         {answers{tooLate, poor, poor}, rental.CodeInsufficientFunds},
		"cut, then the key is revoked":       {answers{cuts, unauthorized}, "unknown"},
		"the key is revoked from the start":  {answers{unauthorized}, rental.CodeUnauthorized},
		"never an answer until the deadline": {answers{cuts}, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := rental.New(rental.Config{
					BaseURL: "https://rent.example/api/v1", APIKey: testKey, Transport: inProcess{test.service.handler()}, MaxRetries: -1,
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 8*rental.DefaultRequestTimeout)
				defer cancel()
				c := &creation{client: client, interval: time.Second, keys: newKeySeries("k")}
				inst, _, err := c.settle(ctx, rental.InstanceCreate{})
				got := inst.ID
				if err != nil {
					got = codeOf(err)
				}
				if got != test.want {
					t.Errorf("%s (%v), want %s", got, err, test.want)
				}
				time.Sleep(time.Hour) // until late answers are given
			})
		})
	}
}

func codeOf(err error) string {
	if _, unknown := errors.AsType[*unknownOutcome](err); unknown {
		return "unknown"
	}
	if e, ok := errors.AsType[*rental.Error](err); ok {
		return e.Code
	}
	return err.Error()
}

// An answer that no repetition is likely to improve ends the creation long before timeouts.create.
func TestSettle_foreignAnswersEndSoon(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	client, err := rental.New(rental.Config{BaseURL: server.URL + "/api/v1", APIKey: "test" + strings.Repeat("0", 40), MaxRetries: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := &creation{client: client, interval: time.Millisecond, keys: newKeySeries("k")}
	if _, _, err := c.settle(t.Context(), rental.InstanceCreate{}); codeOf(err) != "unknown" || asked.Load() != maxUnreadable {
		t.Errorf("%v after %d requests, want an unknown outcome after %d", err, asked.Load(), maxUnreadable)
	}
}

// A refusal says no more of the offer than what was read of it.
func TestRefusedText(t *testing.T) {
	conflict := &rental.Error{Status: http.StatusConflict, Code: rental.CodeConflict}
	const there = "still there"
	if text := refusedText(&refusedOffer{"off_1", offerUnsure, conflict}); strings.Contains(text, there) || !strings.Contains(text, "could not be read") {
		t.Errorf("of an offer that could not be read: %q", text)
	}
	if text := refusedText(&refusedOffer{"off_1", offerThere, conflict}); !strings.Contains(text, there) {
		t.Errorf("of an offer that is there: %q", text)
	}
}

// marketOf serves one offer, and refuses to rent it.
func marketOf(t *testing.T, offer string, refusals answers) *creation {
	t.Helper()
	refuse := refusals.handler()
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			refuse(w, r)
		case offer == "":
			refuses(http.StatusServiceUnavailable, rental.CodeProviderUnavailable)(w)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(offer)) //nolint:errcheck // the client tells
		}
	})
	config := rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: testKey, Transport: inProcess{service}, MaxRetries: -1}
	client, err := rental.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &creation{
		client: client, interval: time.Millisecond, keys: newKeySeries("k"), fleet: new(fleet),
		order: rental.InstanceCreate{Type: rental.OnDemand}, plan: model{MaxPriceKopH: types.Int64Value(100)},
	}
}

const (
	offerAt100        = `{"id":"off_1","available":true,"gpu":{"slug":"a","name":"A","count":1,"vram_gb":8},"price":{"on_demand_kop_h":100,"storage_kop_gb_month":1,"traffic_kop_gb":1}}`
	offerAt200        = `{"id":"off_1","available":true,"gpu":{"slug":"a","name":"A","count":1,"vram_gb":8},"price":{"on_demand_kop_h":200,"storage_kop_gb_month":1,"traffic_kop_gb":1}}`
	offerNotAvailable = `{"id":"off_1","available":false,"gpu":{"slug":"a","name":"A","count":1,"vram_gb":8},"price":{"on_demand_kop_h":100,"storage_kop_gb_month":1,"traffic_kop_gb":1}}`
)

// An offer that was not rented is reserved no longer. One that is gone stays reserved until the market is refreshed.
func TestTryOffer_releasesWhatItDidNotRent(t *testing.T) {
	t.Parallel()
	conflict, poor := refuses(409, rental.CodeConflict), refuses(402, rental.CodeInsufficientFunds)
	for name, test := range map[string]struct {
		offer    string
		kind     rental.RentalType
		answers  answers
		reserved bool
	}{
		"rented":                 {offerAt100, rental.OnDemand, answers{replays}, true},
		"refused for its key":    {offerAt100, rental.OnDemand, answers{refuses(401, rental.CodeUnauthorized)}, false},
		"lost":                   {offerAt100, rental.OnDemand, answers{cuts, refuses(401, rental.CodeUnauthorized)}, true},
		"too expensive":          {offerAt200, rental.OnDemand, nil, false},
		"no price for the type":  {offerAt100, rental.Interruptible, nil, false},
		"not readable":           {"", rental.OnDemand, nil, false},
		"refused for a conflict": {offerAt100, rental.OnDemand, answers{conflict}, false},
		"refused for its funds":  {offerAt100, rental.OnDemand, answers{poor}, false},
		"gone":                   {offerNotAvailable, rental.OnDemand, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := marketOf(t, test.offer, test.answers)
				c.order.Type = test.kind
				c.keys = newKeySeries("")
				c.reserve("off_1")
				_, next, err := c.tryOffer(t.Context(), t.Context(), "off_1")
				if next && codeOf(err) == "unknown" {
					t.Error("another offer is tried although this one may be rented")
				}
				if free := c.fleet.offers.reserve("off_1"); free == test.reserved {
					t.Errorf("reserved: %t, want %t (%v)", !free, test.reserved, err)
				}
			})
		})
	}
}

// A reservation of an offer that is gone ends.
func TestReservations_releaseAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reservations
		r.reserve("a")
		r.releaseAfter("a", goneFor)
		if r.reserve("a") {
			t.Error("it is free at once")
		}
		time.Sleep(goneFor)
		if !r.reserve("a") {
			t.Error("it is reserved for good")
		}
	})
}

// Where the price changed between the look and the request, the offer is asked for again.
func TestRentOffer_priceChanged(t *testing.T) {
	t.Parallel()
	c := marketOf(t, offerAt100, answers{refuses(409, rental.CodeConflict), replays})
	c.keys = newKeySeries("")
	server, _, err := c.rentOffer(t.Context(), t.Context(), "off_1", 100)
	if err != nil || server.ID != "ins_1" {
		t.Errorf("%v, %v", server.ID, err)
	}
}

// The cap is compared with the price without the disk.
func TestExceedsCap(t *testing.T) {
	offer := &rental.Offer{ID: "off_1", Price: rental.OfferPrice{OnDemandKopH: 1000, StorageKopGBMonth: 730}}
	for name, test := range map[string]struct {
		running, stopped int64
		status           rental.InstanceStatus
		offer            *rental.Offer
		takenOver        bool
		limit            int64
		want             bool
	}{
		"no cap":                           {running: 9000, offer: offer},
		"at the cap":                       {running: 1000, offer: offer, limit: 1000},
		"with the whole disk":              {running: 1060, offer: offer, limit: 1000},
		"more than the disk":               {running: 1061, offer: offer, limit: 1000, want: true},
		"below the cap, above the offer":   {running: 1500, offer: offer, limit: 1500},
		"above the cap, the offer below":   {running: 1101, offer: offer, limit: 1100, want: true},
		"unknown offer, within its disk":   {running: 1050, stopped: 50, limit: 1000},
		"unknown offer, beyond its disk":   {running: 1051, stopped: 50, limit: 1000, want: true},
		"an earlier run's, running":        {running: 2000, takenOver: true, limit: 1000, want: true, status: rental.StatusRunning},
		"an earlier run's, stopped":        {running: 2000, takenOver: true, limit: 1000, status: rental.StatusStopped},
		"an earlier run's, unknown status": {running: 2000, takenOver: true, limit: 1000, want: true, status: "hibernating"},
	} {
		server := rented{offer: test.offer, takenOver: test.takenOver, Instance: rental.Instance{
			Status: test.status, Price: rental.InstancePrice{RunningKopH: test.running, StoppedKopH: test.stopped},
		}}
		plan := model{DiskGB: types.Int64Value(60), Type: types.StringValue("on_demand"), MaxPriceKopH: types.Int64Value(test.limit)}
		if got := server.exceedsCap(plan); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The price of a start is compared with the cap without the lower price of the disk before and after.
func TestPriceWithoutDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ stopped, before, want int64 }{
		{500, 50, 1000}, {50, 500, 1000}, {50, 50, 1000}, {0, 50, 1050}, {-50, 50, 1050},
	} {
		inst := rental.Instance{Price: rental.InstancePrice{RunningKopH: 1050, StoppedKopH: test.stopped}}
		if got := priceWithoutDisk(inst, test.before); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
