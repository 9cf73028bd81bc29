package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// transport is a service.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// responses are the responses to successive create requests. The last one is for all later requests.
type responses []transport

// service returns the responses, and the offer for reads; without one it is not available.
func (r responses) service(offer string) transport {
	var asked atomic.Int64
	return func(req *http.Request) (*http.Response, error) {
		switch {
		case req.Method == http.MethodPost:
			return r[min(int(asked.Add(1)), len(r))-1](req)
		case offer == "":
			return refuses(http.StatusServiceUnavailable)(req)
		}
		return rentaltest.JSONResponse(req, http.StatusOK, json.RawMessage(offer))
	}
}

func refuses(status int) transport {
	return func(req *http.Request) (*http.Response, error) {
		return rentaltest.JSONResponse(req, status, rentaltest.Failure(status))
	}
}

// foreign answers as something between the API and the client.
func foreign(status int) transport {
	return func(req *http.Request) (*http.Response, error) {
		return rentaltest.JSONResponse(req, status, "<html>")
	}
}

func replays(req *http.Request) (*http.Response, error) {
	inst := map[string]any{"id": "ins_1", "status": "running", "type": "on_demand"}
	resp, err := rentaltest.JSONResponse(req, http.StatusOK, inst)
	resp.Header.Set("Idempotent-Replayed", "true")
	return resp, err
}

func tooLate(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func cuts(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// The same request is repeated until its outcome is known. A refusal decides it, unless a request whose response was
// lost may still be carried out.
func TestRequest(t *testing.T) {
	wrongPair := func(req *http.Request) (*http.Response, error) {
		return rentaltest.JSONResponse(req, http.StatusConflict, rentaltest.Failure(http.StatusPaymentRequired))
	}
	poor, unauthorized, unavailable := refuses(402), refuses(401), refuses(503)
	for name, test := range map[string]struct {
		service responses
		want    string // the id, the code of the refusal, or "OutcomeUnknown"
	}{
		"refused":                             {responses{poor}, rental.CodeInsufficientFunds},
		"cut, then refused for good":          {responses{cuts, poor}, rental.CodeInsufficientFunds},
		"cut, refused, but there":             {responses{cuts, poor, replays}, "ins_1"},
		"500, refused, but there":             {responses{refuses(500), poor, replays}, "ins_1"},
		"503, refused, but there":             {responses{unavailable, poor, replays}, "ins_1"},
		"502, refused, but there":             {responses{foreign(502), poor, replays}, "ins_1"},
		"wrong pair, but there":               {responses{wrongPair, replays}, "ins_1"},
		"foreign 404, but there":              {responses{foreign(404), replays}, "ins_1"},
		"foreign 404 every time":              {responses{foreign(404)}, "OutcomeUnknown"},
		"503, then the key is revoked":        {responses{unavailable, unauthorized}, "OutcomeUnknown"},
		"cut again and again, then there":     {responses{cuts, cuts, unavailable, cuts, replays}, "ins_1"},
		"too late, refused, but there":        {responses{tooLate, poor, replays}, "ins_1"},
		"too late, cut, refused, but there":   {responses{tooLate, cuts, poor, replays}, "ins_1"},
		"too late, refused for good":          {responses{tooLate, poor, poor}, rental.CodeInsufficientFunds},
		"cut, then the key is revoked":        {responses{cuts, unauthorized}, "OutcomeUnknown"},
		"the key is revoked from the start":   {responses{unauthorized}, rental.CodeUnauthorized},
		"never a response until the deadline": {responses{cuts}, "OutcomeUnknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, c := newCreation(t, test.service.service(offerAt100), 8*rental.DefaultRequestTimeout)
				rented, _, err := c.request(ctx, &Candidate{Offer: rental.Offer{ID: "off_1"}})
				got := rented.ID
				if err != nil {
					got = codeOf(err)
				}
				if got != test.want {
					t.Errorf("%s (%v), want %s", got, err, test.want)
				}
			})
		})
	}
}

func codeOf(err error) string {
	e, _ := errors.AsType[*rental.Error](err)
	if errorName(err) == "OutcomeUnknown" || e == nil {
		return errorName(err)
	}
	return e.Code
}

// A response that a repetition is not likely to improve ends the creation soon.
func TestRequest_ForeignResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		service := responses{func(req *http.Request) (*http.Response, error) {
			asked++
			return foreign(http.StatusForbidden)(req)
		}}
		ctx, c := newCreation(t, service.service(offerAt100), time.Hour)
		offer := Candidate{Offer: rental.Offer{ID: "off_1"}}
		if _, _, err := c.request(ctx, &offer); errorName(err) != "OutcomeUnknown" || asked != maxUnreadable {
			t.Errorf("%v after %d requests, want an unknown outcome after %d", err, asked, maxUnreadable)
		}
	})
}

// An interruption ends a creation at once, unless a request was sent and not answered. The outcome is unknown only if a
// response was lost.
func TestRent_Interrupted(t *testing.T) {
	limited := transport(func(req *http.Request) (*http.Response, error) {
		resp, err := refuses(http.StatusTooManyRequests)(req)
		resp.Header.Set("Retry-After", "60")
		return resp, err
	})
	slow := func(next transport) transport {
		return func(req *http.Request) (*http.Response, error) {
			if err := backoff.Sleep(req.Context(), 15*time.Second); err != nil {
				return nil, err
			}
			return next(req)
		}
	}
	const interruption = 10 * time.Second
	for name, test := range map[string]struct {
		responses responses
		want      string
		took      time.Duration
	}{
		"during a 429":              {responses{limited}, "Interrupted", interruption},
		"after a lost response":     {responses{cuts, limited}, "OutcomeUnknown", interruption},
		"in flight, rented":         {responses{slow(replays)}, "", 15 * time.Second},
		"in flight, refused":        {responses{slow(refuses(409))}, "OfferRefused", 15 * time.Second},
		"in flight, 503":            {responses{slow(refuses(503))}, "OutcomeUnknown", 15 * time.Second},
		"in flight, never answered": {responses{tooLate}, "OutcomeUnknown", 16 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, c := newCreation(t, test.responses.service(offerAt100), time.Hour)
				ctx, interrupt := context.WithCancel(t.Context())
				time.AfterFunc(interruption, interrupt)
				began := time.Now()
				rented, err := c.manager.Rent(ctx, c.order, offerAt("off_1", 100))
				if took := time.Since(began); errorName(err) != test.want || took != test.took {
					t.Errorf("after %s: %v", took, err)
				}
				if (rented.ID != "") != (test.want == "") {
					t.Errorf("rented %q", rented.ID)
				}
			})
		})
	}
}

// newCreation returns the creation of an on-demand instance with a price cap of 100 kopecks per hour.
func newCreation(
	t *testing.T, service http.RoundTripper, timeout time.Duration,
) (ctx context.Context, c *creation) {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: service, MaxRetries: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.GetMe(t.Context()) //nolint:errcheck // any answer will do
	order := Order{
		Seed: FleetSeed("train/1"), Request: rental.InstanceCreate{Type: rental.OnDemand}, MaxPriceKopH: 100,
	}
	manager := newManager(client)
	manager.PollInterval = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx, manager.newCreation(order)
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
	conflict := refuses(409)
	for name, test := range map[string]struct {
		offer      string // after the refusal
		responses  responses
		want       string // empty: an instance
		afterwards Availability
	}{
		"the price has changed":     {offerAt90, responses{conflict, replays}, "", 0},
		"it changes each time":      {offerAt90, responses{conflict}, "OfferRefused", Available},
		"the price rose above":      {offerAt200, responses{conflict}, "OfferAboveCap", 0},
		"the price is the same":     {offerAt100, responses{conflict}, "OfferRefused", Available},
		"not available":             {offerNotAvailable, responses{conflict}, "OfferRefused", NotAvailable},
		"not readable":              {"", responses{conflict}, "OfferRefused", AvailabilityUnknown},
		"its disk is too small":     {offerAt100, responses{refuses(422)}, "OfferRefused", Available},
		"a 404, but it is listed":   {offerAt90, responses{refuses(404), replays}, "OfferRefused", Available},
		"another refusal":           {offerAt100, responses{refuses(402)}, "Error", 0},
		"an unknown outcome, a 409": {offerAt90, responses{cuts, conflict}, "OutcomeUnknown", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, c := newCreation(t, test.responses.service(test.offer), 20*time.Second)
				rented, err := c.manager.Rent(ctx, c.order, offerAt("off_1", 100))
				refused, _ := errors.AsType[OfferRefused](err)
				if errorName(err) != test.want || refused.Afterwards != test.afterwards || (rented.ID != "") != (err == nil) {
					t.Errorf("got %q, %v", rented.ID, err)
				}
			})
		})
	}
}
