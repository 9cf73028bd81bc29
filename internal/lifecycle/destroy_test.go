package lifecycle

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

func TestDestroy(t *testing.T) {
	destroys := func(s *rentaltest.Service) int {
		if s.Inst.DesiredState == rental.DesiredDestroyed {
			return http.StatusConflict
		}
		rentaltest.Is(rental.StatusDestroying, rental.DesiredDestroyed)(&s.Inst)
		s.Later(10*time.Second, rentaltest.Is(rental.StatusDestroyed, rental.DesiredDestroyed))
		return http.StatusOK
	}
	foreign := func(s *rentaltest.Service) int {
		if time.Now().Before(s.Stale.Add(40 * time.Second)) {
			return http.StatusTeapot
		}
		return http.StatusOK
	}
	const deadline = "context deadline exceeded"
	for name, test := range map[string]struct {
		destroy, read func(*rentaltest.Service) int
		lag           time.Duration
		timeout       time.Duration
		confirmed     bool
		err           string
	}{
		"plain":                       {destroy: destroys, confirmed: true},
		"not found":                   {destroy: rentaltest.Replies(http.StatusNotFound)},
		"already being destroyed":     {destroy: rentaltest.Loses(destroys, 500, 0), confirmed: true},
		"all responses lost":          {destroy: rentaltest.Loses(destroys, 0, 2), confirmed: true},
		"a conflict, the status lags": {destroy: rentaltest.Loses(destroys, 502, 0), lag: 25 * time.Second, confirmed: true},
		"all lost, the status lags":   {destroy: rentaltest.Loses(destroys, 503, 2), lag: 25 * time.Second, confirmed: true},
		"a foreign response to reads": {destroy: destroys, read: foreign, confirmed: true},
		"refused":                     {destroy: rentaltest.Replies(http.StatusConflict), err: "API"},
		"never carried out":           {destroy: rentaltest.Replies(http.StatusServiceUnavailable), err: "API"},
		"a timeout while it ends": {
			destroy: rentaltest.Replies(http.StatusOK), timeout: time.Minute, confirmed: true, err: deadline,
		},
		"a timeout before its response": {
			destroy: rentaltest.Replies(http.StatusBadGateway), timeout: 20 * time.Second, err: "API",
		},
	} {
		t.Run(name, func(t *testing.T) {
			newService := func() *rentaltest.Service {
				s := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.Lag, s.On["DELETE"], s.On["GET"] = test.lag, test.destroy, test.read
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
				timeout := time.Hour
				if test.timeout > 0 {
					timeout = test.timeout
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				began := time.Now()
				confirmed, err := newManager(client).Destroy(ctx, rentaltest.ID, time.Time{})
				if confirmed != test.confirmed || classOf(err) != test.err {
					t.Errorf("confirmed: %t, %v", confirmed, err)
				}
				if took := time.Since(began); took > decided {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A 404 of a new instance does not count: the API may not find it yet. Later it shows that the instance is gone.
func TestDestroy_NewInstanceIsNotFoundYet(t *testing.T) {
	for name, hidden := range map[string]int{"found at last": 2, "gone": 1000} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			newService := func() *rentaltest.Service {
				asked = 0
				s := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.On["DELETE"] = func(s *rentaltest.Service) int {
					if asked++; asked <= hidden {
						return http.StatusNotFound
					}
					rentaltest.Is(rental.StatusDestroyed, rental.DesiredDestroyed)(&s.Inst)
					return http.StatusOK
				}
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
				confirmed, err := newManager(client).Destroy(t.Context(), rentaltest.ID, client.Now())
				if err != nil || confirmed != (hidden == 2) || asked < 3 {
					t.Errorf("confirmed %t after %d requests, %v", confirmed, asked, err)
				}
			})
		})
	}
}

// A wait for a new instance continues while the API does not find it. Later, or for another instance, a 404 ends it.
func TestConverge_NewInstanceIsNotFoundYet(t *testing.T) {
	for name, test := range map[string]struct {
		isNew  bool
		hidden time.Duration
		gone   bool
	}{
		"new, then found":     {true, 50 * time.Second, false},
		"new, never found":    {true, time.Hour, true},
		"an earlier instance": {false, 50 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			newService := func() *rentaltest.Service {
				s, began := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning), time.Now()
				s.On["GET"] = func(*rentaltest.Service) int {
					if time.Since(began) < test.hidden {
						return http.StatusNotFound
					}
					return http.StatusOK
				}
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
				inst := s.Inst
				rentaltest.Is(rental.StatusCreating, rental.DesiredRunning)(&inst)
				target := running(OutbidRestart)
				target.New = test.isNew
				_, _, err := newManager(client).Converge(t.Context(), inst, target)
				if gone := KindOf(err) == Gone; gone != test.gone || !gone && err != nil {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A stop or destruction is repeated while the API refuses it because of the status, or its response is lost.
func TestRequestUntilAccepted(t *testing.T) {
	type response = func(*rentaltest.Service) int
	onlyWhileRunning := func(accept response) response {
		return func(s *rentaltest.Service) int {
			if s.Inst.Status != rental.StatusRunning {
				return http.StatusConflict
			}
			return accept(s)
		}
	}
	destroys := func(s *rentaltest.Service) int {
		rentaltest.Is(rental.StatusDestroying, rental.DesiredDestroyed)(&s.Inst)
		return http.StatusOK
	}
	for name, test := range map[string]struct {
		response func(accept response) response
		err      string
	}{
		"only while it runs":   {onlyWhileRunning, ""},
		"the response is lost": {func(accept response) response { return rentaltest.Loses(accept, 0, 2) }, ""},
		"no response":          {func(response) response { return rentaltest.Replies(503) }, "API"},
		"no permission":        {func(response) response { return rentaltest.Replies(402) }, "API"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, what := range []string{"stop", "destroy"} {
				newService := func() *rentaltest.Service {
					s := rentaltest.New(rental.OnDemand, rental.StatusStarting, rental.DesiredRunning)
					s.Later(time.Minute, rentaltest.Is(rental.StatusRunning, rental.DesiredRunning))
					s.On["stop"], s.On["DELETE"] = test.response(rentaltest.Stops), test.response(destroys)
					return s
				}
				rentaltest.Run(t, newService, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
					m := newManager(client)
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					var err error
					if what == "stop" {
						_, err = m.RequestStop(ctx, rentaltest.ID)
					} else {
						err = m.RequestDestroy(ctx, rentaltest.ID, time.Time{})
					}
					if classOf(err) != test.err {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
		})
	}
}

// A new name whose response was lost is no error if the instance has it.
func TestRename(t *testing.T) {
	name := "new"
	renames := func(s *rentaltest.Service) int {
		s.Inst.Name = &name
		return http.StatusServiceUnavailable
	}
	for story, test := range map[string]struct {
		patch func(*rentaltest.Service) int
		err   string
	}{
		"all responses lost": {renames, ""},
		"never carried out":  {rentaltest.Replies(http.StatusServiceUnavailable), "API"},
		"refused":            {rentaltest.Replies(http.StatusNotFound), "API"},
	} {
		t.Run(story, func(t *testing.T) {
			newService := func() *rentaltest.Service {
				s := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.On["PATCH"] = test.patch
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
				inst, err := newManager(client).Rename(t.Context(), rentaltest.ID, &name)
				if classOf(err) != test.err || err == nil && inst.NameString() != name {
					t.Errorf("got %q, %v", inst.NameString(), err)
				}
			})
		})
	}
}
