package instance_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/service/instance"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fixture is a simulator behind a proxy whose instances boot in three minutes of the fake clock of a synctest bubble,
// and a provider that polls every five seconds.
type fixture struct {
	*testing.T
	*simulator.Simulator
	acctest.Proxy
	meta       *tfkit.Meta
	onProgress func(text string) // is called with each progress message of an action
}

func withFixture(t *testing.T, limits spending.Limits, scenario func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service, err := simulator.New(
			simulator.Config{Seed: 1, Boot: 3 * time.Minute, Market: simulator.MarketStill, APIKey: rentaltest.Key})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{T: t, Simulator: service, meta: &tfkit.Meta{PollInterval: 5 * time.Second}}
		f.meta.SetClient(rentaltest.Client(t, f), limits)
		scenario(f)
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// RoundTrip serves a request.
func (f *fixture) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	resp, err := rentaltest.Serve(f.Wrap(f.Handler()), req)
	if err == nil {
		err = req.Context().Err()
	}
	return resp, err
}

// createRunning creates an instance, waits until it runs, and returns it with its offer.
func (f *fixture) createRunning(kind rental.RentalType) (rental.Instance, rental.Offer) {
	f.Helper()
	query := rental.OfferQuery{GPU: []string{"rtx_4090"}, Type: kind}
	for offer, err := range f.meta.Client.ListOffers(f.Context(), query) {
		if err != nil {
			f.Fatal(err)
		}
		inst, _, err := f.meta.Client.CreateInstance(f.Context(), "key",
			rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Type: kind})
		if err != nil {
			f.Fatal(err)
		}
		time.Sleep(time.Hour)
		f.ClearRequests()
		return inst, offer
	}
	f.Fatal("there is no offer")
	return rental.Instance{}, rental.Offer{}
}

// changes returns the start and stop requests since the last call, as one text.
func (f *fixture) changes() string {
	var verbs []string
	for _, r := range f.Requests() {
		if verb := r.Path[strings.LastIndex(r.Path, "/")+1:]; verb == "start" || verb == "stop" {
			verbs = append(verbs, verb)
		}
	}
	f.ClearRequests()
	return strings.Join(verbs, " ")
}

func (f *fixture) setStatus(id, status, desired, reason string) {
	f.Helper()
	must(f.T, f.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: &desired, StopReason: &reason}))
}

// newAction is a constructor of an action.
type newAction = func() action.Action

// configured returns an action with its configuration. An argument that is not given is null.
func (f *fixture) configured(
	ctx context.Context, of newAction, arguments map[string]any,
) (action.Action, tfsdk.Config) {
	f.Helper()
	a := of()
	configure := action.ConfigureRequest{ProviderData: f.meta}
	a.(action.ActionWithConfigure).Configure(ctx, configure, &action.ConfigureResponse{})
	var schema action.SchemaResponse
	a.Schema(ctx, action.SchemaRequest{}, &schema)
	values := map[string]tftypes.Value{}
	for name, attribute := range schema.Schema.GetAttributes() {
		values[name] = tftypes.NewValue(attribute.GetType().TerraformType(ctx), arguments[name])
	}
	raw := tftypes.NewValue(schema.Schema.Type().TerraformType(ctx), values)
	return a, tfsdk.Config{Schema: schema.Schema, Raw: raw}
}

// invoke runs an action, and returns its progress messages as lines, and its errors.
func (f *fixture) invoke(
	ctx context.Context, of newAction, id string, arguments map[string]any,
) (progress, errs string) {
	f.Helper()
	all := map[string]any{"instance_id": id}
	for name, value := range arguments {
		all[name] = value
	}
	resp := action.InvokeResponse{SendProgress: func(event action.InvokeProgressEvent) {
		progress += event.Message + "\n"
		if ctx.Err() != nil {
			f.Errorf("message %q after the interruption, at which Terraform 1.15 crashes", event.Message)
		}
		if f.onProgress != nil {
			f.onProgress(event.Message)
		}
	}}
	a, config := f.configured(ctx, of, all)
	a.Invoke(ctx, action.InvokeRequest{Config: config}, &resp)
	for _, d := range resp.Diagnostics.Errors() {
		errs += d.Summary() + ": " + d.Detail() + "\n"
	}
	return progress, errs
}

// plan plans an action, and returns its diagnostics as one text.
func (f *fixture) plan(of newAction, arguments map[string]any) (diagnostics string) {
	f.Helper()
	var resp action.ModifyPlanResponse
	a, config := f.configured(f.Context(), of, arguments)
	a.(action.ActionWithModifyPlan).ModifyPlan(f.Context(), action.ModifyPlanRequest{Config: config}, &resp)
	for _, d := range resp.Diagnostics {
		diagnostics += d.Severity().String() + ": " + d.Summary() + ": " + d.Detail() + "\n"
	}
	return diagnostics
}

func (f *fixture) expectContains(text string, all ...string) {
	f.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			f.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// Actions request the missing steps and report each change of the status. They continue what is in progress, place new
// bids, and end as soon as the result is decided.
func TestActions(t *testing.T) {
	const halted = "is now stopped"
	// becomes sets a status when a stop is requested.
	becomes := func(status, desired string) func(*fixture, string) {
		return func(f *fixture, id string) {
			f.Set(isStop.Once().Do(acctest.After(func(*http.Request) { f.setStatus(id, status, desired, "") })))
		}
	}
	status := func(status, desired string) func(*fixture, string) {
		return func(f *fixture, id string) { f.setStatus(id, status, desired, "user") }
	}
	refused := func(matches acctest.Match, with acctest.Interceptor) func(*fixture, string) {
		return func(f *fixture, _ string) { f.Set(matches.Do(with)) }
	}
	lowBalance := func(f *fixture, _ string) { // enough for an hour, and not for two
		must(f.T, f.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(10_000)), CreditLimitKop: new(int64(0))}))
	}
	alwaysOutbid := func(f *fixture, id string) {
		f.setStatus(id, "outbid", "running", "")
		f.Set(isStart.Do(acctest.After(func(*http.Request) { f.setStatus(id, "outbid", "running", "") })))
	}
	burn := spending.Limits{MaxBurnKopH: 1}
	for name, test := range map[string]struct {
		of       newAction
		prepare  func(f *fixture, id string)
		limits   spending.Limits
		sent     string
		statuses string   // of the progress messages; not checked if empty
		errs     []string // none for success
	}{
		"stop": {of: instance.NewStop, sent: "stop", statuses: "running stopping stopped"},
		"restart": {
			of: instance.NewRestart, sent: "stop start", statuses: "running stopping stopped starting running",
		},
		"start of a running one": {of: instance.NewStart, statuses: "running"},
		"stop of a stopped one": {
			of: instance.NewStop, prepare: status("stopped", "stopped"), statuses: "stopped",
		},
		"restart of a stopped one": {
			of: instance.NewRestart, prepare: status("stopped", "stopped"), sent: "start",
			statuses: "stopped starting running",
		},
		"restart of a starting one": {
			of: instance.NewRestart, prepare: func(f *fixture, id string) {
				f.setStatus(id, "stopped", "stopped", "")
				f.invoke(f.Context(), instance.NewStart, id, map[string]any{"timeout": "30s"})
				f.changes()
			},
			statuses: "starting running",
		},
		"restart of a stopping one": {
			of: instance.NewRestart, prepare: func(f *fixture, id string) {
				f.invoke(f.Context(), instance.NewStop, id, map[string]any{"timeout": "10s"})
				f.changes()
			},
			sent: "start", statuses: "running stopping stopped starting running",
		},
		"restart of an outbid one": {
			of: instance.NewRestart, prepare: status("outbid", "running"), sent: "start",
			statuses: "outbid starting running",
		},
		// The API refuses the first of the two starts, because the instance is still stopping.
		"restart, outbid meanwhile": {
			of: instance.NewRestart, prepare: becomes("outbid", "running"), sent: "stop stop start start",
		},
		"restart, fails meanwhile": {
			of: instance.NewRestart, prepare: becomes("failed", "running"), sent: "stop",
			errs: []string{"cannot be used", `"failed"`},
		},
		"start, outbid each time": {
			of: instance.NewStart, prepare: alwaysOutbid, sent: "start start start", errs: []string{"was outbid again"},
		},
		"restart, start refused": {
			of: instance.NewRestart, prepare: refused(isStart, acctest.Refuse(409, "conflict")), sent: "stop",
			errs: []string{halted, "Run this action or gpurent_instance_start again", "Cannot start"},
		},
		"stop refused": {
			of: instance.NewStop, prepare: refused(isStop, acctest.Refuse(403, "forbidden")),
			errs: []string{"lacks the scope instances:write"},
		},
		"restart, low balance": {
			of: instance.NewRestart, prepare: lowBalance, sent: "stop start",
			errs: []string{halted, "Cannot change the state of instance", "Missing: "},
		},
		"restart above the burn limit": {
			of: instance.NewRestart, limits: burn, sent: "stop",
			errs: []string{halted, "Burn rate would exceed max_burn_kop_h"},
		},
		"start above the burn limit": {
			of: instance.NewStart, prepare: status("stopped", "stopped"), limits: burn,
			errs: []string{"Burn rate would exceed max_burn_kop_h"},
		},
		"default timeout": {
			of: instance.NewStart, prepare: status("starting", "running"),
			errs: []string{"is not ready yet", "longer than 30m0s (timeout)", `status "starting"`, "The end of its log"},
		},
		"stopped while it starts": {
			of: instance.NewRestart, sent: "stop start",
			prepare: func(f *fixture, id string) {
				f.onProgress = func(text string) {
					if strings.Contains(text, "is starting") {
						f.setStatus(id, "stopped", "stopped", "low_balance")
					}
				}
			},
			errs: []string{halted, "returned to its previous state", "low balance"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, test.limits, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				if strings.Contains(name, "outbid") {
					inst, _ = f.createRunning(rental.Interruptible)
				}
				if _, err := f.meta.Cache.Instances.List(f.Context()); err != nil { // which the action must not use
					f.Fatal(err)
				}
				if test.prepare != nil {
					test.prepare(f, inst.ID)
				}
				f.ClearRequests()
				start := time.Now()
				progress, errs := f.invoke(f.Context(), test.of, inst.ID, nil)
				if took := time.Since(start); took > 30*time.Minute+tfinstance.LogTimeout {
					f.Errorf("it took %s", took)
				}
				want := ""
				for _, status := range strings.Fields(test.statuses) {
					want += "Instance " + inst.ID + " is " + status + "\n"
				}
				if want != "" && progress != want {
					f.Errorf("progress messages:\n%swant:\n%s", progress, want)
				}
				f.expectContains(errs, test.errs...)
				if sent := f.changes(); sent != test.sent || (errs == "") != (test.errs == nil) {
					f.Errorf("sent %q, want %q; errors: %s", sent, test.sent, errs)
				}
			})
		})
	}
}

// An interruption ends an action at once, and the next run continues where it ended.
func TestActions_Interrupted(t *testing.T) {
	for name, test := range map[string]struct {
		of            newAction
		at            string // progress message at the interruption
		want, notWant string
	}{
		"stop":                {instance.NewStop, "is running", "was changing", "is now stopped"},
		"restart, going down": {instance.NewRestart, "is stopping", `status "stopping"`, "is now stopped"},
		"restart, at bottom":  {instance.NewRestart, "is stopped", "is now stopped", "by hand"},
		"restart, going up":   {instance.NewRestart, "is starting", "a restart stops a running instance", "is now stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, spending.Limits{}, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				ctx, interrupt := context.WithCancel(f.Context())
				var at time.Time
				f.onProgress = func(text string) {
					if strings.Contains(text, test.at) && at.IsZero() {
						at = time.Now()
						interrupt()
					}
				}
				_, errs := f.invoke(ctx, test.of, inst.ID, nil)
				if took := time.Since(at); at.IsZero() || took > tfinstance.LogTimeout {
					f.Errorf("it took %s", took)
				}
				f.expectContains(errs, "Interrupted while instance "+inst.ID, "Run the action again", test.want)
				if strings.Contains(errs, test.notWant) {
					f.Errorf("%q is in:\n%s", test.notWant, errs)
				}
				f.onProgress = nil
				if _, errs := f.invoke(f.Context(), test.of, inst.ID, nil); errs != "" {
					f.Error(errs)
				}
				if sent := f.changes(); strings.Count(sent, "start") > 1 || strings.Count(sent, "stop") > 1 {
					f.Errorf("it sent %s", sent)
				}
			})
		})
	}
}

// The message after a timeout contains what the action requested, and no contradiction.
func TestActions_Timeout(t *testing.T) {
	for name, test := range map[string]struct {
		slow          acctest.Match // the request that does not end in time
		want, notWant string
	}{
		"before the server is read":   {isGet, "nothing was requested", "Last seen"},
		"before the response to stop": {isStop, "may still be carried out", "nothing was requested"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, spending.Limits{}, func(f *fixture) {
				inst, _ := f.createRunning(rental.OnDemand)
				f.Set(test.slow.Do(acctest.Before(func(*http.Request) { time.Sleep(time.Minute) })))
				_, errs := f.invoke(f.Context(), instance.NewStop, inst.ID, map[string]any{"timeout": "20s"})
				f.expectContains(errs, test.want, "is not stopped yet", "longer than 20s (timeout)")
				if strings.Contains(errs, test.notWant) {
					f.Errorf("the message contradicts itself: %s", errs)
				}
			})
		})
	}
}

// Progress messages contain no control characters of the API's texts.
func TestActions_SanitizeStatus(t *testing.T) {
	withFixture(t, spending.Limits{}, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		f.Set(isGet.Do(acctest.SetField("status", "\x1b[31mrunning\nError: injected")))
		progress, errs := f.invoke(f.Context(), instance.NewStart, inst.ID, nil)
		f.expectContains(progress, "is running Error: injected")
		if errs == "" || strings.ContainsRune(progress+errs, '\x1b') || strings.Contains(progress+errs, "\nError") {
			f.Errorf("%q %s", progress, errs)
		}
	})
}

// An argument that is unknown at plan is checked by Invoke, before the action changes anything.
func TestActions_ArgumentsUnknownAtPlan(t *testing.T) {
	withFixture(t, spending.Limits{}, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		unknown := map[string]any{"instance_id": tftypes.UnknownValue, "timeout": tftypes.UnknownValue}
		if diagnostics := f.plan(instance.NewRestart, unknown); diagnostics != "" || len(f.Requests()) > 0 {
			f.Errorf("the plan makes %d requests and reports: %s", len(f.Requests()), diagnostics)
		}
		for _, test := range []struct {
			id        string
			arguments map[string]any
			want      string
		}{
			{"ins_none", nil, "no such instance"},
			{"", nil, "instance_id must not be empty"},
			{"../account", nil, "no such instance"},
			{inst.ID, map[string]any{"timeout": "soon"}, "must be a duration above zero"},
		} {
			_, errs := f.invoke(f.Context(), instance.NewRestart, test.id, test.arguments)
			f.expectContains(errs, test.want)
		}
		if sent := f.changes(); sent != "" {
			f.Errorf("sent %s", sent)
		}
	})
}

// The plan of an action fails for an instance that can never be started or stopped again, and warns if the balance does
// not cover a start.
func TestActions_Plan(t *testing.T) {
	withFixture(t, spending.Limits{RequireFunds: spending.FundsWarn}, func(f *fixture) {
		inst, _ := f.createRunning(rental.OnDemand)
		plans := func(of newAction, id string, want ...string) {
			f.Helper()
			time.Sleep(time.Minute) // longer than a listing is cached
			text := f.plan(of, map[string]any{"instance_id": id})
			if f.expectContains(text, want...); want == nil && text != "" {
				f.Error(text)
			}
		}
		plans(instance.NewRestart, inst.ID)
		plans(instance.NewStart, "inst_none", "Error: Cannot start instance inst_none", "no such instance")
		for verb, of := range map[string]newAction{
			"start": instance.NewStart, "stop": instance.NewStop, "restart": instance.NewRestart,
		} {
			f.setStatus(inst.ID, "failed", "running", "")
			plans(of, inst.ID, "Error: Cannot "+verb+" instance "+inst.ID, `status is "failed"`, "next apply creates another")
			f.setStatus(inst.ID, "destroying", "destroyed", "")
			plans(of, inst.ID, `status is "destroying"`)
		}
		f.setStatus(inst.ID, "stopped", "stopped", "")
		must(f.T, f.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1)), CreditLimitKop: new(int64(0))}))
		plans(instance.NewStart, inst.ID, "Warning: Insufficient balance")
		plans(instance.NewStop, inst.ID)
	})
}
