package lifecycle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// The request is repeated until the API accepts it, or does not find the instance.
func TestDestroy(t *testing.T) {
	destroys := func(s *service) int {
		if s.Inst.DesiredState == rental.DesiredDestroyed {
			return http.StatusConflict
		}
		is(rental.StatusDestroying, rental.DesiredDestroyed)(&s.Inst)
		s.Later(10*time.Second, is(rental.StatusDestroyed, rental.DesiredDestroyed))
		return http.StatusOK
	}
	notWhileBooting := func(s *service) int {
		if s.Inst.Status == rental.StatusStarting {
			return http.StatusConflict
		}
		return destroys(s)
	}
	foreign := func(s *service) int {
		if s.Inst.Status == rental.StatusDestroying {
			return http.StatusTeapot
		}
		return http.StatusOK
	}
	for name, test := range map[string]struct {
		destroy, read func(*service) int
		lag           time.Duration
		boots         time.Duration
		accepted      bool
		status        int // of the error of the API; 0 for none
	}{
		"plain":                       {destroy: destroys, accepted: true},
		"not found":                   {destroy: replies(http.StatusNotFound)},
		"already being destroyed":     {destroy: loses(destroys, 500, 0), accepted: true},
		"all responses lost":          {destroy: loses(destroys, 0, 2), accepted: true},
		"a conflict, the status lags": {destroy: loses(destroys, 502, 0), lag: 25 * time.Second, accepted: true},
		"all lost, the status lags":   {destroy: loses(destroys, 503, 2), lag: 25 * time.Second, accepted: true},
		"a foreign response to reads": {destroy: destroys, read: foreign, accepted: true},
		"refused while it boots":      {destroy: notWhileBooting, boots: 20 * time.Minute, accepted: true},
		"no permission":               {destroy: replies(http.StatusForbidden), status: http.StatusForbidden},
	} {
		subtestInstance(t, name, rental.OnDemand, "starting/running", func(t *testing.T, s *service, m *Manager) {
			s.Later(test.boots, is(rental.StatusRunning, rental.DesiredRunning))
			s.Lag, s.On["DELETE"], s.On["GET"] = test.lag, test.destroy, test.read
			began := time.Now()
			accepted, err := m.Destroy(t.Context(), rentaltest.ID, time.Time{})
			if accepted != test.accepted || (err == nil) != (test.status == 0) {
				t.Errorf("accepted: %t, %v", accepted, err)
			}
			if took := time.Since(began); took > test.boots+decided {
				t.Errorf("it took %s", took)
			}
			if owner, _ := m.Owners.Owner(rentaltest.ID); owner.Destroyed != (err == nil) {
				t.Errorf("recorded as destroyed: %t", owner.Destroyed)
			}
		})
	}
}

// The end of the context ends the attempts. The error contains the last refusal.
func TestDestroy_ContextEnds(t *testing.T) {
	for status, accepted := range map[int]bool{http.StatusConflict: false, http.StatusOK: true} { // never carried out
		withInstance(t, rental.OnDemand, "starting/running", func(t *testing.T, s *service, m *Manager) {
			s.On["DELETE"] = replies(status)
			ctx := within(t, time.Hour)
			began := time.Now()
			got, err := m.Destroy(ctx, rentaltest.ID, time.Time{})
			if got != accepted || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour {
				t.Errorf("%d: accepted %t after %s, %v", status, got, time.Since(began), err)
			}
			if !accepted && !rental.IsConflict(err) {
				t.Errorf("the error lacks the last refusal: %v", err)
			}
		})
	}
}

// A 404 of a new instance does not count: the API may not find it yet. Later it shows that the instance is gone. The
// API's clock decides, of which the first response of a process shows the time, or a minute has passed.
func TestDestroy_NewInstanceIsNotFoundYet(t *testing.T) {
	for name, hidden := range map[string]int{"found at last": 2, "gone": 1000} {
		withInstance(t, rental.OnDemand, "running", func(t *testing.T, s *service, m *Manager) {
			clock := time.Now().Add(time.Hour) // it stands still
			s.Script("DELETE /instances/*", func(req *http.Request) (*http.Response, error) {
				respond := rentaltest.Fail(http.StatusNotFound)
				if len(s.Sent("DELETE /instances/*")) > hidden {
					respond = rentaltest.Respond(http.StatusOK, rental.Instance{ID: rentaltest.ID, Status: rental.StatusDestroyed})
				}
				resp, err := respond(req)
				resp.Header.Set("Date", clock.UTC().Format(http.TimeFormat))
				return resp, err
			})
			ctx := within(t, 2*time.Minute)
			accepted, err := m.Destroy(ctx, rentaltest.ID, clock)
			if n := len(s.Sent("DELETE /instances/*")); err != nil || accepted != (hidden == 2) || n < 3 {
				t.Errorf("%s: accepted %t after %d requests, %v", name, accepted, n, err)
			}
		})
	}
}

// A wait for a new instance continues while the API does not find it. After a minute, or once it was found, a 404 ends
// it. What was just rented is new, whatever its time of creation is.
func TestConverge_NewInstanceIsNotFoundYet(t *testing.T) {
	for name, test := range map[string]struct {
		age          time.Duration
		hidden, gone time.Duration // the API does not find it until, and from then on
		rented       bool          // by this run
		want         string
	}{
		"new, then found":            {0, 50 * time.Second, time.Hour, false, ""},
		"new, never found":           {0, time.Hour, time.Hour, false, "Missing"},
		"new, found, then destroyed": {0, 5 * time.Second, 20 * time.Second, false, "Missing"},
		"an earlier instance":        {2 * time.Minute, 50 * time.Second, time.Hour, false, "Missing"},
		"just rented, another clock": {time.Hour, 50 * time.Second, time.Hour, true, ""},
	} {
		subtestInstance(t, name, rental.OnDemand, "creating/running", func(t *testing.T, s *service, m *Manager) {
			began, target := time.Now(), running(OutbidRestart)
			s.Later(40*time.Second, is(rental.StatusRunning, rental.DesiredRunning))
			s.On["GET"] = func(*service) int {
				if at := time.Since(began); at < test.hidden || at > test.gone {
					return http.StatusNotFound
				}
				return http.StatusOK
			}
			target.CreatedAt = m.Client.Now().Add(-test.age)
			s.Inst.CreatedAt, s.Inst.Template.Slug, s.Inst.DiskGB = target.CreatedAt, "ubuntu", 60
			var err error
			if rented := (Rented{Order: newOrder(RandomKey()), Proven: true, Instance: s.Inst}); test.rented {
				_, err = m.ConvergeRented(t.Context(), rented, target)
			} else {
				_, err = m.Converge(t.Context(), s.Inst, target)
			}
			if took := time.Since(began); errorName(err) != test.want || took > decided {
				t.Errorf("got %v after %s", err, took)
			}
		})
	}
}

// A stop is repeated while the API refuses it because of the status, or its response is lost.
func TestRequestStop(t *testing.T) {
	whileRunning := func(s *service) int {
		if s.Inst.Status != rental.StatusRunning {
			return http.StatusConflict
		}
		return stops(s)
	}
	for name, test := range map[string]struct {
		response func(*service) int
		err      string
	}{
		"only while it runs":   {whileRunning, ""},
		"the response is lost": {loses(stops, 0, 2), ""},
		"no response":          {replies(503), "Error"},
		"no permission":        {replies(403), "Error"},
	} {
		withInstance(t, rental.OnDemand, "starting/running", func(t *testing.T, s *service, m *Manager) {
			s.Later(time.Minute, is(rental.StatusRunning, rental.DesiredRunning))
			s.On["stop"] = test.response
			if _, err := m.requestStop(t.Context(), rentaltest.ID); errorName(err) != test.err {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A new name whose response was lost is no error if the instance has it.
func TestRename(t *testing.T) {
	name := "new"
	renames := func(s *service) int {
		s.Inst.Name = &name
		return http.StatusServiceUnavailable
	}
	for story, test := range map[string]struct {
		patch func(*service) int
		err   string
	}{
		"all responses lost": {renames, ""},
		"never carried out":  {replies(http.StatusServiceUnavailable), "Error"},
		"refused":            {replies(http.StatusNotFound), "Error"},
	} {
		withInstance(t, rental.OnDemand, "running", func(t *testing.T, s *service, m *Manager) {
			s.On["PATCH"] = test.patch
			inst, err := m.Rename(t.Context(), rentaltest.ID, &name)
			if errorName(err) != test.err || err == nil && inst.NameString() != name {
				t.Errorf("%s: got %q, %v", story, inst.NameString(), err)
			}
		})
	}
}
