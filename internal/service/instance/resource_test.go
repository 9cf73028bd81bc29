package instance

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// textOf returns all diagnostics as one text.
func textOf(diags diag.Diagnostics) string {
	var text strings.Builder
	for _, d := range diags {
		text.WriteString(d.Severity().String() + ": " + d.Summary() + ": " + d.Detail() + "\n")
	}
	return text.String()
}

// expectPrefix compares the beginning of a text. An empty prefix means no text.
func expectPrefix(t *testing.T, text, want string) {
	t.Helper()
	if want == "" && text != "" || !strings.HasPrefix(text, want) {
		t.Errorf("want %q, got:\n%s", want, text)
	}
}

// newMeta returns a configured provider.
func newMeta(client *rental.Client, limits spending.Limits) *tfkit.Meta {
	meta := &tfkit.Meta{PollInterval: 5 * time.Second}
	meta.SetClient(client, limits)
	return meta
}

// emptyState returns a state of an instance with null values, and its model.
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
	if diags := state.Get(t.Context(), &m); diags.HasError() {
		t.Fatal(textOf(diags))
	}
	return state, m
}

// The error of an update distinguishes a timeout from an interruption, and names the policy of an outbid instance.
func TestUpdate_Diagnostics(t *testing.T) {
	noSSH := func(s *rentaltest.Service) int {
		rentaltest.Is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
		s.Inst.SSH = nil
		return http.StatusOK
	}
	starting := func(s *rentaltest.Service) int { // the desired state is omitted
		rentaltest.Is(rental.StatusStarting, "")(&s.Inst)
		return http.StatusOK
	}
	expensive := func(s *rentaltest.Service) int {
		s.Inst.Price.RunningKopH = 5010
		return starting(s)
	}
	outbid := rentaltest.OutbidAfter(time.Second, 2*time.Second)
	for name, test := range map[string]struct {
		start, stop, read func(*rentaltest.Service) int
		onOutbid          string
		timeout           time.Duration
		interrupt         time.Duration
		burnLimit         int64 // kopecks per hour; 0 for none
		want              string
		contains          string
		status            rental.InstanceStatus // in the state afterwards
	}{
		"a timeout while it starts": {
			start: starting, timeout: time.Minute, want: "Error: Instance ins_1 is not in its desired state", status: "starting",
		},

		"a timeout without SSH": {
			start: noSSH, timeout: 5 * time.Minute, want: "Error: Instance ins_1 is not in its desired state",
			contains: "It has no SSH address.", status: "running",
		},
		"SSH that never comes": {
			start: noSSH, want: "Warning: Instance ins_1 has no SSH address", contains: "within 10m0s", status: "running",
		},
		"an interruption": {
			start: starting, interrupt: time.Minute, want: "Error: Interrupted while instance ins_1", status: "starting",
		},
		"gone before the first read": {
			read: rentaltest.Replies(http.StatusNotFound), want: "Error: Instance ins_1 no longer exists",
		},
		"outbid, restart": {
			start: outbid, onOutbid: "restart", want: "Error: Instance ins_1 was outbid again",
			contains: "after each of 3 starts",
			status:   "outbid",
		},
		"outbid, replace": {
			start: outbid, onOutbid: "replace", want: "Error: Instance ins_1 was outbid: It was outbid", status: "outbid",
		},
		"outbid, keep": {start: outbid, onOutbid: "keep", status: "outbid"},
		"above the cap": {
			start: expensive, stop: rentaltest.Stops,
			want:     "Error: Instance ins_1 costs more than a limit allows: It costs 50.10",
			contains: "It was stopped again", status: "stopping",
		},
		"above the burn limit": {
			burnLimit: 1000, want: "Error: Burn rate would exceed max_burn_kop_h", status: "stopped",
		},
		"above the cap, and not stopped": {
			start: expensive, stop: rentaltest.Replies(402),
			want: "Error: Instance ins_1 costs more than a limit allows: It costs 50.10", contains: "its stop failed",
			status: "starting",
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := func() *rentaltest.Service {
				s := rentaltest.New(rental.Interruptible, rental.StatusStopped, rental.DesiredStopped)
				s.On["start"], s.On["stop"], s.On["GET"] = test.start, test.stop, test.read
				return s
			}
			rentaltest.Run(t, made, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
				r := &instanceResource{}
				r.Meta = newMeta(client, spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: test.burnLimit})
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
				state.ID = types.StringValue(rentaltest.ID)
				plan := state
				plan.DesiredState, plan.OnOutbid = types.StringValue("running"), types.StringValue(test.onOutbid)
				plan.MaxPriceKopH = types.Int64Value(2000)
				expectChange(state, &plan)
				resp := resource.UpdateResponse{State: raw}
				r.converge(ctx, state, plan, nil, time.Time{}, timeout, &resp)
				text := textOf(resp.Diagnostics)
				expectPrefix(t, text, test.want)
				if !strings.Contains(text, test.contains) {
					t.Errorf("%q is not in:\n%s", test.contains, text)
				}
				var after model
				if diags := resp.State.Get(t.Context(), &after); diags.HasError() {
					t.Fatal(textOf(diags))
				}
				got, desired := after.Status.ValueString(), after.DesiredState
				if got != string(test.status) || got == "starting" && !desired.IsNull() { // it keeps the one of the state
					t.Errorf("the state has the status %q, want %q; desired state %s", got, test.status, desired)
				}
			})
		})
	}
}

// The error of a destruction describes why the instance may still exist.
func TestDelete_Diagnostics(t *testing.T) {
	for name, test := range map[string]struct {
		destroy func(*rentaltest.Service) int
		timeout string
		cancel  time.Duration
		want    string
	}{
		"a timeout after the request was accepted": {
			rentaltest.Replies(http.StatusOK), "1m", 0,
			"Error: Instance ins_1 is not destroyed yet: It took longer than 1m0s (timeouts.delete). The API accepted",
		},
		"no response": {rentaltest.Replies(http.StatusBadGateway), "1h", 0, "Error: Cannot destroy instance ins_1: DELETE /"},
		"an interruption": {
			rentaltest.Replies(http.StatusOK), "1h", time.Minute, "Error: Interrupted while instance ins_1 was changing",
		},
		"a refusal": {
			rentaltest.Replies(http.StatusConflict), "1h", 0,
			"Error: Instance ins_1 is not destroyed yet: It took longer than 1h0m0s (timeouts.delete). The API did not",
		},
	} {
		t.Run(name, func(t *testing.T) {
			newService := func() *rentaltest.Service {
				s := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
				s.On["DELETE"] = test.destroy
				return s
			}
			rentaltest.Run(t, newService, func(t *testing.T, _ *rentaltest.Service, client *rental.Client) {
				r := &instanceResource{}
				r.Meta = newMeta(client, spending.Limits{RequireFunds: spending.FundsOff})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancel > 0 {
					time.AfterFunc(test.cancel, cancel)
				}
				raw, _ := emptyState(t, r)
				diags := raw.SetAttribute(ctx, path.Root("id"), rentaltest.ID)
				diags.Append(raw.SetAttribute(ctx, path.Root("timeouts").AtName("delete"), test.timeout)...)
				if diags.HasError() {
					t.Fatal(textOf(diags))
				}
				resp := resource.DeleteResponse{State: raw}
				r.Delete(ctx, resource.DeleteRequest{State: raw}, &resp)
				expectPrefix(t, textOf(resp.Diagnostics), test.want)
			})
		})
	}
}
