package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// decided is how long a wait may last whose outcome is decided at once: far less than its timeout.
const decided = 4 * time.Minute

// checkConverge runs one wait and compares its end: the type of the error or "ok", the status, and what was sent.
func checkConverge(t *testing.T, s *service, m *Manager, target Target, want string) (reason string) {
	t.Helper()
	ctx := within(t, time.Hour)
	began := time.Now()
	now, err := m.Converge(ctx, s.Inst, target)
	if took := time.Since(began); took > decided {
		t.Errorf("it took %s", took)
	}
	if got := fmt.Sprintf("%s, %s: %s", cmp.Or(errorName(err), "ok"), now.Status, s.Changes()); got != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
	return reasonOf(err)
}

// loses carries out the first request, and loses its response and those of n repetitions.
func loses(work func(*service) int, status, n int) func(*service) int {
	calls := 0
	return func(s *service) int {
		if calls++; calls == 1 {
			work(s)
		}
		if calls <= n+1 {
			return status
		}
		return http.StatusConflict
	}
}

var lags = map[string]time.Duration{"": 0, ", the status lags": 25 * time.Second}

func TestConverge_OutbidAfterStart(t *testing.T) {
	outbid := outbidAfter(time.Second, 2*time.Second)
	once := func(s *service) int {
		if s.Changes() == "start" {
			return outbid(s)
		}
		return starts(s)
	}
	late := rentaltest.Then(is("starting", "running"), 40*time.Second, is("outbid", "running")) // after any lag
	const restart = OutbidRestart
	for name, test := range map[string]struct {
		from     string
		onOutbid OutbidPolicy
		start    func(*service) int
		want     string
	}{
		"keep, before a poll":   {"stopped", OutbidKeep, outbid, "ok, outbid: start"},
		"keep, after polls":     {"stopped", OutbidKeep, outbidAfter(2*time.Second, 40*time.Second), "ok, running: start"},
		"replace":               {"stopped", OutbidReplace, outbid, "NeedsReplacement, outbid: start"},
		"restart, once":         {"stopped", restart, once, "ok, running: start start"},
		"restart, always":       {"stopped", restart, outbid, "OutbidAgain, outbid: start start start"},
		"restart, always, seen": {"outbid/running", restart, late, "OutbidAgain, outbid: start start start"},
	} {
		for suffix, lag := range lags {
			subtestInstance(t, name+suffix, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
				s.Lag, s.On["start"] = lag, test.start
				checkConverge(t, s, m, running(test.onOutbid), test.want)
			})
		}
	}
}

// A wait ends soon after its outcome is decided.
func TestConverge_DecidedOutcomes(t *testing.T) {
	at := func(status rental.InstanceStatus, desired rental.DesiredState) func(*service) int {
		return func(s *service) int {
			is(status, desired)(&s.Inst)
			return http.StatusOK
		}
	}
	gone := func(s *service) int {
		s.On["GET"] = replies(404)
		return http.StatusOK
	}
	outbidOnce := func(s *service) int {
		if s.Changes() == "stop" {
			return at("outbid", "running")(s)
		}
		return stops(s)
	}
	const failed = "NeedsReplacement, failed: "
	outOfMoney := rentaltest.Then(is("starting", "running"), 12*time.Second, is("stopped", "stopped"))
	hostOffline := rentaltest.Then(is("starting", "running"), 12*time.Second, is("stopped", ""))
	for name, test := range map[string]struct {
		from, wanted string
		request      func(*service) int
		want         string
	}{
		"out of money":                       {"stopped", "running", outOfMoney, "Reverted, stopped: start"},
		"the host went offline":              {"stopped", "running", hostOffline, "Reverted, stopped: start"},
		"failed after a start":               {"stopped", "running", at("failed", "running"), failed + "start"},
		"destroyed after a start":            {"stopped", "running", at("destroying", ""), "Missing, destroying: start"},
		"not found after a start":            {"stopped", "running", gone, "Missing, stopped: start"},
		"a start that does nothing":          {"stopped", "running", replies(200), "Reverted, stopped: start"},
		"a start that is refused":            {"stopped", "running", replies(409), "StateRefused, stopped: start"},
		"a start without money":              {"stopped", "running", replies(402), "Error, stopped: start"},
		"a start of an unknown instance":     {"stopped", "running", replies(404), "Missing, stopped: start"},
		"one that was to run":                {"stopped/running", "running", replies(409), "StateRefused, stopped: start"},
		"a bid that is refused":              {"outbid/running", "running", replies(409), "StateRefused, outbid: start"},
		"a stop that does nothing":           {"running", "stopped", replies(200), "Reverted, running: stop"},
		"a stop that is refused":             {"running", "stopped", replies(409), "StateRefused, running: stop"},
		"failed after a stop":                {"running", "stopped", at("failed", "stopped"), failed + "stop"},
		"outbid, and a stop that is refused": {"outbid/running", "stopped", replies(409), "ok, outbid: stop"},
		"outbid before a stop took effect":   {"running", "stopped", outbidOnce, "ok, stopped: stop stop"},
		"outbid after a stop":                {"running", "stopped", at("outbid", "stopped"), "ok, outbid: stop"},
		"outbid, and no stop takes effect":   {"running", "stopped", at("outbid", "running"), "Reverted, outbid: stop stop"},
	} {
		subtestInstance(t, name, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
			s.On["start"], s.On["stop"] = test.request, test.request
			target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
			checkConverge(t, s, m, target, test.want)
		})
	}
}

// What was done before its response was lost is a success in the end, and is not done twice.
func TestConverge_LostResponses(t *testing.T) {
	const retries = 2 // of the client
	for name, test := range map[string]struct {
		from, wanted string
		undone       int // requests that do nothing, before one that works
		status, lost int // the response to that one, and how many repetitions get the same
		want         string
	}{
		"start, 500":      {"stopped", "running", 0, 500, 0, "ok, running: start start"},
		"start, cut":      {"stopped", "running", 0, 0, 0, "ok, running: start start"},
		"start, all lost": {"stopped", "running", 0, 503, retries, "ok, running: start start start"},
		"stop, 502":       {"running", "stopped", 0, 502, 0, "ok, stopped: stop stop"},
		"stop, all lost":  {"running", "stopped", 0, 0, retries, "ok, stopped: stop stop stop"},
		"bid, all lost":   {"outbid/running", "running", 0, 500, retries, "ok, running: start start start"},
		"nothing done, the next one does": {
			"stopped", "running", 1 + retries, 200, 0, "ok, running: start start start start",
		},
	} {
		for suffix, lag := range lags {
			subtestInstance(t, name+suffix, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
				work := map[string]func(*service) int{"running": starts, "stopped": stops}[test.wanted]
				calls, works := 0, loses(work, test.status, test.lost)
				request := func(s *service) int {
					if calls++; calls <= test.undone {
						return http.StatusServiceUnavailable
					}
					return works(s)
				}
				s.Lag, s.On["start"], s.On["stop"] = lag, request, request
				target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
				checkConverge(t, s, m, target, test.want)
			})
		}
	}
}

// A started instance counts towards the burn limit before the account shows it.
func TestConverge_StartCounts(t *testing.T) {
	withInstance(t, rental.Interruptible, "stopped", func(t *testing.T, s *service, m *Manager) {
		m.limitBurn(2000)
		s.Lag = 25 * time.Second
		go checkConverge(t, s, m, running(OutbidRestart), "ok, running: start")
		time.Sleep(10 * time.Second)
		ctx := within(t, 10*time.Second)
		if err := m.spend(ctx, 2000-1010); err != nil {
			t.Error(err)
		}
		if err := m.spend(ctx, 2000-1009); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v before the account shows the instance", err)
		}
	})
}

// costs changes the price after a start, and the part of it that is the disk.
func costs(running, stopped int64) func(*service) int {
	return func(s *service) int {
		s.Inst.Price.RunningKopH, s.Inst.Price.StoppedKopH = running, stopped
		return starts(s)
	}
}

// A start above the cap or a limit of the account is stopped again, whichever response contains the price.
func TestConverge_PriceAboveCap(t *testing.T) {
	expensive := costs(5010, 10)
	later := rentaltest.Then(is("starting", "running"), 10*time.Second, func(inst *rental.Instance) {
		is("running", "running")(inst)
		inst.Price.RunningKopH = 5010
	})
	notWhileStarting := func(s *service) int {
		if s.Inst.Status != rental.StatusRunning {
			return http.StatusConflict
		}
		return stops(s)
	}
	const again, still = "StoppedAgain, stopping: start stop", "StillRunning, starting: start stop"
	for name, test := range map[string]struct {
		kind              rental.RentalType
		start, stop       func(*service) int
		maxPrice, maxBurn int64
		want              string
	}{
		"within the burn limit":       {"on_demand", expensive, stops, 0, 5010, "ok, running: start"},
		"above the burn limit":        {"on_demand", expensive, stops, 0, 5009, again},
		"on demand":                   {"on_demand", expensive, stops, 2000, 0, again},
		"at the cap":                  {"interruptible", expensive, stops, 5000, 0, "ok, running: start"},
		"the price moved to the disk": {"on_demand", costs(5010, 4910), stops, 2000, 0, again},
		"only when it runs":           {"on_demand", later, stops, 2000, 0, again},
		"the response was lost": {
			"on_demand", loses(expensive, 500, 0), stops, 2000, 0, "StoppedAgain, stopping: start start stop",
		},
		"no stop while it starts": {
			"on_demand", expensive, notWhileStarting, 2000, 0, "StoppedAgain, stopped: start stop stop",
		},
		"no stop at all": {
			"on_demand", expensive, replies(409), 2000, 0, "StillRunning, running: start stop stop stop",
		},
		"no permission to stop":          {"on_demand", expensive, replies(402), 2000, 0, still},
		"the offer is too expensive now": {"interruptible", expensive, stops, 999, 0, "AboveCap, stopped: "},
		"its price is above a lower cap": {"on_demand", starts, stops, 999, 0, "AboveCap, stopped: "},
	} {
		subtestInstance(t, name, test.kind, "stopped", func(t *testing.T, s *service, m *Manager) {
			m.limitBurn(test.maxBurn)
			s.On["start"], s.On["stop"] = test.start, test.stop
			target := running(OutbidRestart)
			target.MaxPriceKopH, target.OfferID = test.maxPrice, "off_1"
			reason := checkConverge(t, s, m, target, test.want)
			if burn := test.maxBurn > 0; reason != "" && (reason == "AboveBurnLimit") != burn {
				t.Errorf("the reason is %s", reason)
			}
		})
	}
}

// An interrupted run stops an instance above the cap, even if the response to the start has the old price, or no read
// has shown the new price yet.
func TestConverge_InterruptedStartAboveCap(t *testing.T) {
	for name, test := range map[string]struct {
		state       string
		later       bool          // than the response
		interrupted time.Duration // after the start
	}{
		"with the response":             {"stopped", false, 0},
		"the price rises afterwards":    {"stopped", true, 0},
		"later, and the new price lags": {"outbid/running", false, 2 * time.Second},
	} {
		subtestInstance(t, name, rental.OnDemand, test.state, func(t *testing.T, s *service, m *Manager) {
			ctx, interrupt := context.WithCancel(t.Context())
			s.Lag = test.interrupted * 3 / 4
			s.On["start"] = func(s *service) int {
				if time.AfterFunc(test.interrupted, interrupt); test.interrupted == 0 {
					interrupt()
				}
				rise := func(inst *rental.Instance) { inst.Price.RunningKopH = 5010 }
				if s.Later(0, rise); !test.later {
					rise(&s.Inst)
				}
				return starts(s)
			}
			target := running(OutbidRestart)
			target.MaxPriceKopH = 2000
			_, err := m.Converge(ctx, s.Inst, target)
			if errorName(err) != "StoppedAgain" || s.Inst.Status != "stopping" || s.Changes() != "start stop" {
				t.Errorf("it is %s: %v, sent %s", s.Inst.Status, err, s.Changes())
			}
		})
	}
}
