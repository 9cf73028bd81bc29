package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

type responses = []rentaltest.Response

var (
	refuses = rentaltest.Fail
	cuts    = rentaltest.Response(rentaltest.Cut)
	replays = rentaltest.Replay(rental.Instance{ID: rentaltest.ID, Status: rental.StatusRunning, Type: rental.OnDemand})
)

// foreign answers as something between the API and the client.
func foreign(status int) rentaltest.Response { return rentaltest.Respond(status, "<html>") }

func tooLate(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// withResponses runs a subtest in a synctest bubble, with the responses to successive create requests and a client that
// does not repeat them. The price cap of the creation is that of the offer.
func withResponses(t *testing.T, name string, made responses, test func(t *testing.T, s *service, c *creation)) {
	t.Helper()
	subtestAccount(t, name, func(t *testing.T, s *service, _ *Manager) {
		s.Script("POST /instances", rentaltest.InTurn(made...))
		s.Script("GET /instances/*", replays)
		client, err := rental.New(rental.Config{
			BaseURL: "https://rent.example/api/v1", APIKey: rentaltest.Key, Transport: s, MaxRetries: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = client.GetMe(t.Context()) //nolint:errcheck // any answer will do
		manager := newManager(client)
		manager.PollInterval = time.Second
		test(t, s, manager.newCreation(Order{
			Seed: FleetSeed("train/1"), Request: rental.InstanceCreate{Type: rental.OnDemand},
			MaxPriceKopH: rentaltest.OfferKopH,
		}))
	})
}

// The same request is repeated until its outcome is known. A refusal decides it, unless a request whose response was
// lost may still be carried out.
func TestRequest(t *testing.T) {
	wrongPair := rentaltest.Respond(http.StatusConflict, rentaltest.Failure(http.StatusPaymentRequired))
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
		"503, then the key is revoked":        {responses{unavailable, unauthorized}, "OutcomeUnknown"},
		"cut again and again, then there":     {responses{cuts, cuts, unavailable, cuts, replays}, "ins_1"},
		"too late, refused, but there":        {responses{tooLate, poor, replays}, "ins_1"},
		"too late, cut, refused, but there":   {responses{tooLate, cuts, poor, replays}, "ins_1"},
		"too late, refused for good":          {responses{tooLate, poor, poor}, rental.CodeInsufficientFunds},
		"cut, then the key is revoked":        {responses{cuts, unauthorized}, "OutcomeUnknown"},
		"the key is revoked from the start":   {responses{unauthorized}, rental.CodeUnauthorized},
		"never a response until the deadline": {responses{cuts}, "OutcomeUnknown"},
	} {
		withResponses(t, name, test.service, func(t *testing.T, _ *service, c *creation) {
			ctx := within(t, 8*rental.DefaultRequestTimeout)
			rented, _, err := c.request(ctx, &anOffer)
			got := cmp.Or(errorName(err), rented.ID)
			if refusal, ok := err.(*rental.Error); ok {
				got = refusal.Code
			}
			if got != test.want {
				t.Errorf("%s (%v), want %s", got, err, test.want)
			}
		})
	}
}

// A response that a repetition is not likely to improve ends the creation soon.
func TestRequest_ForeignResponses(t *testing.T) {
	for _, status := range []int{403, 404} {
		withResponses(t, fmt.Sprint(status), responses{foreign(status)}, func(t *testing.T, s *service, c *creation) {
			_, _, err := c.request(t.Context(), &anOffer)
			if n := len(s.Sent("POST /instances")); errorName(err) != "OutcomeUnknown" || n != maxUnreadable {
				t.Errorf("%v after %d requests, want an unknown outcome after %d", err, n, maxUnreadable)
			}
		})
	}
}

// An interruption ends a creation at once, unless a request was sent and not answered. The outcome is unknown only if a
// response was lost.
func TestRent_Interrupted(t *testing.T) {
	limited := func(req *http.Request) (*http.Response, error) {
		resp, err := refuses(http.StatusTooManyRequests)(req)
		resp.Header.Set("Retry-After", "60")
		return resp, err
	}
	slow := func(next rentaltest.Response) rentaltest.Response {
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
		withResponses(t, name, test.responses, func(t *testing.T, _ *service, c *creation) {
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(interruption, interrupt)
			began := time.Now()
			rented, err := c.manager.Rent(ctx, c.order, anOffer)
			if took := time.Since(began); errorName(err) != test.want || took != test.took {
				t.Errorf("after %s: %v", took, err)
			}
			if (rented.ID != "") != (test.want == "") {
				t.Errorf("rented %q", rented.ID)
			}
		})
	}
}

// After a refusal the offer is read: its price may have changed, or it is the reason.
func TestRent_Refused(t *testing.T) {
	conflict := refuses(409)
	at := func(kopH int64) rentaltest.Response { return rentaltest.Respond(200, rentaltest.Offer("off_1", kopH)) }
	rented := rentaltest.Offer("off_1", 1000)
	rented["available"] = false
	for name, test := range map[string]struct {
		offer      rentaltest.Response // after the refusal
		responses  responses
		want       string // empty: an instance
		afterwards Availability
	}{
		"the price has changed":     {at(900), responses{conflict, replays}, "", 0},
		"it changes each time":      {at(900), responses{conflict}, "OfferRefused", Available},
		"the price rose above":      {at(2000), responses{conflict}, "OfferAboveCap", 0},
		"the price is the same":     {at(1000), responses{conflict}, "OfferRefused", Available},
		"not available":             {rentaltest.Respond(200, rented), responses{conflict}, "OfferRefused", NotAvailable},
		"gone":                      {refuses(404), responses{conflict}, "OfferRefused", NotAvailable},
		"not readable":              {refuses(503), responses{conflict}, "OfferRefused", AvailabilityUnknown},
		"its disk is too small":     {at(1000), responses{refuses(422)}, "OfferRefused", Available},
		"a 404, but it is listed":   {at(900), responses{refuses(404), replays}, "OfferRefused", Available},
		"another refusal":           {at(1000), responses{refuses(402)}, "Error", 0},
		"an unknown outcome, a 409": {at(900), responses{cuts, conflict}, "OutcomeUnknown", 0},
	} {
		withResponses(t, name, test.responses, func(t *testing.T, s *service, c *creation) {
			s.Script("GET /offers/*", test.offer)
			ctx := within(t, 20*time.Second)
			rented, err := c.manager.Rent(ctx, c.order, anOffer)
			refused, _ := errors.AsType[OfferRefused](err)
			if errorName(err) != test.want || refused.Afterwards != test.afterwards || (rented.ID != "") != (err == nil) {
				t.Errorf("got %q, %v", rented.ID, err)
			}
		})
	}
}
