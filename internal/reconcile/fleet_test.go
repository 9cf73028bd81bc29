package reconcile_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

var apiKey = "sim_" + strings.Repeat("a", 40)

// env is a simulator with fake time, and a client of it.
type env struct {
	t         *testing.T
	simulator *simulator.Simulator
	client    *rental.Client
	latency   time.Duration
}

// run runs a test in a synctest bubble: the simulator's real clock is the fake clock of the bubble.
func run(t *testing.T, config simulator.Config, test func(e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.APIKey, config.Market = apiKey, simulator.MarketStill
		s, err := simulator.New(config)
		if err != nil {
			t.Fatal(err)
		}
		e := &env{t: t, simulator: s, latency: 50 * time.Millisecond}
		e.client, err = rental.New(rental.Config{
			BaseURL: "http://127.0.0.1/api/v1", APIKey: apiKey, Transport: e, MaxRetries: 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		test(e)
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time, until no goroutine is left
	})
}

// RoundTrip implements http.RoundTripper.
func (e *env) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(e.latency) //nolint:forbidigo // fake time
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.RemoteAddr, req.RequestURI, req.Host = "127.0.0.1:1", req.URL.RequestURI(), req.URL.Host
	if req.Body == nil {
		req.Body = http.NoBody
	}
	response := httptest.NewRecorder()
	e.simulator.Handler().ServeHTTP(response, req)
	return response.Result(), nil
}

// manager returns a manager of a new run.
func (e *env) manager() *reconcile.Manager {
	single := func() bool { return true }
	poll := 5 * time.Second
	cache := rental.NewCache(e.client, poll, single)
	return &reconcile.Manager{
		Client: e.client, Cache: cache, Placement: placement.New(e.client, cache, poll, single),
		Lifecycle: lifecycle.New(e.client, cache.Templates.Find, poll),
		Spending:  spending.New(spending.Limits{RequireFunds: spending.FundsOff}, e.client, cache, single),
	}
}

func spec(size int) reconcile.Spec {
	query := placement.Query{MaxAttempts: 5}
	query.Type = rental.OnDemand
	return reconcile.Spec{
		Name: "train", Size: size, MinReady: size, State: rental.DesiredRunning, OnOutbid: lifecycle.OutbidRestart,
		Order:   rental.InstanceCreate{Template: "pytorch", DiskGB: 20, Type: rental.OnDemand},
		Queries: []placement.Query{query},
	}
}

func (e *env) apply(spec reconcile.Spec, members []reconcile.Member) reconcile.Result {
	e.t.Helper()
	return e.manager().Apply(e.t.Context(), spec, members, 30*time.Minute)
}

// count returns the number of requests with a method.
func (e *env) count(method string) (n int) {
	for _, request := range e.simulator.Requests() {
		if request.Method == method {
			n++
		}
	}
	return n
}

func (e *env) tooMany() (n int) {
	for _, request := range e.simulator.Requests() {
		if request.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

func describe(result reconcile.Result) string {
	var text []string
	for _, m := range result.Members {
		text = append(text, fmt.Sprintf("%d:%s", m.Slot, m.Instance.Status))
	}
	for _, failure := range result.Failures {
		text = append(text, failure.String())
	}
	return strings.Join(text, " ")
}

func TestApply_CreatesManyMembers(t *testing.T) {
	run(t, simulator.Config{MarketScale: 20}, func(e *env) {
		if err := e.simulator.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(1000)), BalanceKop: new(int64(1e12))}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		result := e.apply(spec(200), nil)
		took := time.Since(began)
		if len(result.Members) != 200 || len(result.Failures) > 0 {
			t.Fatal(describe(result))
		}
		t.Logf("%s, %d POST, %d GET", took, e.count("POST"), e.count("GET"))
		if e.tooMany() > 0 {
			t.Errorf("%d responses 429", e.tooMany())
		}
	})
}

var _ = context.Background
