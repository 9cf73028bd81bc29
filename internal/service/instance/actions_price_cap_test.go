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

// An instance with a new bid above the cap is stopped, or the error reports that it runs.
func TestActions_NewBidAboveCap(t *testing.T) {
	type serve = func() *http.Response
	lost := errors.New("the connection was cut")
	for name, test := range map[string]struct {
		// intercept receives each request to start or stop, and a function that serves it.
		intercept func(f *fixture, verb string, interrupt func(), serve serve) (*http.Response, error)
		want      string
		runs      bool
	}{
		"it is too much": {
			func(_ *fixture, _ string, _ func(), serve serve) (*http.Response, error) {
				return serve(), nil
			},
			"It was stopped again", false,
		},
		"interrupted in between": {
			func(_ *fixture, _ string, interrupt func(), serve serve) (*http.Response, error) {
				interrupt()
				return serve(), nil
			},
			"It was stopped again", false,
		},
		"interrupted, and the response is lost": {
			func(_ *fixture, verb string, interrupt func(), serve serve) (*http.Response, error) {
				resp := serve()
				if verb == "start" && resp.StatusCode == http.StatusOK {
					interrupt()
					time.Sleep(25 * time.Second) // the status lags behind the start
					return nil, lost
				}
				return resp, nil
			},
			"It was stopped again", false,
		},
		"the response is lost": {
			func(_ *fixture, verb string, _ func(), serve serve) (*http.Response, error) {
				resp := serve()
				if verb == "start" && resp.StatusCode == http.StatusOK {
					return nil, lost
				}
				return resp, nil
			},
			"It was stopped again", false,
		},
		"all responses are lost": {
			func(_ *fixture, verb string, _ func(), serve serve) (*http.Response, error) {
				if resp := serve(); verb == "stop" {
					return resp, nil
				}
				return nil, lost
			},
			"It was stopped again", false,
		},
		"it cannot be stopped again": {
			func(_ *fixture, verb string, _ func(), serve serve) (*http.Response, error) {
				if verb == "stop" {
					return nil, lost
				}
				return serve(), nil
			},
			"stopping it again failed", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				inst, offer := f.createRunning(rental.Interruptible)
				err := f.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: new(*offer.Price.InterruptibleKopH + 100)})
				if err != nil {
					f.Fatal(err)
				}
				ctx, interrupt := context.WithCancel(f.Context())
				defer interrupt()
				f.intercept = func(req *http.Request) (*http.Response, error) {
					verb := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
					if verb != "start" && verb != "stop" {
						return nil, nil
					}
					return test.intercept(f, verb, interrupt, func() *http.Response { return f.serve(req) })
				}
				_, _, errs := f.invoke(ctx, NewStart(), inst.ID, *offer.Price.InterruptibleKopH+50)
				f.expectContains(errs, test.want, "max_price_kop_h is")
				time.Sleep(time.Hour)
				f.intercept = nil
				if status := f.get(inst.ID).Status; (status == rental.StatusRunning) != test.runs {
					f.Errorf("it is %s in the end", status)
				}
			})
		})
	}
}
