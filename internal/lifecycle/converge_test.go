package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

type service = rentaltest.Service

var (
	is, replies, loses = rentaltest.Is, rentaltest.Replies, rentaltest.Loses
	starts, stops      = rentaltest.Starts, rentaltest.Stops
	outbidAfter        = rentaltest.OutbidAfter
)

// end is how a wait ends.
type end struct {
	err    string // class of the error, see classOf
	status rental.InstanceStatus
	sent   string // start and stop requests, in order
}

func classOf(err error) string {
	e := failure.As(err)
	switch _, api := errors.AsType[*rental.Error](err); {
	case err == nil:
		return ""
	case e.Kind == failure.AboveLimit:
		return [...]string{"not started", "destroyed", "stopped", "not removed"}[e.Removal]
	case e.Kind != "":
		return map[failure.Kind]string{
			failure.NeedsReplacement: "needs a replacement", failure.OutbidAgain: "outbid again", failure.Gone: "gone",
			failure.Reverted: "reverted", failure.StateRefused: "refused", failure.Interrupted: "interrupted",
		}[e.Kind]
	case api:
		return "API"
	}
	return err.Error()
}

// decided is how long a wait may last whose outcome is decided at once: far less than its timeout.
const decided = 4 * time.Minute

func newManager(client *rental.Client) *Manager {
	templates := func(context.Context, string) (rental.Template, bool, error) {
		return rental.Template{Slug: "pytorch", LaunchMode: rental.LaunchSSH}, true, nil
	}
	return New(Config{
		Client: client, Template: templates, PollInterval: 5 * time.Second, Owners: new(Owners),
		Account: spending.NewAccount(spending.Limits{}, client),
	})
}

// checkConverge runs one wait and compares its end.
func checkConverge(t *testing.T, s *service, client *rental.Client, target Target, want end) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	began := time.Now()
	inst, _, err := newManager(client).Converge(ctx, s.Inst, target)
	if took := time.Since(began); took > decided {
		t.Errorf("it took %s", took)
	}
	if got := (end{classOf(err), inst.Status, s.Requests()}); got != want {
		t.Errorf("got %+v, want %+v (%v)", got, want, err)
	}
}

func running(onOutbid OutbidPolicy) Target {
	return Target{State: rental.DesiredRunning, OnOutbid: onOutbid}
}

var lags = map[string]time.Duration{"": 0, ", the status lags": 25 * time.Second}

func TestConverge_OutbidAfterStart(t *testing.T) {
	once := func(s *service) int {
		if len(s.Sent) == 1 {
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
			end{"needs a replacement", "outbid", "start"},
		},
		"restart, once": {"stopped", OutbidRestart, once, end{"", "running", "start start"}},
		"restart, always": {
			"stopped", OutbidRestart, outbidAfter(time.Second, 2*time.Second),
			end{"outbid again", "outbid", "start start start"},
		},
		"restart, always, seen": {
			"outbid/running", OutbidRestart, outbidStarting, end{"outbid again", "outbid", "start start start"},
		},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				made := func() *service {
					s := newInstance(test.from)
					s.Lag, s.On["start"] = lag, test.start
					return s
				}
				rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
					checkConverge(t, s, client, running(test.onOutbid), test.want)
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
			"stopped", "running", byService("low_balance", "stopped"), end{"reverted", "stopped", "start"},
		},
		"stopped by an admin": {
			"stopped", "running", byService("admin", "stopped"), end{"reverted", "stopped", "start"},
		},
		"the host went offline": {"stopped", "running", byService("provider", ""), end{"reverted", "stopped", "start"}},
		"failed after a start": {
			"stopped", "running", at("failed", "running"), end{"needs a replacement", "failed", "start"},
		},
		"destroyed after a start": {
			"stopped", "running", at("destroying", "destroyed"), end{"gone", "destroying", "start"},
		},
		"not found after a start": {"stopped", "running", gone, end{"gone", "stopped", "start"}},
		"a start that does nothing": {
			"stopped", "running", replies(http.StatusOK), end{"reverted", "stopped", "start"},
		},
		"a stop that does nothing": {"running", "stopped", replies(http.StatusOK), end{"reverted", "running", "stop"}},
		"outbid, and a stop that is refused": {
			"outbid/running", "stopped", replies(http.StatusConflict), end{"", "outbid", "stop"},
		},
		"outbid before a stop took effect": {
			"running", "stopped", func(s *service) int {
				if len(s.Sent) == 1 {
					return at("outbid", "running")(s)
				}
				return stops(s)
			}, end{"", "stopped", "stop stop"},
		},
		"outbid after a stop": {"running", "stopped", at("outbid", "stopped"), end{"", "outbid", "stop"}},
		"outbid, and no stop takes effect": {
			"running", "stopped", at("outbid", "running"), end{"reverted", "outbid", "stop stop"},
		},
		"failed after a stop": {
			"running", "stopped", at("failed", "stopped"), end{"needs a replacement", "failed", "stop"},
		},
		"a start that is refused": {
			"stopped", "running", replies(http.StatusConflict), end{"refused", "stopped", "start"},
		},
		"a bid that is refused": {
			"outbid/running", "running", replies(http.StatusConflict), end{"refused", "outbid", "start"},
		},
		"a stop that is refused": {
			"running", "stopped", replies(http.StatusConflict), end{"refused", "running", "stop"},
		},
		"a start without money": {
			"stopped", "running", replies(http.StatusPaymentRequired), end{"API", "stopped", "start"},
		},
		"a start of an instance that does not exist": {
			"stopped", "running", replies(http.StatusNotFound), end{"gone", "stopped", "start"},
		},
		"a refused start of one that was to run": {
			"stopped/running", "running", replies(http.StatusConflict), end{"refused", "stopped", "start"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *service {
				s := newInstance(test.from)
				s.On["start"], s.On["stop"] = test.request, test.request
				return s
			}
			rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
				target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
				checkConverge(t, s, client, target, test.want)
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
				made := func() *service {
					s, calls, works := newInstance(test.from), 0, loses(test.work, test.status, test.lost)
					request := func(s *service) int {
						if calls++; calls <= test.undone {
							return http.StatusServiceUnavailable
						}
						return works(s)
					}
					s.Lag, s.On["start"], s.On["stop"] = lag, request, request
					return s
				}
				rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
					target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
					checkConverge(t, s, client, target, test.want)
				})
			})
		}
	}
}

// newInstance returns a service with an interruptible instance: "stopped", or "outbid/running" with its desired state.
func newInstance(state string) *service {
	status, desired, _ := strings.Cut(state, "/")
	return rentaltest.New(
		rental.Interruptible, rental.InstanceStatus(status), rental.DesiredState(cmp.Or(desired, status)),
	)
}

// A started instance counts towards the limits until the account shows it.
func TestConverge_StartCounts(t *testing.T) {
	made := func() *service {
		s := newInstance("stopped")
		s.On["start"] = starts
		return s
	}
	rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
		target, ledger := running(OutbidRestart), spending.NewLedger(2000)
		target.Hold = holdIn(ledger)
		checkConverge(t, s, client, target, end{"", "running", "start"})
		_, excess := ledger.Hold("", 2001)
		if counted := failure.As(excess).NowKopH; counted != s.Inst.Price.RunningKopH {
			t.Errorf("%d kopecks per hour count", counted)
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
	for name, test := range map[string]struct {
		kind        rental.RentalType
		start, stop func(*service) int
		maxPrice    int64
		want        end
		maxBurn     int64
	}{
		"within the burn limit":       {"on_demand", expensive, stops, 0, end{"", "running", "start"}, 5010},
		"above the burn limit":        {"on_demand", expensive, stops, 0, end{"stopped", "stopping", "start stop"}, 5009},
		"on demand":                   {"on_demand", expensive, stops, 2000, end{"stopped", "stopping", "start stop"}, 0},
		"at the cap":                  {"interruptible", expensive, stops, 5000, end{"", "running", "start"}, 0},
		"the price moved to the disk": {"on_demand", disk, stops, 2000, end{"stopped", "stopping", "start stop"}, 0},
		"only when it runs":           {"on_demand", later, stops, 2000, end{"stopped", "stopping", "start stop"}, 0},
		"the response was lost": {
			"on_demand", loses(expensive, 500, 0), stops, 2000,
			end{"stopped", "stopping", "start start stop"}, 0,
		},
		"no stop while it starts": {
			"on_demand", expensive, notWhileStarting, 2000, end{"stopped", "stopped", "start stop stop"}, 0,
		},
		"no stop at all": {
			"on_demand", expensive, replies(http.StatusConflict), 2000,
			end{"not removed", "running", "start stop stop stop"}, 0,
		},
		"no permission to stop": {
			"on_demand", expensive, replies(http.StatusPaymentRequired), 2000,
			end{"not removed", "starting", "start stop"}, 0,
		},
		"the offer is too expensive now": {"interruptible", expensive, stops, 999, end{"not started", "stopped", ""}, 0},
		"its price is above a lower cap": {"on_demand", starts, stops, 999, end{"not started", "stopped", ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *service {
				s := rentaltest.New(test.kind, rental.StatusStopped, rental.DesiredStopped)
				s.On["start"], s.On["stop"] = test.start, test.stop
				return s
			}
			rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
				target := running(OutbidRestart)
				target.MaxPriceKopH, target.OfferID = test.maxPrice, "off_1"
				target.Hold = holdIn(spending.NewLedger(test.maxBurn))
				checkConverge(t, s, client, target, test.want)
			})
		})
	}
}

// An interrupted run stops an instance above the cap even if the response to the start has the old price.
func TestConverge_InterruptedStartAboveCap(t *testing.T) {
	made := func() *service { return rentaltest.New(rental.OnDemand, rental.StatusStopped, rental.DesiredStopped) }
	rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
		ctx, interrupt := context.WithCancel(t.Context())
		s.On["start"] = func(s *service) int {
			interrupt()
			s.Later(0, func(inst *rental.Instance) { inst.Price.RunningKopH = 5010 })
			return starts(s)
		}
		s.On["stop"] = stops
		target := running(OutbidRestart)
		target.MaxPriceKopH = 2000
		inst, _, err := newManager(client).Converge(ctx, s.Inst, target)
		want := end{"stopped", "stopping", "start stop"}
		if got := (end{classOf(err), inst.Status, s.Requests()}); got != want {
			t.Errorf("got %+v, want %+v (%v)", got, want, err)
		}
	})
}

// As before, but the interruption comes later, before a read shows the new price.
func TestConverge_InterruptedAfterStart(t *testing.T) {
	made := func() *service {
		s := rentaltest.New(rental.Interruptible, rental.StatusOutbid, rental.DesiredRunning)
		s.Lag = 1500 * time.Millisecond
		s.On["stop"] = stops
		return s
	}
	rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) {
		ctx, interrupt := context.WithCancel(t.Context())
		s.On["start"] = func(s *service) int {
			is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
			s.Inst.Price.RunningKopH = 9000
			time.AfterFunc(2*time.Second, interrupt)
			return http.StatusOK
		}
		target := running(OutbidRestart)
		target.MaxPriceKopH = 2000
		_, _, err := newManager(client).Converge(ctx, s.Inst, target)
		time.Sleep(time.Minute)
		if s.Inst.Status == rental.StatusRunning || failure.KindOf(err) != failure.AboveLimit {
			t.Errorf("it is %s: %v, %s", s.Inst.Status, err, s.Requests())
		}
	})
}
