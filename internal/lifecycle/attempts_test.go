package lifecycle

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

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
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
	poor, unauthorized := refuses(402, rental.CodeInsufficientFunds), refuses(401, rental.CodeUnauthorized)
	unavailable := refuses(503, rental.CodeProviderUnavailable)
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
				c := newCreation(t, inProcess{test.service.handler()}, ConfiguredKey("k"))
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
	if failure.KindOf(err) == failure.OutcomeUnknown {
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
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked++
		}
		w.WriteHeader(http.StatusForbidden)
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCreation(t, inProcess{service}, ConfiguredKey("k"))
		if _, _, err := c.createOnce("off_1"); codeOf(err) != "unknown" || asked != maxUnreadable {
			t.Errorf("%v after %d requests, want an unknown outcome after %d", err, asked, maxUnreadable)
		}
	})
}

// newCreation returns the creation of an on-demand instance with a price cap of 100 kopecks per hour.
func newCreation(t *testing.T, transport http.RoundTripper, keys KeySource) *creation {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: transport, MaxRetries: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.GetMe(t.Context()) //nolint:errcheck // any answer will do
	order := Order{Keys: keys, InstanceCreate: rental.InstanceCreate{Type: rental.OnDemand}, RecoverWithin: AnyAge}
	order.Target.MaxPriceKopH = 100
	manager := newManager(client)
	manager.PollInterval = time.Second
	c, end := manager.newCreation(t.Context(), order)
	t.Cleanup(end)
	return c
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
	offerAt90         = `{"id":"off_1","available":true,` + offerGPU + `,"price":{"on_demand_kop_h":90,` + offerPrices
	offerAt100        = `{"id":"off_1","available":true,` + offerGPU + `,"price":{"on_demand_kop_h":100,` + offerPrices
	offerAt200        = `{"id":"off_1","available":true,` + offerGPU + `,"price":{"on_demand_kop_h":200,` + offerPrices
	offerNotAvailable = `{"id":"off_1","available":false,` + offerGPU + `,"price":{"on_demand_kop_h":100,` + offerPrices
	offerGPU          = `"gpu":{"slug":"a","name":"A","count":1,"vram_gb":8}`
	offerPrices       = `"storage_kop_gb_month":1,"traffic_kop_gb":1}}`
)

// After a refusal the offer is read: its price may have changed, or it is the reason.
func TestRent_Refused(t *testing.T) {
	conflict := refuses(409, rental.CodeConflict)
	refused, free, gone := failure.OfferRefused, failure.Available, failure.NotAvailable
	for name, test := range map[string]struct {
		offer        string // after the refusal
		responses    responses
		kind         failure.Kind // empty: an instance
		availability failure.Availability
	}{
		"the price has changed":     {offerAt90, responses{conflict, replays}, "", 0},
		"it changes each time":      {offerAt90, responses{conflict}, refused, free},
		"the price rose above":      {offerAt200, responses{conflict}, failure.AboveLimit, 0},
		"the price is the same":     {offerAt100, responses{conflict}, refused, free},
		"not available":             {offerNotAvailable, responses{conflict}, refused, gone},
		"not readable":              {"", responses{conflict}, refused, failure.AvailabilityUnknown},
		"its disk is too small":     {offerAt100, responses{refuses(422, rental.CodeValidation)}, refused, free},
		"a 404, but it is listed":   {offerAt100, responses{refuses(404, rental.CodeNotFound)}, refused, free},
		"another refusal":           {offerAt100, responses{refuses(402, rental.CodeInsufficientFunds)}, "", 0},
		"an unknown outcome, a 409": {offerAt90, responses{cuts, conflict}, failure.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCreation(t, withOffer(test.offer, test.responses), ConfiguredKey("k"))
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				c.requestCtx = ctx
				rented, err := c.rent(t.Context(), offerAt("off_1", 100))
				if e := failure.As(err); e.Kind != test.kind || e.Availability != test.availability {
					t.Errorf("got %s, %v", rented.ID, err)
				}
			})
		})
	}
}
