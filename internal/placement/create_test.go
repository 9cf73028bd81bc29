package placement

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// responses are the responses to successive create requests. The last one is for all later requests.
type responses []func(http.ResponseWriter)

func (a responses) handler() http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // an answer, so that the client does not give up
			_, _ = w.Write([]byte("{}")) //nolint:errcheck // the client reports it
			return
		}
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
		response := httptest.NewRecorder()
		p.handler.ServeHTTP(response, req)
		served <- response.Result()
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
		body := map[string]any{"error": map[string]any{"code": code, "message": code}}
		_ = json.NewEncoder(w).Encode(body) //nolint:errcheck // the client reports it
	}
}

func replays(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Idempotent-Replayed", "true")
	body := map[string]any{"id": "ins_1", "status": "running", "type": "on_demand"}
	_ = json.NewEncoder(w).Encode(body) //nolint:errcheck // the client reports it
}

func tooLate(http.ResponseWriter) { time.Sleep(4 * rental.DefaultRequestTimeout) }

func cuts(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// The same request is repeated until its outcome is known. A refusal decides it, unless a request whose response was
// lost may still be carried out.
func TestCreateOnce(t *testing.T) {
	gateway := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>")) //nolint:errcheck // the client reports it
	}
	strange := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<html>")) //nolint:errcheck // the client reports it
	}
	internal, wrongPair := refuses(500, rental.CodeInternal), refuses(409, rental.CodeInsufficientFunds)
	poor, unavailable, unauthorized := refuses(
		402,
		rental.CodeInsufficientFunds,
	), refuses(
		503,
		rental.CodeProviderUnavailable,
	), refuses(
		401,
		rental.CodeUnauthorized,
	)
	for name, test := range map[string]struct {
		service responses
		want    string // the id, the code of the refusal, or "unknown"
	}{
		"refused":                             {responses{poor}, rental.CodeInsufficientFunds},
		"cut, then refused for good":          {responses{cuts, poor}, rental.CodeInsufficientFunds},
		"cut, refused, but there":             {responses{cuts, poor, replays}, "ins_1"},
		"500, refused, but there":             {responses{internal, poor, replays}, "ins_1"},
		"503, refused, but there":             {responses{unavailable, poor, replays}, "ins_1"},
		"502, refused, but there":             {responses{gateway, poor, replays}, "ins_1"},
		"wrong pair, but there":               {responses{wrongPair, replays}, "ins_1"},
		"foreign 404, but there":              {responses{strange, replays}, "ins_1"},
		"foreign 404 every time":              {responses{strange}, "unknown"},
		"503, then the key is revoked":        {responses{unavailable, unauthorized}, "unknown"},
		"cut again and again, then there":     {responses{cuts, cuts, unavailable, cuts, replays}, "ins_1"},
		"too late, refused, but there":        {responses{tooLate, poor, replays}, "ins_1"},
		"too late, cut, refused, but there":   {responses{tooLate, cuts, poor, replays}, "ins_1"},
		"too late, refused for good":          {responses{tooLate, poor, poor}, rental.CodeInsufficientFunds},
		"cut, then the key is revoked":        {responses{cuts, unauthorized}, "unknown"},
		"the key is revoked from the start":   {responses{unauthorized}, rental.CodeUnauthorized},
		"never a response until the deadline": {responses{cuts}, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 8*rental.DefaultRequestTimeout)
				defer cancel()
				c := newCreation(t, inProcess{test.service.handler()}, Request{KeySource: ConfiguredKey("k")})
				c.requestCtx = ctx
				inst, _, err := c.createOnce("off_1")
				got := inst.ID
				if err != nil {
					got = codeOf(err)
				}
				if got != test.want {
					t.Errorf("%s (%v), want %s", got, err, test.want)
				}
				time.Sleep(time.Hour) // until late responses are sent
			})
		})
	}
}

func codeOf(err error) string {
	if KindOf(err) == OutcomeUnknown {
		return "unknown"
	}
	if e, ok := errors.AsType[*rental.Error](err); ok {
		return e.Code
	}
	return err.Error()
}

// A response that a repetition is not likely to improve ends the creation soon.
func TestCreateOnce_ForeignResponses(t *testing.T) {
	asked := 0
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusForbidden)
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCreation(t, inProcess{service}, Request{KeySource: ConfiguredKey("k")})
		asked = 0
		if _, _, err := c.createOnce("off_1"); codeOf(err) != "unknown" || asked != maxUnreadable {
			t.Errorf("%v after %d requests, want an unknown outcome after %d", err, asked, maxUnreadable)
		}
	})
}

// newCreation returns the creation of an on-demand instance.
func newCreation(t *testing.T, transport http.RoundTripper, request Request) *creation {
	t.Helper()
	config := rental.Config{
		BaseURL:    "https://rent.example/api/v1",
		APIKey:     rentaltest.Key,
		Transport:  transport,
		MaxRetries: -1,
	}
	client, err := rental.New(config)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.GetMe(t.Context()) //nolint:errcheck // any answer will do
	if request.Order.Type == "" {
		request.Order.Type = rental.OnDemand
	}
	return &creation{
		Request: request, placer: New(client, rental.NewCache(client), new(Owners), time.Second),
		keys: newIdempotencyKeys(request), requestCtx: t.Context(), offers: map[string]rental.Offer{},
	}
}

// withOffer returns a service with one offer, and the responses to the requests to rent it.
func withOffer(offer string, responses responses) http.RoundTripper {
	create := responses.handler()
	return inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			create(w, r)
		case offer == "":
			refuses(http.StatusServiceUnavailable, rental.CodeProviderUnavailable)(w)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(offer)) //nolint:errcheck // the client reports it
		}
	})}
}

const (
	offerAt100        = `{"id":"off_1","available":true,` + offerGPU + `,"price":{"on_demand_kop_h":100,` + offerPrices
	offerAt200        = `{"id":"off_1","available":true,` + offerGPU + `,"price":{"on_demand_kop_h":200,` + offerPrices
	offerNotAvailable = `{"id":"off_1","available":false,` + offerGPU + `,"price":{"on_demand_kop_h":100,` + offerPrices
	offerGPU          = `"gpu":{"slug":"a","name":"A","count":1,"vram_gb":8}`
	offerPrices       = `"storage_kop_gb_month":1,"traffic_kop_gb":1}}`
)

// An offer that was not rented is no longer reserved. An unavailable or refused offer stays reserved for a while,
// because it is probably rented.
func TestTryOffer_ReleasesReservation(t *testing.T) {
	t.Parallel()
	conflict, poor := refuses(409, rental.CodeConflict), refuses(402, rental.CodeInsufficientFunds)
	for name, test := range map[string]struct {
		offer     string
		kind      rental.RentalType
		responses responses
		reserved  bool
	}{
		"rented":                 {offerAt100, rental.OnDemand, responses{replays}, true},
		"refused for its key":    {offerAt100, rental.OnDemand, responses{refuses(401, rental.CodeUnauthorized)}, false},
		"lost":                   {offerAt100, rental.OnDemand, responses{cuts, refuses(401, rental.CodeUnauthorized)}, true},
		"too expensive":          {offerAt200, rental.OnDemand, nil, false},
		"no price for the type":  {offerAt100, rental.Interruptible, nil, false},
		"not readable":           {"", rental.OnDemand, nil, false},
		"refused for a conflict": {offerAt100, rental.OnDemand, responses{conflict}, true},
		"refused for its funds":  {offerAt100, rental.OnDemand, responses{poor}, false},
		"gone":                   {offerNotAvailable, rental.OnDemand, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				request := Request{MaxPriceKopH: 100, Order: rental.InstanceCreate{Type: test.kind}}
				c := newCreation(t, withOffer(test.offer, test.responses), request)
				c.reserve("off_1")
				_, next, err := c.tryOffer(t.Context(), "off_1")
				if next && codeOf(err) == "unknown" {
					t.Error("another offer is tried although this one may be rented")
				}
				if free := c.placer.offers.reserve("off_1"); free == test.reserved {
					t.Errorf("reserved: %t, want %t (%v)", !free, test.reserved, err)
				}
			})
		})
	}
}

// A refusal while a request with a lost response can still be in flight does not show that nothing was rented.
func TestTryOffer_InterruptedWhileInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := withOffer(offerAt100, responses{cuts, refuses(409, rental.CodeConflict)})
		c := newCreation(t, service, Request{MaxPriceKopH: 100})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c.requestCtx = ctx
		c.reserve("off_1")
		_, next, err := c.tryOffer(t.Context(), "off_1")
		if KindOf(err) != OutcomeUnknown || next || canWait(err) {
			t.Errorf("got %v, next %t", err, next)
		}
		if c.placer.offers.reserve("off_1") {
			t.Error("the offer is no longer reserved")
		}
	})
}

// The reservation of an offer that is gone ends.
func TestReservations_ReleaseAfter(t *testing.T) {
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

// If the price changed between reading the offer and the request, the offer is requested again.
func TestRentFrom_PriceChanged(t *testing.T) {
	t.Parallel()
	service := withOffer(offerAt100, responses{refuses(409, rental.CodeConflict), replays})
	c := newCreation(t, service, Request{MaxPriceKopH: 100})
	placed, _, err := c.rentFrom(t.Context(), "off_1", 100)
	if err != nil || placed.ID != "ins_1" {
		t.Errorf("%v, %v", placed.ID, err)
	}
}
