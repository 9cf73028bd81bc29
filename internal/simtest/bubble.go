// Package simtest runs a simulator in fake time, and intercepts requests on their way to a simulator. It does not
// import the provider, so that the tests of each package of the provider can use it, and need not compile what is above
// that package.
package simtest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Bubble is a simulator in a synctest bubble and a client of it, for tests of packages without Terraform: fleet,
// market, lifecycle, spending. TestInBubble is an example.
//
// Time is fake for the client and the simulator alike: it starts at midnight on 2000-01-01 and moves when all
// goroutines wait. Each request takes 50 ms, so a test with hours of waiting and hundreds of requests takes
// milliseconds and always takes the same simulated time. time.Sleep lets the service go on, time.AfterFunc changes it
// later. Assertions about durations are exact bounds, not guesses.
//
// The service is the whole simulator, with a market that changes only through rentals and SetOffer. There are three
// ways to make it respond otherwise, from the realistic to the arbitrary:
//
//   - Set… methods change offers, instances and the account, as the service itself would;
//   - [simulator.Config.Hooks] with quirks.New("lagging-list") turns on what the API document allows;
//   - Proxy.Set intercepts requests: Creates("train-1").Once().Do(LoseResponse).
//
// What a test asserts, it reads through Client and Simulator. If the responses are changed by rules, remove them first:
// Proxy.Set().
type Bubble struct {
	*simulator.Simulator
	Client *rental.Client
	Proxy  Proxy // between the client and the simulator
	t      *testing.T
}

// InBubble runs a test with a new simulator in a bubble. The API key and the market of the configuration are set. The
// test ends two hours later, when no goroutine is left.
func InBubble(t *testing.T, config simulator.Config, test func(t *testing.T, b *Bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.APIKey, config.Market = rentaltest.Key, simulator.MarketStill
		service, err := quirks.NewSimulator(config)
		if err != nil {
			t.Fatal(err)
		}
		b := &Bubble{t: t, Simulator: service}
		b.Client, err = rental.New(rental.Config{
			BaseURL: "http://127.0.0.1/api/v1", APIKey: rentaltest.Key, Transport: b, MaxRetries: 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, b)
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time
	})
}

// RoundTrip implements http.RoundTripper.
func (b *Bubble) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := backoff.Sleep(req.Context(), 50*time.Millisecond); err != nil {
		return nil, err
	}
	return rentaltest.Serve(b.Proxy.Wrap(b.Handler()), req)
}

// Creates matches requests that create an instance and have one of these texts in their bodies, such as the name or the
// offer. Without texts, it matches all of them.
func Creates(texts ...string) Match {
	creates := Request(http.MethodPost, "/instances")
	return func(r *http.Request) bool {
		if !creates(r) || len(texts) == 0 {
			return creates(r)
		}
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		for _, text := range texts {
			if err == nil && strings.Contains(string(body), `"`+text+`"`) {
				return true
			}
		}
		return false
	}
}

// Fail returns the error of the API for a status, and does nothing.
func Fail(status int) Interceptor {
	body, err := json.Marshal(rentaltest.Failure(status))
	if err != nil {
		panic(err)
	}
	return Respond(status, string(body))
}

// Offers returns the available offers, the cheapest one first.
func (b *Bubble) Offers() (offers []rental.Offer) {
	b.t.Helper()
	for offer, err := range b.Client.ListOffers(b.t.Context(), rental.OfferQuery{}) {
		if err != nil {
			b.t.Fatal(err)
		}
		offers = append(offers, offer)
	}
	return offers
}

// Instances returns all instances that ever existed.
func (b *Bubble) Instances() (instances []rental.Instance) {
	b.t.Helper()
	query := rental.ListInstancesQuery{Status: rental.ListAll}
	for inst, err := range b.Client.ListInstances(b.t.Context(), query) {
		if err != nil {
			b.t.Fatal(err)
		}
		instances = append(instances, inst)
	}
	return instances
}

// Active returns the instances that are neither destroyed nor being destroyed.
func (b *Bubble) Active() []rental.Instance {
	b.t.Helper()
	return slices.DeleteFunc(b.Instances(), rental.Instance.Destroyed)
}

// CountRequests returns the number of requests with a method for a path, relative to the base URL, and the paths below
// it; of all requests with the method if the path is empty.
func (b *Bubble) CountRequests(method, path string) int {
	return CountRequests(b.Simulator, method, path)
}

// CountRequests is Bubble.CountRequests for any simulator.
func CountRequests(service *simulator.Simulator, method, path string) (n int) {
	for _, r := range service.Requests() {
		if r.Method == method && (r.Path == path || strings.HasPrefix(r.Path, path+"/")) {
			n++
		}
	}
	return n
}

// SetAccount changes the account.
func (b *Bubble) SetAccount(patch simulator.AccountPatch) {
	b.t.Helper()
	b.check(b.Simulator.SetAccount(patch))
}

// SetOffer changes an offer.
func (b *Bubble) SetOffer(id string, patch simulator.OfferPatch) {
	b.t.Helper()
	b.check(b.Simulator.SetOffer(id, patch))
}

// SetStatus changes the status of an instance, as the service would after a failure.
func (b *Bubble) SetStatus(id string, status rental.InstanceStatus) {
	b.t.Helper()
	b.check(b.SetInstance(id, simulator.InstancePatch{Status: new(string(status))}))
}

func (b *Bubble) check(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Error(err)
	}
}

// LimitOffers leaves this many offers available, the cheapest ones, and returns the ids of the others.
func (b *Bubble) LimitOffers(left int) (withheld []string) {
	b.t.Helper()
	for _, offer := range b.Offers()[left:] {
		b.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)})
		withheld = append(withheld, offer.ID)
	}
	return withheld
}

// AddOffer makes an offer available again after some time.
func (b *Bubble) AddOffer(id string, after time.Duration) {
	b.t.Helper()
	time.AfterFunc(after, func() { b.SetOffer(id, simulator.OfferPatch{Available: new(true)}) })
}

// Rent rents an instance from the cheapest offer with the smallest disk, at the price of the offer, as another program
// of the account does.
func (b *Bubble) Rent(name string) rental.Instance {
	b.t.Helper()
	order := rental.InstanceCreate{
		Name: name, OfferID: b.Offers()[0].ID, Template: "ubuntu", DiskGB: 10, Type: rental.OnDemand,
	}
	inst, _, err := b.Client.CreateInstance(b.t.Context(), rand.Text(), order)
	if err != nil {
		b.t.Fatal(err)
	}
	return inst
}
