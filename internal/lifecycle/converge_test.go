package lifecycle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// end is how a wait ends.
type end struct {
	err    string // see errorName
	status rental.InstanceStatus
	sent   string // start and stop requests, in order
}

// decided is how long a wait may last whose outcome is decided at once: far less than its timeout.
const decided = 4 * time.Minute

// checkConverge runs one wait and compares its end.
func checkConverge(t *testing.T, s *service, m *Manager, target Target, want end) (reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	began := time.Now()
	now, err := m.Converge(ctx, s.Inst, target)
	if took := time.Since(began); took > decided {
		t.Errorf("it took %s", took)
	}
	if got := (end{errorName(err), now.Status, s.Changes()}); got != want {
		t.Errorf("got %+v, want %+v (%v)", got, want, err)
	}
	return reasonOf(err)
}

var lags = map[string]time.Duration{"": 0, ", the status lags": 25 * time.Second}

func TestConverge_OutbidAfterStart(t *testing.T) {
	once := func(s *service) int {
		if s.Changes() == "start" {
			return outbidAfter(time.Second, 2*time.Second)(s)
		}
		return starts(s)
	}
	for name, test := range map[string]struct {
		from     string
		onOutbid OutbidPolicy
		start    func(*service) int
		want     end
	}{
		"keep, before a poll": {
			"stopped", OutbidKeep, outbidAfter(time.Second, 2*time.Second), end{"", "outbid", "start"},
		},
		"keep, after polls": {
			"stopped", OutbidKeep, outbidAfter(2*time.Second, 40*time.Second), end{"", "running", "start"},
		},
		"replace": {
			"stopped", OutbidReplace, outbidAfter(time.Second, 2*time.Second),
			end{"NeedsReplacement", "outbid", "start"},
		},
		"restart, once": {"stopped", OutbidRestart, once, end{"", "running", "start start"}},
		"restart, always": {
			"stopped", OutbidRestart, outbidAfter(time.Second, 2*time.Second),
			end{"OutbidAgain", "outbid", "start start start"},
		},
		"restart, always, seen": {
			"outbid/running", OutbidRestart, outbidStarting, end{"OutbidAgain", "outbid", "start start start"},
		},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				withInstance(t, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
					s.Lag, s.On["start"] = lag, test.start
					checkConverge(t, s, m, running(test.onOutbid), test.want)
				})
			})
		}
	}
}

// outbidStarting is a start whose server is outbid while it starts, long after any lag.
func outbidStarting(s *service) int {
	is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
	s.Later(40*time.Second, is(rental.StatusOutbid, rental.DesiredRunning))
	return http.StatusOK
}

// A wait ends soon after its outcome is decided.
func TestConverge_DecidedOutcomes(t *testing.T) {
	byService := func(reason string, desired rental.DesiredState) func(*service) int {
		return func(s *service) int {
			is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
			s.Later(12*time.Second, func(inst *rental.Instance) {
				is(rental.StatusStopped, desired)(inst)
				inst.StopReason = &reason
			})
			return http.StatusOK
		}
	}
	at := func(status rental.InstanceStatus, desired rental.DesiredState) func(*service) int {
		return func(s *service) int {
			is(status, desired)(&s.Inst)
			return http.StatusOK
		}
	}
	gone := func(s *service) int {
		s.On["GET"] = replies(http.StatusNotFound)
		return http.StatusOK
	}
	for name, test := range map[string]struct {
		from, wanted string
		request      func(*service) int
		want         end
	}{
		"out of money": {
			"stopped", "running", byService("low_balance", "stopped"), end{"Reverted", "stopped", "start"},
		},
		"stopped by an admin": {
			"stopped", "running", byService("admin", "stopped"), end{"Reverted", "stopped", "start"},
		},
		"the host went offline": {"stopped", "running", byService("provider", ""), end{"Reverted", "stopped", "start"}},
		"failed after a start": {
			"stopped", "running", at("failed", "running"), end{"NeedsReplacement", "failed", "start"},
		},
		"destroyed after a start": {
			"stopped", "running", at("destroying", "destroyed"), end{"Missing", "destroying", "start"},
		},
		"not found after a start": {"stopped", "running", gone, end{"Missing", "stopped", "start"}},
		"a start that does nothing": {
			"stopped", "running", replies(http.StatusOK), end{"Reverted", "stopped", "start"},
		},
		"a stop that does nothing": {"running", "stopped", replies(http.StatusOK), end{"Reverted", "running", "stop"}},
		"outbid, and a stop that is refused": {
			"outbid/running", "stopped", replies(http.StatusConflict), end{"", "outbid", "stop"},
		},
		"outbid before a stop took effect": {
			"running", "stopped", func(s *service) int {
				if s.Changes() == "stop" {
					return at("outbid", "running")(s)
				}
				return stops(s)
			}, end{"", "stopped", "stop stop"},
		},
		"outbid after a stop": {"running", "stopped", at("outbid", "stopped"), end{"", "outbid", "stop"}},
		"outbid, and no stop takes effect": {
			"running", "stopped", at("outbid", "running"), end{"Reverted", "outbid", "stop stop"},
		},
		"failed after a stop": {
			"running", "stopped", at("failed", "stopped"), end{"NeedsReplacement", "failed", "stop"},
		},
		"a start that is refused": {
			"stopped", "running", replies(http.StatusConflict), end{"StateRefused", "stopped", "start"},
		},
		"a bid that is refused": {
			"outbid/running", "running", replies(http.StatusConflict), end{"StateRefused", "outbid", "start"},
		},
		"a stop that is refused": {
			"running", "stopped", replies(http.StatusConflict), end{"StateRefused", "running", "stop"},
		},
		"a start without money": {
			"stopped", "running", replies(http.StatusPaymentRequired), end{"Error", "stopped", "start"},
		},
		"a start of an instance that does not exist": {
			"stopped", "running", replies(http.StatusNotFound), end{"Missing", "stopped", "start"},
		},
		"a refused start of one that was to run": {
			"stopped/running", "running", replies(http.StatusConflict), end{"StateRefused", "stopped", "start"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withInstance(t, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
				s.On["start"], s.On["stop"] = test.request, test.request
				target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
				checkConverge(t, s, m, target, test.want)
			})
		})
	}
}

// What was done before its response was lost is a success in the end, and is not done twice.
func TestConverge_LostResponses(t *testing.T) {
	const retries = 2 // of the client
	for name, test := range map[string]struct {
		from, wanted string
		undone       int // requests that do nothing, before one that works
		work         func(*service) int
		status, lost int // the response to that one, and how many repetitions get the same
		want         end
	}{
		"start, 500":      {"stopped", "running", 0, starts, 500, 0, end{"", "running", "start start"}},
		"start, cut":      {"stopped", "running", 0, starts, 0, 0, end{"", "running", "start start"}},
		"start, all lost": {"stopped", "running", 0, starts, 503, retries, end{"", "running", "start start start"}},
		"stop, 502":       {"running", "stopped", 0, stops, 502, 0, end{"", "stopped", "stop stop"}},
		"stop, all lost":  {"running", "stopped", 0, stops, 0, retries, end{"", "stopped", "stop stop stop"}},
		"bid, all lost":   {"outbid/running", "running", 0, starts, 500, retries, end{"", "running", "start start start"}},
		"nothing done, the next one does": {
			"stopped", "running", 1 + retries, starts, 200, 0, end{"", "running", "start start start start"},
		},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				withInstance(t, rental.Interruptible, test.from, func(t *testing.T, s *service, m *Manager) {
					calls, works := 0, loses(test.work, test.status, test.lost)
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
			})
		}
	}
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

// A started instance counts towards the burn limit before the account shows it.
func TestConverge_StartCounts(t *testing.T) {
	withInstance(t, rental.Interruptible, "stopped", func(t *testing.T, s *service, m *Manager) {
		m.limitBurn(2000)
		s.Lag = 25 * time.Second
		go checkConverge(t, s, m, running(OutbidRestart), end{"", "running", "start"})
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := m.spend(ctx, 2000-1010); err != nil {
			t.Error(err)
		}
		if err := m.spend(ctx, 2000-1009); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v before the account shows the instance", err)
		}
	})
}

// A start above the cap or a limit of the account is stopped again, whichever response contains the price.
func TestConverge_PriceAboveCap(t *testing.T) {
	expensive := func(s *service) int {
		status := starts(s)
		s.Inst.Price.RunningKopH = 5010
		return status
	}
	later := func(s *service) int {
		is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
		s.Later(10*time.Second, func(inst *rental.Instance) {
			is(rental.StatusRunning, rental.DesiredRunning)(inst)
			inst.Price.RunningKopH = 5010
		})
		return http.StatusOK
	}
	disk := func(s *service) int {
		status := starts(s)
		s.Inst.Price.RunningKopH, s.Inst.Price.StoppedKopH = 5010, 4910
		return status
	}
	notWhileStarting := func(s *service) int {
		if s.Inst.Status != rental.StatusRunning {
			return http.StatusConflict
		}
		return stops(s)
	}
	again := func(sent string) end { return end{"StoppedAgain", "stopping", sent} }
	for name, test := range map[string]struct {
		kind        rental.RentalType
		start, stop func(*service) int
		maxPrice    int64
		want        end
		maxBurn     int64
	}{
		"within the burn limit":       {"on_demand", expensive, stops, 0, end{"", "running", "start"}, 5010},
		"above the burn limit":        {"on_demand", expensive, stops, 0, again("start stop"), 5009},
		"on demand":                   {"on_demand", expensive, stops, 2000, again("start stop"), 0},
		"at the cap":                  {"interruptible", expensive, stops, 5000, end{"", "running", "start"}, 0},
		"the price moved to the disk": {"on_demand", disk, stops, 2000, again("start stop"), 0},
		"only when it runs":           {"on_demand", later, stops, 2000, again("start stop"), 0},
		"the response was lost":       {"on_demand", loses(expensive, 500, 0), stops, 2000, again("start start stop"), 0},
		"no stop while it starts": {
			"on_demand", expensive, notWhileStarting, 2000, end{"StoppedAgain", "stopped", "start stop stop"}, 0,
		},
		"no stop at all": {
			"on_demand", expensive, replies(http.StatusConflict), 2000,
			end{"StillRunning", "running", "start stop stop stop"}, 0,
		},
		"no permission to stop": {
			"on_demand", expensive, replies(http.StatusPaymentRequired), 2000,
			end{"StillRunning", "starting", "start stop"}, 0,
		},
		"the offer is too expensive now": {"interruptible", expensive, stops, 999, end{"AboveCap", "stopped", ""}, 0},
		"its price is above a lower cap": {"on_demand", starts, stops, 999, end{"AboveCap", "stopped", ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			withInstance(t, test.kind, "stopped", func(t *testing.T, s *service, m *Manager) {
				m.limitBurn(test.maxBurn)
				s.On["start"], s.On["stop"] = test.start, test.stop
				target := running(OutbidRestart)
				target.MaxPriceKopH, target.OfferID = test.maxPrice, "off_1"
				reason := checkConverge(t, s, m, target, test.want)
				if burn := test.maxBurn > 0; reason != "" && (reason == "AboveBurnLimit") != burn {
					t.Errorf("the reason is %s", reason)
				}
			})
		})
	}
}

// An interrupted run stops an instance above the cap, even if the response to the start has the old price.
func TestConverge_InterruptedStartAboveCap(t *testing.T) {
	for _, later := range []bool{false, true} { // than the response
		withInstance(t, rental.OnDemand, "stopped", func(t *testing.T, s *service, m *Manager) {
			ctx, interrupt := context.WithCancel(t.Context())
			s.On["start"] = func(s *service) int {
				interrupt()
				rise := func(inst *rental.Instance) { inst.Price.RunningKopH = 5010 }
				if s.Later(0, rise); !later {
					rise(&s.Inst)
				}
				return starts(s)
			}
			target := running(OutbidRestart)
			target.MaxPriceKopH = 2000
			now, err := m.Converge(ctx, s.Inst, target)
			want := end{"StoppedAgain", "stopping", "start stop"}
			if got := (end{errorName(err), now.Status, s.Changes()}); got != want {
				t.Errorf("got %+v, want %+v (%v)", got, want, err)
			}
		})
	}
}

// As before, but the interruption comes later, before a read shows the new price.
func TestConverge_InterruptedAfterStart(t *testing.T) {
	withInstance(t, rental.Interruptible, "outbid/running", func(t *testing.T, s *service, m *Manager) {
		s.Lag = 1500 * time.Millisecond
		ctx, interrupt := context.WithCancel(t.Context())
		s.On["start"] = func(s *service) int {
			is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
			s.Inst.Price.RunningKopH = 9000
			time.AfterFunc(2*time.Second, interrupt)
			return http.StatusOK
		}
		target := running(OutbidRestart)
		target.MaxPriceKopH = 2000
		_, err := m.Converge(ctx, s.Inst, target)
		time.Sleep(time.Minute)
		if s.Inst.Status == rental.StatusRunning || reasonOf(err) != "AboveCap" {
			t.Errorf("it is %s: %v, %s", s.Inst.Status, err, s.Changes())
		}
	})
}
