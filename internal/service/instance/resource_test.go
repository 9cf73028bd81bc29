package instance_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// interrupt interrupts the provider.
func (tf *core) interrupt() {
	tf.Helper()
	_, err := tf.StopProvider(tf.Context(), &tfprotov6.StopProviderRequest{})
	must(tf.T, err)
}

// The error of an update distinguishes a timeout from an interruption, and names the policy of an outbid instance. The
// state has the actual status.
func TestUpdate_Diagnostics(t *testing.T) {
	t.Parallel()
	isRead := simtest.Request("GET", "/instances.*")
	noSSH := isRead.Do(simtest.RewriteItems(func(item map[string]any) { item["ssh"] = nil }))
	expensive := isRead.Do(simtest.RewriteItems(func(item map[string]any) {
		item["price"].(map[string]any)["running_kop_h"] = 990_016
	}))
	const notReady, aboveLimit = "ERROR: Instance ID is not in its desired state", "costs more than a limit allows"
	for name, test := range map[string]struct {
		becomes   string         // the status after a start; none for the usual one
		after     []simtest.Rule // a start
		interrupt bool           // at the start
		onOutbid  any
		slow      bool     // the polls, for an update that ends with its timeout
		want      []string // of the diagnostics
		status    string   // in the state
	}{
		"timeout while it starts": {
			becomes: "starting", slow: true, want: []string{notReady, `Last seen: status "starting"`}, status: "starting",
		},
		"timeout without SSH": {
			after: []simtest.Rule{noSSH}, slow: true, want: []string{notReady, "It has no SSH address."}, status: "running",
		},
		"SSH that never comes": {
			after: []simtest.Rule{noSSH}, want: []string{"WARNING: Instance ID has no SSH address"}, status: "running",
		},
		"interruption": {interrupt: true, want: []string{"ERROR: Interrupted while instance ID"}, status: "starting"},
		"destroyed": {
			after: []simtest.Rule{isRead.Do(simtest.Fail(404))}, want: []string{"Instance ID no longer exists"},
			status: "stopped",
		},
		"outbid, restart": {
			becomes: "outbid", want: []string{"Instance ID was outbid again", "after each of 3 starts"}, status: "outbid",
		},
		"outbid, replace": {
			becomes: "outbid", onOutbid: "replace", want: []string{`on_outbid is "replace"`}, status: "outbid",
		},
		"outbid, keep": {becomes: "outbid", onOutbid: "keep", status: "outbid"},
		"above the cap": {
			after: []simtest.Rule{expensive}, want: []string{aboveLimit, "It was stopped again"}, status: "starting",
		},
		"above the cap, and not stopped": {
			after: []simtest.Rule{expensive, isStop.Do(simtest.Fail(402))},
			want:  []string{aboveLimit, "its stop failed"}, status: "starting",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The test asserts each status.
			env, tf, p := start(t, nil,
				acctest.WithoutQuirks("outbid-soon-after-start", "lagging-status", "unknown-enums"))
			timeouts := map[string]any{"update": "1h"}
			config := configWithoutKey("a", "max_price_kop_h", int64(100_000), "on_outbid", test.onOutbid, "timeouts", timeouts)
			config["desired_state"] = "stopped"
			inst := tf.mustApply(nil, config)
			if config["desired_state"] = "running"; test.slow {
				timeouts["update"] = "2s"
				tf = newProvider(t, env, map[string]any{"poll_interval": "50ms"})
			}
			p.Set(isStart.Do(simtest.After(func(r *http.Request) {
				switch {
				case test.becomes != "":
					setStatus(t, env, inst.Text("id"), test.becomes, "running")
				case test.interrupt:
					tf.interrupt()
				default:
					p.Set(test.after...)
				}
			})))
			inst, diags := tf.apply(inst, config)
			for i, text := range test.want {
				test.want[i] = strings.ReplaceAll(text, "ID", inst.Text("id"))
			}
			expectDiags(t, "the update", diags, test.want...)
			if status := inst.Text("status"); status != test.status {
				t.Errorf("the state has the status %s", status)
			}
		})
	}
}

// The error of a destruction describes why the instance may still exist.
func TestDelete_Diagnostics(t *testing.T) {
	t.Parallel()
	accepts := func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		simtest.Respond(200, fmt.Sprintf(`{"id":%q,"status":"running"}`, path.Base(r.URL.Path)))(w, r, api)
	}
	for name, test := range map[string]struct {
		destroy   simtest.Interceptor
		interrupt bool
		want      []string
	}{
		"timeout after the request was accepted": {accepts, false, []string{
			"is not destroyed yet: It took longer than 2s (timeouts.delete). The API accepted",
		}},
		"refusal": {simtest.Fail(409), false, []string{
			"is not destroyed yet: It took longer than 2s (timeouts.delete). The API did not",
		}},
		"no response":  {simtest.Refuse(502, "internal"), false, []string{"ERROR: Cannot destroy instance", "DELETE /"}},
		"interruption": {accepts, true, []string{"ERROR: Interrupted while instance"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tf, p := start(t, map[string]any{"poll_interval": "50ms"})
			inst := tf.mustApply(nil, configWithoutKey("a", "timeouts", map[string]any{"delete": "2s"}))
			p.Set(isDelete.Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				if test.destroy(w, r, api); test.interrupt {
					tf.interrupt()
				}
			}))
			left, diags := tf.destroy(inst)
			if expectDiags(t, "the destruction", diags, test.want...); left {
				t.Error("it left the state")
			}
		})
	}
}
