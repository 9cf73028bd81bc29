package instance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// An action reports every change of the status, and reports regularly while nothing changes.
func TestActions_ReportProgress(t *testing.T) {
	for name, test := range map[string]struct {
		newAction func() action.Action
		want      []string
	}{
		"stop": {
			NewStop,
			[]string{
				"is running", "is requested to stop", "is still running (10s)…", "is stopping (", "is still stopping (",
				"is stopped: only its disk",
			},
		},
		"restart": {
			NewRestart,
			[]string{
				"is requested to stop", "is stopped: only", "is requested to start", "is starting (1m", "is still starting (2m",
				"is running, without an SSH address so far (", "runs: ssh ",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				progress, times, errs := f.invoke(f.Context(), test.newAction(), inst.ID, 0)
				if errs != "" {
					f.Error(errs)
				}
				f.expectContains(strings.Join(progress, "\n"), test.want...)
				last := time.Duration(0)
				for i, at := range times {
					if at-last > 15*time.Second {
						f.Errorf("no progress message from %s to %s: %q", last, at, progress[max(i-1, 0):i+1])
					}
					last = at
				}
				f.onProgress = func(text string) { f.Errorf("message %q after the end", text) }
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestActions_DefaultTimeout(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		f.setStatus(inst.ID, "starting", "running", "")
		start := time.Now()
		_, _, errs := f.invoke(f.Context(), NewStart(), inst.ID, 0)
		if took := time.Since(start); took < defaultActionTimeout || took > defaultActionTimeout+tfinstance.LogTimeout {
			f.Errorf("it took %s", took)
		}
		f.expectContains(errs, "is not ready yet", "longer than 30m0s (timeout)", `status "starting"`, "The end of its log")
	})
}

// The message after a timeout contains what the action requested, and no contradiction.
func TestActions_Timeout(t *testing.T) {
	for name, test := range map[string]struct {
		slow    string // the request that does not end in time
		want    []string
		notWant string
	}{
		"before the server is read": {
			"GET", []string{"requested no start or stop", "did not return the instance"}, "may still be carried out",
		},
		"before the response to stop": {
			"POST", []string{"requested a start or stop", "may still be carried out", `status "running"`}, "no start or stop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				f.intercept = func(req *http.Request) (*http.Response, error) {
					if req.Method == test.slow {
						<-req.Context().Done()
					}
					return nil, req.Context().Err()
				}
				_, _, errs := f.invokeWith(f.Context(), NewStop(), map[string]any{"instance_id": inst.ID, "timeout": "20s"})
				f.expectContains(errs, append(test.want, "is not stopped yet", "longer than 20s (timeout)")...)
				if strings.Contains(errs, test.notWant) || strings.Contains(errs, "goes on with") {
					f.Errorf("the message contradicts itself: %s", errs)
				}
			})
		})
	}
}

// An interruption ends an action at once, and the next run continues where it ended.
func TestActions_Interrupted(t *testing.T) {
	for name, test := range map[string]struct {
		newAction     func() action.Action
		at            string // progress message at the interruption
		want, notWant string
	}{
		"start":               {NewStart, "is starting", `status "starting"`, "is now stopped"},
		"stop":                {NewStop, "is requested to stop", "was changing", "is now stopped"},
		"restart, going down": {NewRestart, "is stopping", `status "stopping"`, "is now stopped"},
		"restart, at bottom":  {NewRestart, "only its disk is billed", "is now stopped", "by hand"},
		"restart, going up":   {NewRestart, "is starting", "waits for a starting one", "is now stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				if name == "start" {
					f.invoke(f.Context(), NewStop(), inst.ID, 0)
				}
				f.ClearRequests()
				ctx, interrupt := context.WithCancel(f.Context())
				var at time.Time
				f.onProgress = func(text string) {
					if strings.Contains(text, test.at) && at.IsZero() {
						at = time.Now()
						interrupt()
					}
				}
				_, _, errs := f.invoke(ctx, test.newAction(), inst.ID, 0)
				if took := time.Since(at); at.IsZero() || took > tfinstance.LogTimeout {
					f.Errorf("it took %s", took)
				}
				f.expectContains(errs, "Interrupted while instance "+inst.ID, "Run the action again", test.want)
				if strings.Contains(errs, test.notWant) {
					f.Errorf("%q is in:\n%s", test.notWant, errs)
				}
				f.onProgress = nil
				if _, _, errs := f.invoke(f.Context(), test.newAction(), inst.ID, 0); errs != "" {
					f.Error(errs)
				}
				if starts, stops := f.countChanges(); starts > 1 || stops > 1 {
					f.Errorf("it was started %d times and stopped %d times", starts, stops)
				}
			})
		})
	}
}

func TestActions_StoppedWhileStarting(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		f.onProgress = func(text string) {
			if strings.Contains(text, "is starting") {
				f.setStatus(inst.ID, "stopped", "stopped", "low_balance")
			}
		}
		_, _, errs := f.invoke(f.Context(), NewRestart(), inst.ID, 0)
		f.expectContains(errs, inst.ID+" is now stopped", "returned to its previous state", "low balance")
	})
}

// Progress messages contain no control characters of the API's texts.
func TestActions_SanitizeStatus(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		f.intercept = func(req *http.Request) (*http.Response, error) {
			resp := f.serve(req)
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(
				bytes.NewReader(
					bytes.ReplaceAll(body, []byte(`"status":"running"`), []byte(`"status":"\u001b[31mrunning\nError: injected"`)),
				),
			)
			return resp, err
		}
		progress, _, errs := f.invoke(f.Context(), NewStart(), inst.ID, 0)
		f.expectContains(strings.Join(progress, ""), "is still running Error: injected (10s)")
		if errs == "" || strings.ContainsAny(strings.Join(progress, ""), "\x1b\n") || strings.ContainsRune(errs, '\x1b') ||
			strings.Contains(errs, "\nError") {
			f.Errorf("%q %s", progress, errs)
		}
	})
}

// A restart reads the instance and does not use the cached listing of the run.
func TestActions_IgnoreCachedListing(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		if _, err := f.meta.Cache.Instances.List(f.Context()); err != nil {
			f.Fatal(err)
		}
		f.setStatus(inst.ID, "stopped", "stopped", "user")
		progress, _, errs := f.invoke(f.Context(), NewStart(), inst.ID, 0)
		f.expectContains(fmt.Sprint(progress, errs), "is requested to start")
	})
}

// An argument that is unknown at plan is checked by Invoke, before the action changes anything.
func TestActions_ArgumentsUnknownAtPlan(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		f.setStatus(inst.ID, "failed", "running", "")
		f.ClearRequests()
		unknown := map[string]any{
			"instance_id":     tftypes.UnknownValue,
			"timeout":         tftypes.UnknownValue,
			"max_price_kop_h": tftypes.UnknownValue,
		}
		if diagnostics := f.plan(f.Context(), NewRestart(), unknown); diagnostics != "" || len(f.Requests()) > 0 {
			f.Errorf("the plan makes %d requests and reports: %s", len(f.Requests()), diagnostics)
		}
		for name, test := range map[string]struct {
			arguments map[string]any
			requests  int // except those for the log
			want      string
		}{
			"a failed server":            {map[string]any{"instance_id": inst.ID}, 1, "Cannot restart instance " + inst.ID},
			"no server":                  {map[string]any{"instance_id": "ins_none"}, 1, "no such instance"},
			"an empty id":                {map[string]any{"instance_id": ""}, 0, "at least 1"},
			"an id with path separators": {map[string]any{"instance_id": "../account"}, 1, "no such instance"},
			"an invalid timeout": {
				map[string]any{"instance_id": inst.ID, "timeout": "soon"}, 0, "must be a duration above zero",
			},
			"a price of zero":    {map[string]any{"instance_id": inst.ID, "max_price_kop_h": 0}, 0, "at least 1"},
			"a price below zero": {map[string]any{"instance_id": inst.ID, "max_price_kop_h": -1}, 0, "at least 1"},
		} {
			f.ClearRequests()
			if _, _, errs := f.invokeWith(f.Context(), NewRestart(), test.arguments); !strings.Contains(errs, test.want) {
				f.Errorf("%s: %q is not in: %s", name, test.want, errs)
			}
			n := 0
			for _, r := range f.Requests() {
				if !strings.HasSuffix(r.Path, "/logs") {
					n++
				}
			}
			if n != test.requests {
				f.Errorf("%s: %d requests, want %d: %v", name, n, test.requests, f.Requests())
			}
		}
	})
}

// An action waits for a transition in progress, and then requests only the missing steps.
func TestActions_InstanceInTransition(t *testing.T) {
	for name, test := range map[string]struct {
		newAction     func() action.Action
		stopping      bool // or creating
		starts, stops int
		want          []string
	}{
		"start, creating": {NewStart, false, 0, 0, []string{"is creating", "is starting", "runs: ssh "}},
		"restart, creating": {
			NewRestart, false, 0, 0, []string{"is already changing its state", "is starting", "runs: ssh "},
		},
		"stop, creating": {
			NewStop, false, 0, 1, []string{"is creating", "is starting", "is requested to stop", "is stopped"},
		},
		"start, stopping": {
			NewStart, true, 1, 0, []string{"is stopping", "is stopped", "is requested to start", "runs: ssh "},
		},
		"restart, stopping": {
			NewRestart, true, 1, 0, []string{"is stopping", "is stopped", "is requested to start", "runs: ssh "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f *fixture) {
				inst, _ := f.createInstance(rental.OnDemand)
				if test.stopping {
					time.Sleep(time.Hour)
					if _, err := f.meta.Client.StopInstance(f.Context(), inst.ID); err != nil {
						f.Fatal(err)
					}
				}
				f.ClearRequests()
				progress, _, errs := f.invoke(f.Context(), test.newAction(), inst.ID, 0)
				if starts, stops := f.countChanges(); starts != test.starts || stops != test.stops || errs != "" {
					f.Errorf("%d starts and %d stops, want %d and %d: %s", starts, stops, test.starts, test.stops, errs)
				}
				f.expectContains(strings.Join(progress, "\n"), test.want...)
			})
		})
	}
}

// The plan of an action fails for an instance that can never be started or stopped again.
func TestActions_PlanFailsForFinalStatus(t *testing.T) {
	withFixture(t, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		refuses := func(newAction func() action.Action, id string, want ...string) {
			f.Helper()
			time.Sleep(time.Minute) // longer than a listing is cached
			f.expectContains(f.plan(f.Context(), newAction(), map[string]any{"instance_id": id}), want...)
		}
		for verb, newAction := range map[string]func() action.Action{
			"start": NewStart, "stop": NewStop, "restart": NewRestart,
		} {
			f.setStatus(inst.ID, "failed", "running", "")
			refuses(
				newAction,
				inst.ID,
				"Cannot "+verb+" instance "+inst.ID,
				`status is "failed"`,
				"the next apply creates another",
			)
			refuses(newAction, "inst_none", "Cannot "+verb+" instance inst_none", "no such instance", "Check instance_id")
		}
		f.setStatus(inst.ID, "destroying", "destroyed", "")
		refuses(NewStart, inst.ID, `status is "destroying"`, "destroyed, or about to be")
		f.setStatus(inst.ID, "destroyed", "destroyed", "")
		refuses(NewRestart, inst.ID, `status is "destroyed"`, "destroyed, or about to be")
		if starts, stops := f.countChanges(); starts+stops > 0 {
			f.Errorf("%d starts and %d stops, want none", starts, stops)
		}
	})
}
