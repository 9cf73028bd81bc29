package instance_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// actions returns the part of the protocol for actions, and the configuration of one.
func (tf *core) actions(name string, arguments map[string]any) (
	server tfprotov6.ActionServer, kind string, config *tfprotov6.DynamicValue,
) {
	tf.Helper()
	kind = "gpurent_instance_" + name
	config = acctest.Pack(tf, acctest.Value(tf.ActionSchemas[kind].Schema.ValueType(), arguments))
	return tf.ProviderServer.(tfprotov6.ActionServer), kind, config
}

// planAction plans an action.
func (tf *core) planAction(name string, arguments map[string]any) []*tfprotov6.Diagnostic {
	tf.Helper()
	server, kind, config := tf.actions(name, arguments)
	resp, err := server.PlanAction(tf.Context(), &tfprotov6.PlanActionRequest{ActionType: kind, Config: config})
	if err != nil {
		tf.Fatal(err)
	}
	return resp.Diagnostics
}

// invoke runs an action until a progress message contains the text interruptAt, if it is not empty. It returns the
// progress messages as lines.
func (tf *core) invoke(
	name string, arguments map[string]any, interruptAt string,
) (progress string, diags []*tfprotov6.Diagnostic) {
	tf.Helper()
	ctx, interrupt := context.WithCancel(tf.Context())
	defer interrupt()
	server, kind, config := tf.actions(name, arguments)
	resp, err := server.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{ActionType: kind, Config: config})
	if err != nil {
		tf.Fatal(err)
	}
	for event := range resp.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			if progress += event.Message + "\n"; ctx.Err() != nil {
				tf.Errorf("message %q after the interruption, at which Terraform 1.15 crashes", event.Message)
			}
			if interruptAt != "" && strings.Contains(event.Message, interruptAt) {
				interrupt()
			}
		case tfprotov6.CompletedInvokeActionEventType:
			diags = event.Diagnostics
		}
	}
	return progress, diags
}

// startsAndStops returns the requests to start and to stop instances since the last call, as one text.
func startsAndStops(env *acctest.Env) string {
	var verbs []string
	for _, r := range env.Requests() {
		if verb := r.Path[strings.LastIndex(r.Path, "/")+1:]; verb == "start" || verb == "stop" {
			verbs = append(verbs, verb)
		}
	}
	env.ClearRequests()
	return strings.Join(verbs, " ")
}

// Actions request the missing steps and report each change of the status. They continue what is in progress, place new
// bids, and describe what they leave behind.
func TestActions(t *testing.T) {
	t.Parallel()
	const halted = "is now stopped"
	type prepare = func(t *testing.T, env *acctest.Env, p *simtest.Proxy, id string)
	status := func(status, desired string) prepare {
		return func(t *testing.T, env *acctest.Env, _ *simtest.Proxy, id string) {
			setStatus(t, env, id, status, desired)
		}
	}
	intercepts := func(matches simtest.Match, with simtest.Interceptor) prepare {
		return func(_ *testing.T, _ *acctest.Env, p *simtest.Proxy, _ string) { p.Set(matches.Do(with)) }
	}
	requested := func(verbs ...string) prepare {
		return func(_ *testing.T, env *acctest.Env, _ *simtest.Proxy, id string) {
			for _, verb := range verbs {
				env.Post("instances/"+id+"/"+verb, "")
				if verb == "stop" && len(verbs) > 1 {
					env.Advance(time.Minute)
				}
			}
		}
	}
	failsWhenStopped := func(t *testing.T, env *acctest.Env, p *simtest.Proxy, id string) {
		p.Set(isStop.Do(simtest.After(func(*http.Request) { setStatus(t, env, id, "failed", "running") })))
	}
	hangs := simtest.Before(func(r *http.Request) { <-r.Context().Done() })
	for name, test := range map[string]struct {
		verb     string
		prepare  prepare
		timeout  any
		provider map[string]any
		sent     string
		statuses string   // of the progress messages; not checked if empty
		errs     []string // none for success
	}{
		"stop":                   {verb: "stop", sent: "stop", statuses: "running stopped"},
		"start of a running one": {verb: "start", statuses: "running"},
		"stop of a stopped one":  {verb: "stop", prepare: status("stopped", "stopped"), statuses: "stopped"},
		"restart": {
			verb: "restart", sent: "stop start", statuses: "running stopped starting running",
		},
		"restart of a stopped one": {
			verb: "restart", prepare: status("stopped", "stopped"), sent: "start", statuses: "stopped starting running",
		},
		"restart of a starting one": {
			verb: "restart", prepare: requested("stop", "start"), statuses: "starting running",
		},
		"restart of an outbid one": {
			verb: "restart", prepare: status("outbid", "running"), sent: "start", statuses: "outbid starting running",
		},
		"restart, fails meanwhile": {
			verb: "restart", prepare: failsWhenStopped, sent: "stop", errs: []string{"cannot be used", `"failed"`},
		},
		"restart, start refused": {
			verb: "restart", prepare: intercepts(isStart, simtest.Fail(409)), sent: "stop start",
			errs: []string{halted, "Run this action or gpurent_instance_start again", "Cannot start"},
		},
		"stop refused": {
			verb: "stop", prepare: intercepts(isStop, simtest.Fail(403)), sent: "stop",
			errs: []string{"lacks the scope instances:write"},
		},
		"restart above the burn limit": {
			verb: "restart", provider: withSpending("max_burn_kop_h", int64(1)), sent: "stop",
			errs: []string{halted, burnLimitExceeded},
		},
		"timeout": {
			verb: "start", prepare: status("starting", "running"), timeout: "2s",
			provider: map[string]any{"poll_interval": "100ms"},
			errs:     []string{"is not ready yet", "longer than 2s (timeout)", `status "starting"`, "The end of its log"},
		},
		"timeout before it is read": {
			verb: "stop", prepare: intercepts(isGet, hangs), timeout: "300ms",
			errs: []string{"is not stopped yet", "nothing was requested"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The progress messages contain each status.
			env, tf, p := start(t, test.provider, acctest.WithoutQuirks("outbid-soon-after-start", "unknown-enums"))
			id := createInstances(env, "a")[0]
			expectDiags(t, "a plan, which caches the instance", tf.planAction("stop", map[string]any{"instance_id": id}))
			if test.prepare != nil {
				test.prepare(t, env, p, id)
			}
			env.ClearRequests()
			progress, diags := tf.invoke(test.verb, map[string]any{"instance_id": id, "timeout": test.timeout}, "")
			want := ""
			for _, status := range strings.Fields(test.statuses) {
				want += "Instance " + id + " is " + status + "\n"
			}
			if want != "" && progress != want {
				t.Errorf("progress messages:\n%swant:\n%s", progress, want)
			}
			expectDiags(t, "the action", diags, test.errs...)
			if sent := startsAndStops(env); sent != test.sent {
				t.Errorf("sent %q, want %q", sent, test.sent)
			}
		})
	}
}

// An interruption ends an action at once, and the next run continues where it ended.
func TestActions_Interrupted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ verb, at, want, notWant string }{
		"stop":               {"stop", "is running", "may still be carried out", "is now stopped"},
		"restart, going up":  {"restart", "is starting", "a restart stops a running instance once more", "is now stopped"},
		"restart, at bottom": {"restart", "is stopped", "is now stopped", "by a user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Before a start, the burn rate is read. That is when the restart is interrupted while the instance is stopped.
			// An instance that is shown as starting may run already, and a restart would stop it once more.
			env, tf, p := start(t, withSpending("max_burn_kop_h", int64(1e9)),
				acctest.WithoutQuirks("lagging-status", "unknown-enums"))
			if test.at == "is stopped" {
				p.Set(simtest.Request("GET", "/balance").Do(simtest.Before(func(r *http.Request) { <-r.Context().Done() })))
			}
			arguments := map[string]any{"instance_id": createInstances(env, "a")[0]}
			_, diags := tf.invoke(test.verb, arguments, test.at)
			expectDiags(t, "the action", diags, "Interrupted while instance", "Run the action again", test.want)
			if strings.Contains(diagsText(diags), test.notWant) {
				t.Errorf("%q is in:\n%s", test.notWant, diagsText(diags))
			}
			p.Set()
			_, diags = tf.invoke(test.verb, arguments, "")
			expectDiags(t, "the next run", diags)
			if sent := startsAndStops(env); strings.Count(sent, "start") > 1 || strings.Count(sent, "stop") > 1 {
				t.Errorf("it sent %s", sent)
			}
		})
	}
}

// Progress messages and errors contain no control characters of the API's texts.
func TestActions_SanitizeStatus(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, map[string]any{"poll_interval": "100ms"})
	const untrusted = "\x1b[31mrunning\nError: injected"
	p.Set(isGet.Do(simtest.SetField("status", untrusted)), simtest.Request("GET", "/instances/.*/logs").Do(
		simtest.SetField("lines", slices.Repeat([]string{untrusted}, 1000))))
	arguments := map[string]any{"instance_id": createInstances(env, "a")[0], "timeout": "2s"}
	progress, diags := tf.invoke("start", arguments, "")
	expectDiags(t, "the action", diags, "The end of its log:", "Error: injected")
	text := progress + diagsText(diags)
	if !strings.Contains(progress, "is running Error: injected") || strings.ContainsRune(text, '\x1b') ||
		strings.Contains(text, "\nError") || len(text) > 5000 {
		t.Errorf("%q", text)
	}
}

// An argument that is unknown at plan is checked by the invocation, before the action changes anything. While the API
// key is unknown, nothing is invoked.
func TestActions_ArgumentsUnknownAtPlan(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	id := createInstances(env, "a")[0]
	unknown := map[string]any{"instance_id": tftypes.UnknownValue, "timeout": tftypes.UnknownValue}
	expectDiags(t, "the plan", tf.planAction("restart", unknown))
	for _, test := range []struct {
		id      string
		timeout any
		want    string
	}{
		{"ins_none", nil, "no such instance"},
		{"", nil, "instance_id must not be empty"},
		{"../account", nil, "no such instance"},
		{id, "soon", "must be a duration above zero"},
	} {
		_, diags := tf.invoke("restart", map[string]any{"instance_id": test.id, "timeout": test.timeout}, "")
		expectDiags(t, "the action", diags, test.want)
	}
	_, diags := newProvider(t, env, map[string]any{"api_key": tftypes.UnknownValue}).invoke(
		"restart", map[string]any{"instance_id": id}, "")
	expectDiags(t, "an unknown API key", diags, "Provider configuration is unknown")
	if sent := startsAndStops(env); sent != "" {
		t.Errorf("sent %s", sent)
	}
}

// The plan of an action fails for an instance that can never be started or stopped again, and warns if the balance does
// not cover a start.
func TestActions_Plan(t *testing.T) {
	t.Parallel()
	env, _, _ := start(t, nil, acctest.WithoutQuirks("unknown-enums")) // errors contain the status
	id := createInstances(env, "a")[0]
	price := acctest.Fetch[rental.Instance](env, "instances/"+id).Price.RunningKopH
	plans := func(verb, id string, want ...string) {
		t.Helper()
		tf := newProvider(t, env, nil)
		expectDiags(t, verb, tf.planAction(verb, map[string]any{"instance_id": id}), want...)
	}
	plans("restart", id)
	plans("start", "inst_none", "ERROR: Cannot start instance inst_none", "no such instance")
	setStatus(t, env, id, "failed", "running")
	plans("stop", id, "ERROR: Cannot stop instance "+id, `status is "failed"`, "next apply creates another")
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(2*price - 1), CreditLimitKop: new(int64(0))}))
	for _, test := range []struct {
		status, desired          string
		startWarns, restartWarns bool
	}{
		{"running", "running", false, true}, {"starting", "running", false, false}, {"stopped", "stopped", true, true},
	} {
		setStatus(t, env, id, test.status, test.desired)
		for verb, warns := range map[string]bool{"start": test.startWarns, "restart": test.restartWarns, "stop": false} {
			if warns {
				plans(verb, id, "WARNING: Insufficient balance")
			} else {
				plans(verb, id)
			}
		}
	}
	setStatus(t, env, id, "destroying", "destroyed")
	plans("restart", id, `status is "destroying"`)
}
