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
)

// Nobody who watches is left without a word for long, and every change is told.
func TestInstanceActions_tellHowItGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		made func() action.Action
		want []string
	}{
		"stop":    {newStop, []string{"is running", "is requested to stop", "is still running (10s)…", "is stopping (", "is still stopping (", "is stopped: only its disk"}},
		"restart": {newRestart, []string{"is requested to stop", "is stopped: only", "is requested to start", "is starting (1m", "is still starting (2m", "is running, without an SSH address so far (", "runs: ssh "}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				inst, _ := b.running(rental.OnDemand)
				said, when, failed := b.invoke(b.Context(), test.made(), inst.ID, 0)
				if failed != "" {
					b.Error(failed)
				}
				b.contains(strings.Join(said, "\n"), test.want...)
				last := time.Duration(0)
				for i, at := range when {
					if at-last > 15*time.Second {
						b.Errorf("nothing is said from %s to %s: %q", last, at, said[max(i-1, 0):i+1])
					}
					last = at
				}
				b.onProgress = func(text string) { b.Errorf("%q is said after the end", text) }
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestInstanceActions_endAfterHalfAnHour(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		b.force(inst.ID, "starting", "running", "")
		began := time.Now()
		_, _, failed := b.invoke(b.Context(), newStart(), inst.ID, 0)
		if took := time.Since(began); took < defaultActionTimeout || took > defaultActionTimeout+logTimeout {
			b.Errorf("it took %s", took)
		}
		b.contains(failed, "is not ready yet", "longer than 30m0s (timeout)", `status "starting"`, "The end of its log")
	})
}

// The message of a timeout says what the action requested, and nothing that contradicts it.
func TestInstanceActions_timeout(t *testing.T) {
	for name, test := range map[string]struct {
		slow    string // the request that does not end in time
		want    []string
		notWant string
	}{
		"before the server is read": {"GET", []string{"requested no start or stop", "did not return the instance"}, "may still be carried out"},
		"before the answer to stop": {"POST", []string{"requested a start or stop", "may still be carried out", `status "running"`}, "no start or stop"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				inst, _ := b.running(rental.OnDemand)
				b.intercept = func(req *http.Request) (*http.Response, error) {
					if req.Method == test.slow {
						<-req.Context().Done()
					}
					return nil, req.Context().Err()
				}
				_, _, failed := b.invokeWith(b.Context(), newStop(), map[string]any{"instance_id": inst.ID, "timeout": "20s"})
				b.contains(failed, append(test.want, "is not stopped yet", "longer than 20s (timeout)")...)
				if strings.Contains(failed, test.notWant) || strings.Contains(failed, "goes on with") {
					b.Errorf("the message contradicts itself: %s", failed)
				}
			})
		})
	}
}

// An interruption ends an action at once, and the next one takes up where it ended.
func TestInstanceActions_interrupted(t *testing.T) {
	for name, test := range map[string]struct {
		made          func() action.Action
		at            string // what is said when it is interrupted
		want, notWant string
	}{
		"start":               {newStart, "is starting", `status "starting"`, "is now stopped"},
		"stop":                {newStop, "is requested to stop", "was stopped", "is now stopped"},
		"restart, going down": {newRestart, "is stopping", `status "stopping"`, "is now stopped"},
		"restart, at bottom":  {newRestart, "only its disk is billed", "is now stopped", "by hand"},
		"restart, going up":   {newRestart, "is starting", "waits for a starting one", "is now stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				inst, _ := b.running(rental.OnDemand)
				if name == "start" {
					b.invoke(b.Context(), newStop(), inst.ID, 0)
				}
				b.ClearRequests()
				ctx, interrupt := context.WithCancel(b.Context())
				var at time.Time
				b.onProgress = func(text string) {
					if strings.Contains(text, test.at) && at.IsZero() {
						at = time.Now()
						interrupt()
					}
				}
				_, _, failed := b.invoke(ctx, test.made(), inst.ID, 0)
				if took := time.Since(at); at.IsZero() || took > logTimeout {
					b.Errorf("it took %s", took)
				}
				b.contains(failed, "Interrupted before instance "+inst.ID, "Run the action again", test.want)
				if strings.Contains(failed, test.notWant) {
					b.Errorf("%q is in:\n%s", test.notWant, failed)
				}
				b.onProgress = nil
				if _, _, failed := b.invoke(b.Context(), test.made(), inst.ID, 0); failed != "" {
					b.Error(failed)
				}
				if starts, stops := b.changes(); starts > 1 || stops > 1 {
					b.Errorf("it was started %d times and stopped %d times", starts, stops)
				}
			})
		})
	}
}

func TestInstanceActions_turnedBack(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		b.onProgress = func(text string) {
			if strings.Contains(text, "is starting") {
				b.force(inst.ID, "stopped", "stopped", "low_balance")
			}
		}
		_, _, failed := b.invoke(b.Context(), newRestart(), inst.ID, 0)
		b.contains(failed, inst.ID+" is now stopped", "returned to its previous state", "low balance")
	})
}

// What a text of the service could do to a terminal, it does not.
func TestInstanceActions_sayNothingThatATerminalObeys(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		b.intercept = func(req *http.Request) (*http.Response, error) {
			resp := b.serve(req)
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(`"status":"running"`), []byte(`"status":"\u001b[31mrunning\nError: injected"`))))
			return resp, err
		}
		said, _, failed := b.invoke(b.Context(), newStart(), inst.ID, 0)
		b.contains(strings.Join(said, ""), "is still running Error: injected (10s)")
		if failed == "" || strings.ContainsAny(strings.Join(said, ""), "\x1b\n") || strings.ContainsRune(failed, '\x1b') || strings.Contains(failed, "\nError") {
			b.Errorf("%q %s", said, failed)
		}
	})
}

// What a restart must know it asks afresh: what the run has listed may be old by then.
func TestInstanceActions_lookAfresh(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		if _, err := b.meta.Cache.Instances.List(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.force(inst.ID, "stopped", "stopped", "user")
		said, _, failed := b.invoke(b.Context(), newStart(), inst.ID, 0)
		b.contains(fmt.Sprint(said, failed), "is requested to start")
	})
}

// An argument that is unknown at plan is checked by Invoke, before the action changes anything.
func TestInstanceActions_unknownAtPlan(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		b.force(inst.ID, "failed", "running", "")
		b.ClearRequests()
		unknown := map[string]any{"instance_id": tftypes.UnknownValue, "timeout": tftypes.UnknownValue, "max_price_kop_h": tftypes.UnknownValue}
		if diagnostics := b.plan(b.Context(), newRestart(), unknown); diagnostics != "" || len(b.Requests()) > 0 {
			b.Errorf("the plan makes %d requests and reports: %s", len(b.Requests()), diagnostics)
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
			"an invalid timeout":         {map[string]any{"instance_id": inst.ID, "timeout": "soon"}, 0, "Not a duration"},
			"a price of zero":            {map[string]any{"instance_id": inst.ID, "max_price_kop_h": 0}, 0, "at least 1"},
			"a price below zero":         {map[string]any{"instance_id": inst.ID, "max_price_kop_h": -1}, 0, "at least 1"},
		} {
			b.ClearRequests()
			if _, _, failed := b.invokeWith(b.Context(), newRestart(), test.arguments); !strings.Contains(failed, test.want) {
				b.Errorf("%s: %q is not in: %s", name, test.want, failed)
			}
			n := 0
			for _, r := range b.Requests() {
				if !strings.HasSuffix(r.Path, "/logs") {
					n++
				}
			}
			if n != test.requests {
				b.Errorf("%s: %d requests, want %d: %v", name, n, test.requests, b.Requests())
			}
		}
	})
}

// An action waits for a transition that is under way, and then requests only what is missing.
func TestInstanceActions_waitForTransitions(t *testing.T) {
	for name, test := range map[string]struct {
		made          func() action.Action
		stopping      bool // or creating
		starts, stops int
		want          []string
	}{
		"start, creating":   {newStart, false, 0, 0, []string{"is creating", "is starting", "runs: ssh "}},
		"restart, creating": {newRestart, false, 0, 0, []string{"is already changing its state", "is starting", "runs: ssh "}},
		"stop, creating":    {newStop, false, 0, 1, []string{"is creating", "is starting", "is requested to stop", "is stopped"}},
		"start, stopping":   {newStart, true, 1, 0, []string{"is stopping", "is stopped", "is requested to start", "runs: ssh "}},
		"restart, stopping": {newRestart, true, 1, 0, []string{"is stopping", "is stopped", "is requested to start", "runs: ssh "}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				inst, _ := b.creating(rental.OnDemand)
				if test.stopping {
					time.Sleep(time.Hour)
					if _, err := b.meta.Client.StopInstance(b.Context(), inst.ID); err != nil {
						b.Fatal(err)
					}
				}
				b.ClearRequests()
				said, _, failed := b.invoke(b.Context(), test.made(), inst.ID, 0)
				if starts, stops := b.changes(); starts != test.starts || stops != test.stops || failed != "" {
					b.Errorf("%d starts and %d stops, want %d and %d: %s", starts, stops, test.starts, test.stops, failed)
				}
				b.contains(strings.Join(said, "\n"), test.want...)
			})
		})
	}
}

// The plan of an action refuses a server that cannot be started or stopped any more.
func TestInstanceActions_planRefusesEndedServers(t *testing.T) {
	inBubble(t, func(b *bubble) {
		inst, _ := b.running(rental.OnDemand)
		refuses := func(made func() action.Action, id string, want ...string) {
			b.Helper()
			time.Sleep(time.Minute) // longer than a listing is cached
			b.contains(b.plan(b.Context(), made(), map[string]any{"instance_id": id}), want...)
		}
		for verb, made := range map[string]func() action.Action{"start": newStart, "stop": newStop, "restart": newRestart} {
			b.force(inst.ID, "failed", "running", "")
			refuses(made, inst.ID, "Cannot "+verb+" instance "+inst.ID, `status is "failed"`, "the next apply creates another")
			refuses(made, "inst_none", "Cannot "+verb+" instance inst_none", "no such instance", "Check instance_id")
		}
		b.force(inst.ID, "destroying", "destroyed", "")
		refuses(newStart, inst.ID, `status is "destroying"`, "destroyed, or about to be")
		b.force(inst.ID, "destroyed", "destroyed", "")
		refuses(newRestart, inst.ID, `status is "destroyed"`, "destroyed, or about to be")
		if starts, stops := b.changes(); starts+stops > 0 {
			b.Errorf("%d starts and %d stops, want none", starts, stops)
		}
	})
}
