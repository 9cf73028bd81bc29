package instance

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// textOf is all diagnostics as one text.
func textOf(diags diag.Diagnostics) string {
	var text strings.Builder
	for _, d := range diags {
		text.WriteString(d.Severity().String() + ": " + d.Summary() + ": " + d.Detail() + "\n")
	}
	return text.String()
}

// begins compares the beginning of a text; an empty one stands for no text.
func begins(t *testing.T, text, want string) {
	t.Helper()
	if want == "" && text != "" || !strings.HasPrefix(text, want) {
		t.Errorf("want %q, got:\n%s", want, text)
	}
}

func TestDestroy(t *testing.T) {
	destroys := func(s *scripted) int {
		if s.inst.DesiredState == rental.DesiredDestroyed {
			return http.StatusConflict
		}
		is(rental.StatusDestroying, rental.DesiredDestroyed)(&s.inst)
		s.then(10*time.Second, is(rental.StatusDestroyed, rental.DesiredDestroyed))
		return http.StatusOK
	}
	foreign := func(s *scripted) int {
		if time.Now().Before(s.stale.Add(40 * time.Second)) {
			return http.StatusTeapot
		}
		return http.StatusOK
	}
	const notConfirmed, confirmed = "The service did not confirm the request", "The service took the request"
	for name, test := range map[string]struct {
		destroy, read func(*scripted) int
		lag           time.Duration
		timeout       time.Duration
		interrupt     time.Duration
		want          string
	}{
		"plain":                         {destroy: destroys},
		"not found":                     {destroy: replies(http.StatusNotFound)},
		"already being destroyed":       {destroy: loses(destroys, 500, 0)},
		"all answers lost":              {destroy: loses(destroys, 0, 2)},
		"a conflict, the status lags":   {destroy: loses(destroys, 502, 0), lag: 25 * time.Second},
		"all lost, the status lags":     {destroy: loses(destroys, 503, 2), lag: 25 * time.Second},
		"a foreign answer to reads":     {destroy: destroys, read: foreign},
		"refused":                       {destroy: replies(http.StatusConflict), want: "Error: Cannot destroy instance ins_1: no"},
		"never carried out":             {destroy: replies(http.StatusServiceUnavailable), want: "Error: Cannot destroy instance ins_1: no"},
		"a time-out while it ends":      {destroy: replies(http.StatusOK), timeout: time.Minute, want: "Error: Instance ins_1 is not destroyed yet: " + confirmed},
		"a time-out before its answer":  {destroy: replies(http.StatusBadGateway), timeout: 20 * time.Second, want: "Error: Instance ins_1 is not destroyed yet: " + notConfirmed},
		"an interruption while it ends": {destroy: replies(http.StatusOK), interrupt: time.Minute, want: "Error: Interrupted while instance ins_1"},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.lag, s.on["DELETE"], s.on["GET"] = test.lag, test.destroy, test.read
				return s
			}
			inScript(t, made, func(t *testing.T, _ *scripted, meta *tfkit.Meta) {
				r := &instanceResource{}
				r.Meta = meta
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.interrupt > 0 {
					time.AfterFunc(test.interrupt, cancel)
				}
				timeout := time.Hour
				if test.timeout > 0 {
					timeout = test.timeout
				}
				waitCtx, end := context.WithTimeout(ctx, timeout)
				defer end()
				var diags diag.Diagnostics
				began := time.Now()
				r.destroy(ctx, waitCtx, scriptedID, timeout, &diags)
				begins(t, textOf(diags), test.want)
				if took := time.Since(began); took > decided {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A new name whose answer was lost is no error when the server has it.
func TestSetName(t *testing.T) {
	name := "new"
	renames := func(s *scripted) int {
		s.inst.Name = &name
		return http.StatusServiceUnavailable
	}
	for story, test := range map[string]struct {
		patch  func(*scripted) int
		failed bool
	}{
		"all answers lost":  {renames, false},
		"never carried out": {replies(http.StatusServiceUnavailable), true},
		"refused":           {replies(http.StatusNotFound), true},
	} {
		t.Run(story, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.on["PATCH"] = test.patch
				return s
			}
			inScript(t, made, func(t *testing.T, _ *scripted, meta *tfkit.Meta) {
				r := &instanceResource{}
				r.Meta = meta
				inst, err := r.setName(t.Context(), scriptedID, &name)
				if (err != nil) != test.failed || err == nil && nameOf(inst) != name {
					t.Errorf("got %q, %v", nameOf(inst), err)
				}
			})
		})
	}
}

// emptyState is a state of an instance without any value, and its model.
func emptyState(t *testing.T, r *instanceResource) (tfsdk.State, model) {
	t.Helper()
	var schema resource.SchemaResponse
	r.Schema(t.Context(), resource.SchemaRequest{}, &schema)
	kind := schema.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
	attributes := map[string]tftypes.Value{}
	for name, attribute := range kind.AttributeTypes {
		attributes[name] = tftypes.NewValue(attribute, nil)
	}
	state := tfsdk.State{Schema: schema.Schema, Raw: tftypes.NewValue(kind, attributes)}
	var m model
	if diags := tfkit.Get(t.Context(), state.Raw, state.Schema, &m); diags.HasError() {
		t.Fatal(textOf(diags))
	}
	return state, m
}

// An update reports why it ended: a time-out is no interruption, and an outbid server names its policy.
func TestUpdate_Reports(t *testing.T) {
	noSSH := func(s *scripted) int {
		is(rental.StatusRunning, rental.DesiredRunning)(&s.inst)
		s.inst.SSH = nil
		return http.StatusOK
	}
	starting := func(s *scripted) int {
		is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
		return http.StatusOK
	}
	expensive := func(s *scripted) int {
		s.inst.Price.RunningKopH = 5010
		return starting(s)
	}
	slowly := func(*scripted) int {
		time.Sleep(3 * time.Second)
		return http.StatusOK
	}
	outbid := outbidAfter(time.Second, 2*time.Second)
	for name, test := range map[string]struct {
		start, stop, read func(*scripted) int
		onOutbid          string
		timeout           time.Duration
		interrupt         time.Duration
		want              string
		contains          string
		status            rental.InstanceStatus // in the state afterwards
	}{
		"a time-out while it starts":     {start: starting, timeout: time.Minute, want: "Error: Instance ins_1 is not where it should be yet", status: "starting"},
		"a time-out without an answer":   {start: replies(0), timeout: time.Minute, want: "Error: Instance ins_1 is not where it should be yet", status: "stopped"},
		"a time-out of the first read":   {read: slowly, timeout: 2 * time.Second, want: "Error: Instance ins_1 is not where it should be yet"},
		"a time-out without SSH":         {start: noSSH, timeout: 5 * time.Minute, want: "Error: Instance ins_1 is not where it should be yet", contains: "It has no SSH address.", status: "running"},
		"SSH that never comes":           {start: noSSH, want: "Warning: Instance ins_1 runs, but has no SSH address", contains: "within 10m0s", status: "running"},
		"an interruption":                {start: starting, interrupt: time.Minute, want: "Error: Interrupted while instance ins_1", status: "starting"},
		"an interrupted first read":      {read: slowly, interrupt: time.Second, want: "Error: Interrupted while instance ins_1"},
		"gone before the first read":     {read: replies(http.StatusNotFound), want: "Error: Instance ins_1 is gone"},
		"outbid, restart":                {start: outbid, onOutbid: outbidRestart, want: "Error: Instance ins_1 was outbid again", contains: "started it 3 times", status: "outbid"},
		"outbid, replace":                {start: outbid, onOutbid: outbidReplace, want: "Error: Instance ins_1 was outbid: With on_outbid", status: "outbid"},
		"outbid, keep":                   {start: outbid, onOutbid: outbidKeep, status: "outbid"},
		"above the cap":                  {start: expensive, stop: stops, want: "Error: Instance ins_1 was stopped again: price above the cap", contains: "at 50,10", status: "stopping"},
		"above the cap, and not stopped": {start: expensive, stop: replies(402), want: "Error: Instance ins_1 runs above the cap", contains: "is billed at 50,10", status: "starting"},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(rental.Interruptible, rental.StatusStopped, rental.DesiredStopped)
				s.on["start"], s.on["stop"], s.on["GET"] = test.start, test.stop, test.read
				return s
			}
			inScript(t, made, func(t *testing.T, _ *scripted, meta *tfkit.Meta) {
				r := &instanceResource{}
				r.Meta = meta
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.interrupt > 0 {
					time.AfterFunc(test.interrupt, cancel)
				}
				timeout := time.Hour
				if test.timeout > 0 {
					timeout = test.timeout
				}
				raw, state := emptyState(t, r)
				state.ID = types.StringValue(scriptedID)
				plan := state
				plan.DesiredState, plan.OnOutbid = types.StringValue("running"), types.StringValue(test.onOutbid)
				plan.MaxPriceKopH = types.Int64Value(2000)
				expectChange(state, &plan)
				resp := resource.UpdateResponse{State: raw}
				r.converge(ctx, state, plan, nil, timeout, &resp)
				text := textOf(resp.Diagnostics)
				begins(t, text, test.want)
				if !strings.Contains(text, test.contains) {
					t.Errorf("%q is not in:\n%s", test.contains, text)
				}
				var after model
				if diags := tfkit.Get(t.Context(), resp.State.Raw, resp.State.Schema, &after); diags.HasError() {
					t.Fatal(textOf(diags))
				}
				if got := after.Status.ValueString(); got != string(test.status) {
					t.Errorf("the state has the status %q, want %q", got, test.status)
				}
			})
		})
	}
}

// The burn limit is checked beside the start, also when the server is still stopping before it.
func TestUpdate_BurnLimitBesideTheStart(t *testing.T) {
	for name, test := range map[string]struct {
		limit int64
		want  string
		sent  string
	}{
		"above": {1000, "Error: " + tooMuchBurnSummary, ""},
		"below": {2000, "", "start"},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *scripted {
				s := newScripted(rental.OnDemand, rental.StatusStopping, rental.DesiredStopped)
				s.then(10*time.Second, is(rental.StatusStopped, rental.DesiredStopped))
				s.on["start"] = starts
				return s
			}
			inScript(t, made, func(t *testing.T, s *scripted, meta *tfkit.Meta) {
				meta.Run = tfkit.NewRun(false)
				meta.Spending = tfkit.Spending{MaxBurnKopH: test.limit}
				r := &instanceResource{}
				r.Meta = meta
				raw, state := emptyState(t, r)
				state.ID = types.StringValue(scriptedID)
				plan := state
				plan.DesiredState, plan.OnOutbid = types.StringValue("running"), types.StringValue(outbidRestart)
				expectChange(state, &plan)
				resp := resource.UpdateResponse{State: raw}
				r.converge(t.Context(), state, plan, nil, time.Hour, &resp)
				begins(t, textOf(resp.Diagnostics), test.want)
				if s.requests() != test.sent {
					t.Errorf("sent %q, want %q", s.requests(), test.sent)
				}
			})
		})
	}
}
