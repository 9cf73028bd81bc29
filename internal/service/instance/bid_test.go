package instance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A bid whose price only its answer tells is never left above the cap unsaid.
func TestInstanceActions_newBidsStayBelowTheirCap(t *testing.T) {
	lost := errors.New("the connection was cut")
	for name, test := range map[string]struct {
		// meddle is told each request to start or stop, and serves it at will.
		meddle func(b *bubble, verb string, interrupt func(), serve func() *http.Response) (*http.Response, error)
		want   string
		runs   bool
	}{
		"it is too much": {func(_ *bubble, _ string, _ func(), serve func() *http.Response) (*http.Response, error) {
			return serve(), nil
		},
			"was stopped again: price above the cap", false},
		"interrupted in between": {func(_ *bubble, _ string, interrupt func(), serve func() *http.Response) (*http.Response, error) {
			interrupt()
			return serve(), nil
		}, "was stopped again: price above the cap", false},
		"interrupted, and the answer is lost": {func(_ *bubble, verb string, interrupt func(), serve func() *http.Response) (*http.Response, error) {
			resp := serve()
			if verb == "start" && resp.StatusCode == http.StatusOK {
				interrupt()
				time.Sleep(25 * time.Second) // the status lags behind the start
				return nil, lost
			}
			return resp, nil
		}, "was stopped again: price above the cap", false},
		"the answer is lost": {func(_ *bubble, verb string, _ func(), serve func() *http.Response) (*http.Response, error) {
			resp := serve()
			if verb == "start" && resp.StatusCode == http.StatusOK {
				return nil, lost
			}
			return resp, nil
		}, "was stopped again: price above the cap", false},
		"all answers are lost": {func(_ *bubble, verb string, _ func(), serve func() *http.Response) (*http.Response, error) {
			if resp := serve(); verb == "stop" {
				return resp, nil
			}
			return nil, lost
		}, "was stopped again: price above the cap", false},
		"it cannot be stopped again": {func(_ *bubble, verb string, _ func(), serve func() *http.Response) (*http.Response, error) {
			if verb == "stop" {
				return nil, lost
			}
			return serve(), nil
		}, "runs above the cap", true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				inst, offer := b.rents(rental.Interruptible)
				if err := b.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: new(*offer.Price.InterruptibleKopH + 100)}); err != nil {
					b.Fatal(err)
				}
				ctx, interrupt := context.WithCancel(b.Context())
				defer interrupt()
				b.meddle = func(req *http.Request) (*http.Response, error) {
					verb := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
					if verb != "start" && verb != "stop" {
						return nil, nil
					}
					return test.meddle(b, verb, interrupt, func() *http.Response { return b.serve(req) })
				}
				_, _, failed := b.invoke(ctx, newStart(), inst.ID, *offer.Price.InterruptibleKopH+50)
				b.contains(failed, test.want, "max_price_kop_h allows")
				time.Sleep(time.Hour)
				b.meddle = nil
				if status := b.seen(inst.ID).Status; (status == rental.StatusRunning) != test.runs {
					b.Errorf("it is %s in the end", status)
				}
			})
		})
	}
}
