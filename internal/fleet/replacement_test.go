package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// A replacement does not wait for the price that it holds itself: with the limit exceeded by others after the
// destruction, it fails at once.
func TestApply_ReplacementDoesNotWaitForItself(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		rented := false
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodDelete && !rented {
				rented = true
				for range 3 {
					e.createOther("other")
				}
			}
			return send()
		})
		update := spec(1)
		update.Order.DiskGB = 21
		limits := spending.Limits{
			RequireFunds: spending.FundsOff, MaxBurnKopH: 2 * first.Members[0].Instance.Price.RunningKopH,
		}
		began := time.Now()
		result := e.engine(limits).Apply(t.Context(), update, first.Members, 30*time.Minute)
		took := time.Since(began)
		if !failure.Exceeds(result.Failures[0].Err, failure.MaxBurn) || took > 5*time.Minute ||
			result.Failures[0].Replaced != first.Members[0].Instance.ID {
			t.Errorf("after %s: %s", took, describe(result))
		}
	})
}

// While the balance lags behind the destruction of a member, its replacement waits, and is then rented.
func TestApply_ReplacementWaitsForTheBalance(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		before := first.Members[0].Instance.Price.RunningKopH
		var destroyed time.Time
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if req.Method == http.MethodDelete {
				destroyed = time.Now()
			}
			if strings.HasSuffix(req.URL.Path, "/balance") && time.Since(destroyed) < 28*time.Second {
				body, _ := io.ReadAll(resp.Body) //nolint:errcheck // the simulator is in this process
				old := fmt.Sprintf(`"burn_kop_h":%d`, before)
				body = bytes.Replace(body, []byte(`"burn_kop_h":0`), []byte(old), 1)
				resp.Body = io.NopCloser(bytes.NewReader(body))
			}
			return resp, err
		})
		update := spec(1)
		update.Order.DiskGB = 21
		limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: before + 200}
		began := time.Now()
		result := e.engine(limits).Apply(t.Context(), update, first.Members, 30*time.Minute)
		if took := time.Since(began); len(result.Failures) > 0 || took > 5*time.Minute {
			t.Errorf("after %s: %s", took, describe(result))
		}
	})
}

// The search for instances of a killed run ends with the timeout of the apply.
func TestApply_RecoveryEndsInTime(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.want(e.apply(spec(1), nil), 1)
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) {
				return apiError(http.StatusServiceUnavailable, "internal"), nil
			}
			return send()
		})
		began := time.Now()
		result := e.engine().Apply(t.Context(), spec(1), nil, 30*time.Minute)
		if took := time.Since(began); took > 45*time.Minute || len(result.Failures) != 1 {
			t.Errorf("after %s: %s", took, describe(result))
		}
	})
}

// The generation of a lost member is kept if the recovery of its instance fails: the next apply recovers it, however
// old it is.
func TestApply_KeepsGenerationAfterFailedRecovery(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		if _, err := e.client.DeleteInstance(t.Context(), first.Members[0].Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		lost := e.read(first.Members)
		healed := e.apply(spec(1), lost) // killed: its result is not stored
		e.want(healed, 1)
		time.Sleep(2 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		fails := true
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && fails {
				cancel()
				return apiError(http.StatusServiceUnavailable, "internal"), nil
			}
			return send()
		})
		result := e.engine().Apply(ctx, spec(1), lost, 30*time.Minute)
		if len(result.Lost) != 1 || result.Lost[0].Generation != 1 {
			t.Fatalf("%s, lost %+v", describe(result), result.Lost)
		}
		fails = false
		result = e.apply(spec(1), result.Lost)
		if len(result.Members) != 1 || result.Members[0].Instance.ID != healed.Members[0].Instance.ID {
			t.Error(describe(result))
		}
	})
}

// A member of a rolling group that is being destroyed when another one fails still gets its replacement.
func TestApply_RollingGroupReplacesWhatItDestroys(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(4), nil)
		e.want(first, 4)
		slow, began := first.Members[1].Instance.ID, time.Time{}
		replacement := ""
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodDelete && strings.HasSuffix(req.URL.Path, slow) {
				if began.IsZero() {
					began = time.Now()
				}
				if time.Since(began) < 2*time.Minute {
					return apiError(http.StatusConflict, "conflict"), nil
				}
			}
			resp, err := send()
			if isInstances(req) {
				edit(resp, func(inst map[string]any) {
					if isCreate(req) && replacement == "" {
						replacement, _ = inst["id"].(string)
					}
					switch {
					case inst["id"] != replacement || began.IsZero():
					case time.Since(began) < 20*time.Second:
						inst["status"] = "starting"
					default:
						inst["status"] = "failed"
					}
				})
			}
			return resp, err
		})
		update := spec(4)
		update.MaxUnavailable, update.Order.DiskGB = 2, 40
		result := e.apply(update, first.Members)
		if len(result.Members) != 4 || len(result.Lost) > 0 || result.Members[1].Order.DiskGB != 40 ||
			result.Members[2].Order.DiskGB == 40 {
			t.Errorf("%s, lost %+v", describe(result), result.Lost)
		}
	})
}

// Members that an apply did not begin to change are no members that were not ready in time.
func TestApply_InterruptedBeforeAChange(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		e.limit(0)
		e.setOffer(first.Members[0].Offer.ID, simulator.OfferPatch{Available: new(false)})
		update := spec(1)
		update.Order.DiskGB, update.WaitForOffer = 40, 2*time.Hour
		result := e.engine().Apply(t.Context(), update, first.Members, 30*time.Minute)
		failed := result.Failures[0]
		if failure.KindOf(failed.Err) != failure.Interrupted || failed.Member.NotReady || failed.Member.Lost() {
			t.Errorf("%+v: %v", failed.Member, failed.Err)
		}
	})
}
