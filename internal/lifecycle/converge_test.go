package lifecycle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// end is how a wait ends.
type end struct {
	err    string // class of the error, see classOf
	status rental.InstanceStatus
	sent   string // start and stop requests, in order
}

func classOf(err error) string {
	if err == nil {
		return ""
	}
	if kind := KindOf(err); kind != 0 {
		return kind.String()
	}
	if _, ok := errors.AsType[*rental.Error](err); ok {
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
	return New(client, templates, 5*time.Second)
}

// checkConverge runs one wait and compares its end.
func checkConverge(t *testing.T, s *rentaltest.Service, client *rental.Client, target Target, want end) {
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
	once := func(s *rentaltest.Service) int {
		if len(s.Sent) == 1 {
			return rentaltest.OutbidAfter(time.Second, 2*time.Second)(s)
		}
		return rentaltest.Starts(s)
	}
	for name, test := range map[string]struct {
		from     rental.InstanceStatus
		onOutbid OutbidPolicy
		start    func(*rentaltest.Service) int
		want     end
	}{
		"keep, before a poll": {
			"stopped", OutbidKeep, rentaltest.OutbidAfter(time.Second, 2*time.Second), end{"", "outbid", "start"},
		},
		"keep, after polls": {
			"stopped", OutbidKeep, rentaltest.OutbidAfter(2*time.Second, 40*time.Second), end{"", "running", "start"},
		},
		"replace": {
			"stopped", OutbidReplace, rentaltest.OutbidAfter(time.Second, 2*time.Second),
			end{"needs a replacement", "outbid", "start"},
		},
		"restart, once":              {"stopped", OutbidRestart, once, end{"", "running", "start start"}},
		"restart, once, from outbid": {"outbid", OutbidRestart, once, end{"", "running", "start start"}},
		"restart, always": {
			"stopped", OutbidRestart, rentaltest.OutbidAfter(time.Second, 2*time.Second),
			end{"outbid again", "outbid", "start start start"},
		},
		"restart, always, from outbid": {
			"outbid", OutbidRestart, rentaltest.OutbidAfter(time.Second, 2*time.Second),
			end{"outbid again", "outbid", "start start start"},
		},
		"restart, always, seen": {
			"outbid", OutbidRestart, outbidStarting, end{"outbid again", "outbid", "start start start"},
		},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				made := func() *rentaltest.Service {
					s := rentaltest.New(rental.Interruptible, test.from, rental.DesiredRunning)
					if test.from == rental.StatusStopped {
						s.Inst.DesiredState = rental.DesiredStopped
					}
					s.Lag, s.On["start"] = lag, test.start
					return s
				}
				rentaltest.Run(t, made, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
					checkConverge(t, s, client, running(test.onOutbid), test.want)
				})
			})
		}
	}
}

// outbidStarting is a start whose server is outbid while it rentaltest.Starts, long after any lag.
func outbidStarting(s *rentaltest.Service) int {
	rentaltest.Is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
	s.Later(40*time.Second, rentaltest.Is(rental.StatusOutbid, rental.DesiredRunning))
	return http.StatusOK
}

// A wait ends soon after its outcome is decided.
func TestConverge_DecidedOutcomes(t *testing.T) {
	byService := func(reason string, desired rental.DesiredState) func(*rentaltest.Service) int {
		return func(s *rentaltest.Service) int {
			rentaltest.Is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
			s.Later(12*time.Second, func(inst *rental.Instance) {
				rentaltest.Is(rental.StatusStopped, desired)(inst)
				inst.StopReason = &reason
			})
			return http.StatusOK
		}
	}
	at := func(status rental.InstanceStatus, desired rental.DesiredState) func(*rentaltest.Service) int {
		return func(s *rentaltest.Service) int {
			rentaltest.Is(status, desired)(&s.Inst)
			return http.StatusOK
		}
	}
	gone := func(s *rentaltest.Service) int {
		s.On["GET"] = rentaltest.Replies(http.StatusNotFound)
		return http.StatusOK
	}
	for name, test := range map[string]struct {
		from, wanted string
		request      func(*rentaltest.Service) int
		want         end
	}{
		"out of money": {
			"stopped", "running", byService("low_balance", "stopped"), end{"reverted", "stopped", "start"},
		},
		"stopped by an admin": {
			"stopped", "running", byService("admin", "stopped"), end{"reverted", "stopped", "start"},
		},
		"the host went offline": {
			"stopped", "running", byService("provider", ""), end{"reverted", "stopped", "start"},
		},
		"failed after a start": {
			"stopped", "running", at("failed", "running"), end{"needs a replacement", "failed", "start"},
		},
		"destroyed after a start": {
			"stopped", "running", at("destroying", "destroyed"), end{"destroyed elsewhere", "destroying", "start"},
		},
		"not found after a start": {
			"stopped", "running", gone, end{"destroyed elsewhere", "stopped", "start"},
		},
		"a start that does nothing": {
			"stopped", "running", rentaltest.Replies(http.StatusOK), end{"reverted", "stopped", "start"},
		},
		"a stop that does nothing": {
			"running", "stopped", rentaltest.Replies(http.StatusOK), end{"reverted", "running", "stop"},
		},
		"outbid, and a stop that is refused": {
			"outbid", "stopped", rentaltest.Replies(http.StatusConflict), end{"", "outbid", "stop"},
		},
		"outbid after a stop": {
			"running", "stopped", at("outbid", "running"), end{"", "outbid", "stop"},
		},
		"failed after a stop": {
			"running", "stopped", at("failed", "stopped"), end{"needs a replacement", "failed", "stop"},
		},
		"a start that is refused": {
			"stopped", "running", rentaltest.Replies(http.StatusConflict), end{"refused", "stopped", "start"},
		},
		"a bid that is refused": {
			"outbid", "running", rentaltest.Replies(http.StatusConflict), end{"refused", "outbid", "start"},
		},
		"a stop that is refused": {
			"running", "stopped", rentaltest.Replies(http.StatusConflict), end{"refused", "running", "stop"},
		},
		"a start without money": {
			"stopped", "running", rentaltest.Replies(http.StatusPaymentRequired), end{"API", "stopped", "start"},
		},
		"a start of an instance that does not exist": {
			"stopped", "running", rentaltest.Replies(http.StatusNotFound), end{"destroyed elsewhere", "stopped", "start"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *rentaltest.Service {
				s := rentaltest.New(rental.Interruptible, rental.InstanceStatus(test.from), rental.DesiredState(test.from))
				if test.from == "outbid" {
					s.Inst.DesiredState = rental.DesiredRunning
				}
				s.On["start"], s.On["stop"] = test.request, test.request
				return s
			}
			rentaltest.Run(t, made, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
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
		request      func() func(*rentaltest.Service) int
		want         end
	}{
		"start, 500": {
			"stopped", "running", func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Starts, 500, 0) },
			end{"", "running", "start start"},
		},
		"start, cut": {
			"stopped", "running", func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Starts, 0, 0) },
			end{"", "running", "start start"},
		},
		"start, all lost": {
			"stopped", "running",
			func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Starts, 503, retries) },
			end{"", "running", "start start start"},
		},
		"stop, 502": {
			"running", "stopped", func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Stops, 502, 0) },
			end{"", "stopped", "stop stop"},
		},
		"stop, all lost": {
			"running", "stopped", func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Stops, 0, retries) },
			end{"", "stopped", "stop stop stop"},
		},
		"bid, all lost": {
			"outbid", "running",
			func() func(*rentaltest.Service) int { return rentaltest.Loses(rentaltest.Starts, 500, retries) },
			end{"", "running", "start start start"},
		},
		"nothing done, the second does": {
			"stopped", "running", func() func(*rentaltest.Service) int { return fails(1+retries, rentaltest.Starts) },
			end{"", "running", "start start start start"},
		},
	} {
		for suffix, lag := range lags {
			t.Run(name+suffix, func(t *testing.T) {
				made := func() *rentaltest.Service {
					s := rentaltest.New(rental.Interruptible, rental.InstanceStatus(test.from), rental.DesiredState(test.from))
					if test.from == "outbid" {
						s.Inst.DesiredState = rental.DesiredRunning
					}
					request := test.request()
					s.Lag, s.On["start"], s.On["stop"] = lag, request, request
					return s
				}
				rentaltest.Run(t, made, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
					target := Target{State: rental.DesiredState(test.wanted), OnOutbid: OutbidRestart}
					checkConverge(t, s, client, target, test.want)
				})
			})
		}
	}
}

// fails does nothing n times, and then the work.
func fails(n int, work func(*rentaltest.Service) int) func(*rentaltest.Service) int {
	calls := 0
	return func(s *rentaltest.Service) int {
		if calls++; calls <= n {
			return http.StatusServiceUnavailable
		}
		return work(s)
	}
}

// A start above the cap is stopped again, whichever response contains the price.
func TestConverge_PriceAboveCap(t *testing.T) {
	expensive := func(s *rentaltest.Service) int {
		status := rentaltest.Starts(s)
		s.Inst.Price.RunningKopH = 5010
		return status
	}
	later := func(s *rentaltest.Service) int {
		rentaltest.Is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
		s.Later(10*time.Second, func(inst *rental.Instance) {
			rentaltest.Is(rental.StatusRunning, rental.DesiredRunning)(inst)
			inst.Price.RunningKopH = 5010
		})
		return http.StatusOK
	}
	disk := func(s *rentaltest.Service) int {
		status := rentaltest.Starts(s)
		s.Inst.Price.RunningKopH, s.Inst.Price.StoppedKopH = 5010, 4910
		return status
	}
	notWhileStarting := func(s *rentaltest.Service) int {
		if s.Inst.Status != rental.StatusRunning {
			return http.StatusConflict
		}
		return rentaltest.Stops(s)
	}
	for name, test := range map[string]struct {
		kind        rental.RentalType
		start, stop func(*rentaltest.Service) int
		maxPrice    int64
		want        end
	}{
		"on demand": {
			"on_demand", expensive, rentaltest.Stops, 2000, end{"stopped above the price cap", "stopping", "start stop"},
		},
		"interruptible": {
			"interruptible", expensive, rentaltest.Stops, 2000, end{"stopped above the price cap", "stopping", "start stop"},
		},
		"at the cap": {"interruptible", expensive, rentaltest.Stops, 5000, end{"", "running", "start"}},
		"no cap":     {"on_demand", expensive, rentaltest.Stops, 0, end{"", "running", "start"}},
		"the price moved to the disk": {
			"on_demand", disk, rentaltest.Stops, 2000, end{"stopped above the price cap", "stopping", "start stop"},
		},
		"only when it runs": {
			"on_demand", later, rentaltest.Stops, 2000, end{"stopped above the price cap", "stopping", "start stop"},
		},
		"the response was lost": {
			"on_demand", rentaltest.Loses(expensive, 500, 0), rentaltest.Stops, 2000,
			end{"stopped above the price cap", "stopping", "start start stop"},
		},
		"no stop while it starts": {
			"on_demand", expensive, notWhileStarting, 2000, end{"stopped above the price cap", "stopped", "start stop stop"},
		},
		"no stop at all": {
			"on_demand", expensive, rentaltest.Replies(http.StatusConflict), 2000,
			end{"runs above the price cap", "running", "start stop stop stop"},
		},
		"no permission to stop": {
			"on_demand", expensive, rentaltest.Replies(http.StatusPaymentRequired), 2000,
			end{"runs above the price cap", "starting", "start stop"},
		},
		"the offer is too expensive now": {
			"interruptible", expensive, rentaltest.Stops, 999, end{"not started above the price cap", "stopped", ""},
		},
		"its price is above a lower cap": {
			"on_demand", rentaltest.Starts, rentaltest.Stops, 999, end{"not started above the price cap", "stopped", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *rentaltest.Service {
				s := rentaltest.New(test.kind, rental.StatusStopped, rental.DesiredStopped)
				s.On["start"], s.On["stop"] = test.start, test.stop
				return s
			}
			rentaltest.Run(t, made, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
				target := running(OutbidRestart)
				target.MaxPriceKopH, target.OfferID = test.maxPrice, "off_1"
				checkConverge(t, s, client, target, test.want)
			})
		})
	}
}

// A start whose price was not known before is stopped if it exceeds a limit of the account.
func TestConverge_BurnLimitAfterStart(t *testing.T) {
	expensive := func(s *rentaltest.Service) int {
		status := rentaltest.Starts(s)
		s.Inst.Price.RunningKopH = 5010
		return status
	}
	for name, test := range map[string]struct {
		limit int64
		want  end
	}{
		"within": {5010, end{"", "running", "start"}},
		"above":  {5009, end{"stopped above the price cap", "stopping", "start stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			newService := func() *rentaltest.Service {
				s := rentaltest.New(rental.Interruptible, rental.StatusOutbid, rental.DesiredRunning)
				s.On["start"], s.On["stop"] = expensive, rentaltest.Stops
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, s *rentaltest.Service, client *rental.Client) {
				ledger := spending.NewLedger(test.limit)
				target := running(OutbidRestart)
				target.Hold = func(_ context.Context, kopH int64) (spending.Hold, error) {
					return ledger.Hold(rentaltest.ID, kopH)
				}
				checkConverge(t, s, client, target, test.want)
			})
		})
	}
}
