package instance

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// outcome is how a wait ends.
type outcome struct {
	err    string // class of the error: "", "outbid again", "replace", "turned back", "gone", "refused", "lost", "cap", "cap, runs"
	status rental.InstanceStatus
	sent   string // start and stop requests, in order
}

func classOf(err error) string {
	var again *outbidAgainError
	var refused *refusal
	var price *priceError
	var api *rental.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &price) && price.stuck != nil:
		return "cap, runs"
	case errors.As(err, &price):
		return "cap"
	case errors.As(err, &again):
		return "outbid again"
	case errors.Is(err, errNeedsReplacement):
		return "replace"
	case errors.Is(err, errTurnedBack):
		return "turned back"
	case errors.Is(err, errGone):
		return "gone"
	case errors.As(err, &refused):
		return "refused"
	case errors.As(err, &api):
		return "lost"
	}
	return err.Error()
}

// decided is how long a wait may last whose outcome is decided at once: far less than its time-out.
const decided = 4 * time.Minute

// converges runs one wait and compares its end.
func converges(t *testing.T, s *scripted, meta *tfkit.Meta, with func(*settler), want outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	w := newSettler(meta, rental.DesiredRunning, outbidRestart, 0)
	with(w)
	began := time.Now()
	inst, err := w.settle(ctx, s.inst)
	if took := time.Since(began); took > decided {
		t.Errorf("it took %s", took)
	}
	if got := (outcome{classOf(err), inst.Status, s.requests()}); got != want {
		t.Errorf("got %+v, want %+v (%v)", got, want, err)
	}
}

var lags = map[string]time.Duration{"": 0, ", the status lags": 25 * time.Second}

func TestConverge_OutbidAfterStart(t *testing.T) {
	once := func(s *scripted) int {
		if len(s.sent) == 1 {
			return outbidAfter(time.Second, 2*time.Second)(s)
		}
		return starts(s)
	}
	for name, test := range map[string]struct {
		from     rental.InstanceStatus
		onOutbid string
		start    func(*scripted) int
		want     outcome
	}{
		"keep, before a poll":          {"stopped", outbidKeep, outbidAfter(time.Second, 2*time.Second), outcome{"", "outbid", "start"}},
		"keep, after polls":            {"stopped", outbidKeep, outbidAfter(2*time.Second, 40*time.Second), outcome{"", "running", "start"}},
		"replace":                      {"stopped", outbidReplace, outbidAfter(time.Second, 2*time.Second), outcome{"replace", "outbid", "start"}},
		"restart, once":                {"stopped", outbidRestart, once, outcome{"", "running", "start start"}},
		"restart, once, from outbid":   {"outbid", outbidRestart, once, outcome{"", "running", "start start"}},
		"restart, always":              {"stopped", outbidRestart, outbidAfter(time.Second, 2*time.Second), outcome{"outbid again", "outbid", "start start start"}},
		"restart, always, from outbid": {"outbid", outbidRestart, outbidAfter(time.Second, 2*time.Second), outcome{"outbid again", "outbid", "start start start"}},
		"restart, always, seen":        {"outbid", outbidRestart, outbidStarting, outcome{"outbid again", "outbid", "start start start"}},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				made := func() *scripted {
					s := newScripted(rental.Interruptible, test.from, rental.DesiredRunning)
					if test.from == rental.StatusStopped {
						s.inst.DesiredState = rental.DesiredStopped
					}
					s.lag, s.on["start"] = lag, test.start
					return s
				}
				inScript(t, made, func(t *testing.T, s *scripted, meta *tfkit.Meta) {
					converges(t, s, meta, func(w *settler) { w.onOutbid = test.onOutbid }, test.want)
				})
			})
		}
	}
}

// outbidStarting is a start whose server is outbid while it starts, long after any lag.
func outbidStarting(s *scripted) int {
	is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
	s.then(40*time.Second, is(rental.StatusOutbid, rental.DesiredRunning))
	return http.StatusOK
}

// A wait ends soon after its outcome is decided.
func TestConverge_DecidedOutcomes(t *testing.T) {
	byService := func(reason string, desired rental.DesiredState) func(*scripted) int {
		return func(s *scripted) int {
			is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
			s.then(12*time.Second, func(inst *rental.Instance) {
				is(rental.StatusStopped, desired)(inst)
				inst.StopReason = &reason
			})
			return http.StatusOK
		}
	}
	at := func(status rental.InstanceStatus, desired rental.DesiredState) func(*scripted) int {
		return func(s *scripted) int {
			is(status, desired)(&s.inst)
			return http.StatusOK
		}
	}
	gone := func(s *scripted) int {
		s.on["GET"] = replies(http.StatusNotFound)
		return http.StatusOK
	}
	for name, test := range map[string]struct {
		from, wanted string
		request      func(*scripted) int
		want         outcome
	}{
		"out of money":                       {"stopped", "running", byService("low_balance", "stopped"), outcome{"turned back", "stopped", "start"}},
		"stopped by the staff":               {"stopped", "running", byService("admin", "stopped"), outcome{"turned back", "stopped", "start"}},
		"the host went away":                 {"stopped", "running", byService("provider", ""), outcome{"turned back", "stopped", "start"}},
		"failed after a start":               {"stopped", "running", at("failed", "running"), outcome{"replace", "failed", "start"}},
		"destroyed after a start":            {"stopped", "running", at("destroying", "destroyed"), outcome{"gone", "destroying", "start"}},
		"not found after a start":            {"stopped", "running", gone, outcome{"gone", "stopped", "start"}},
		"a start that does nothing":          {"stopped", "running", replies(http.StatusOK), outcome{"turned back", "stopped", "start"}},
		"a stop that does nothing":           {"running", "stopped", replies(http.StatusOK), outcome{"turned back", "running", "stop"}},
		"outbid, and a stop that is refused": {"outbid", "stopped", replies(http.StatusConflict), outcome{"", "outbid", "stop"}},
		"outbid after a stop":                {"running", "stopped", at("outbid", "running"), outcome{"", "outbid", "stop"}},
		"failed after a stop":                {"running", "stopped", at("failed", "stopped"), outcome{"replace", "failed", "stop"}},
		"a start that is refused":            {"stopped", "running", replies(http.StatusConflict), outcome{"refused", "stopped", "start"}},
		"a bid that is refused":              {"outbid", "running", replies(http.StatusConflict), outcome{"refused", "outbid", "start"}},
		"a stop that is refused":             {"running", "stopped", replies(http.StatusConflict), outcome{"refused", "running", "stop"}},
		"a start without money":              {"stopped", "running", replies(http.StatusPaymentRequired), outcome{"lost", "stopped", "start"}},
		"a start of a server that is not":    {"stopped", "running", replies(http.StatusNotFound), outcome{"gone", "stopped", "start"}},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(rental.Interruptible, rental.InstanceStatus(test.from), rental.DesiredState(test.from))
				if test.from == "outbid" {
					s.inst.DesiredState = rental.DesiredRunning
				}
				s.on["start"], s.on["stop"] = test.request, test.request
				return s
			}
			inScript(t, made, func(t *testing.T, s *scripted, meta *tfkit.Meta) {
				converges(t, s, meta, func(w *settler) { w.wanted = rental.DesiredState(test.wanted) }, test.want)
			})
		})
	}
}

// What was done before its answer was lost is a success in the end, and is not done twice.
func TestConverge_LostAnswers(t *testing.T) {
	const retries = 2 // of the client
	for name, test := range map[string]struct {
		from, wanted string
		request      func() func(*scripted) int
		want         outcome
	}{
		"start, 500":                    {"stopped", "running", func() func(*scripted) int { return loses(starts, 500, 0) }, outcome{"", "running", "start start"}},
		"start, cut":                    {"stopped", "running", func() func(*scripted) int { return loses(starts, 0, 0) }, outcome{"", "running", "start start"}},
		"start, all lost":               {"stopped", "running", func() func(*scripted) int { return loses(starts, 503, retries) }, outcome{"", "running", "start start start"}},
		"stop, 502":                     {"running", "stopped", func() func(*scripted) int { return loses(stops, 502, 0) }, outcome{"", "stopped", "stop stop"}},
		"stop, all lost":                {"running", "stopped", func() func(*scripted) int { return loses(stops, 0, retries) }, outcome{"", "stopped", "stop stop stop"}},
		"bid, all lost":                 {"outbid", "running", func() func(*scripted) int { return loses(starts, 500, retries) }, outcome{"", "running", "start start start"}},
		"nothing done, the second does": {"stopped", "running", func() func(*scripted) int { return fails(1+retries, starts) }, outcome{"", "running", "start start start start"}},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				made := func() *scripted {
					s := newScripted(rental.Interruptible, rental.InstanceStatus(test.from), rental.DesiredState(test.from))
					if test.from == "outbid" {
						s.inst.DesiredState = rental.DesiredRunning
					}
					request := test.request()
					s.lag, s.on["start"], s.on["stop"] = lag, request, request
					return s
				}
				inScript(t, made, func(t *testing.T, s *scripted, meta *tfkit.Meta) {
					converges(t, s, meta, func(w *settler) { w.wanted = rental.DesiredState(test.wanted) }, test.want)
				})
			})
		}
	}
}

// fails does nothing n times, and then the work.
func fails(n int, work func(*scripted) int) func(*scripted) int {
	calls := 0
	return func(s *scripted) int {
		if calls++; calls <= n {
			return http.StatusServiceUnavailable
		}
		return work(s)
	}
}

// A start above the cap is stopped again, whichever answer tells the price.
func TestConverge_PriceAboveCap(t *testing.T) {
	expensive := func(s *scripted) int {
		status := starts(s)
		s.inst.Price.RunningKopH = 5010
		return status
	}
	later := func(s *scripted) int {
		is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
		s.then(10*time.Second, func(inst *rental.Instance) {
			is(rental.StatusRunning, rental.DesiredRunning)(inst)
			inst.Price.RunningKopH = 5010
		})
		return http.StatusOK
	}
	disk := func(s *scripted) int {
		status := starts(s)
		s.inst.Price.RunningKopH, s.inst.Price.StoppedKopH = 5010, 4910
		return status
	}
	notWhileStarting := func(s *scripted) int {
		if s.inst.Status != rental.StatusRunning {
			return http.StatusConflict
		}
		return stops(s)
	}
	for name, test := range map[string]struct {
		kind        rental.RentalType
		start, stop func(*scripted) int
		maxPrice    int64
		want        outcome
	}{
		"on demand":                      {"on_demand", expensive, stops, 2000, outcome{"cap", "stopping", "start stop"}},
		"interruptible":                  {"interruptible", expensive, stops, 2000, outcome{"cap", "stopping", "start stop"}},
		"at the cap":                     {"interruptible", expensive, stops, 5000, outcome{"", "running", "start"}},
		"no cap":                         {"on_demand", expensive, stops, 0, outcome{"", "running", "start"}},
		"the price moved to the disk":    {"on_demand", disk, stops, 2000, outcome{"cap", "stopping", "start stop"}},
		"only when it runs":              {"on_demand", later, stops, 2000, outcome{"cap", "stopping", "start stop"}},
		"the answer was lost":            {"on_demand", loses(expensive, 500, 0), stops, 2000, outcome{"cap", "stopping", "start start stop"}},
		"no stop while it starts":        {"on_demand", expensive, notWhileStarting, 2000, outcome{"cap", "stopped", "start stop stop"}},
		"no stop at all":                 {"on_demand", expensive, replies(http.StatusConflict), 2000, outcome{"cap, runs", "running", "start stop stop stop"}},
		"no permission to stop":          {"on_demand", expensive, replies(http.StatusPaymentRequired), 2000, outcome{"cap, runs", "starting", "start stop"}},
		"the offer is too expensive now": {"interruptible", expensive, stops, 999, outcome{"cap", "stopped", ""}},
		"its price is above a lower cap": {"on_demand", starts, stops, 999, outcome{"cap", "stopped", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(test.kind, rental.StatusStopped, rental.DesiredStopped)
				s.on["start"], s.on["stop"] = test.start, test.stop
				return s
			}
			inScript(t, made, func(t *testing.T, s *scripted, meta *tfkit.Meta) {
				converges(t, s, meta, func(w *settler) { w.maxPrice, w.offerID = test.maxPrice, "off_1" }, test.want)
			})
		})
	}
}
