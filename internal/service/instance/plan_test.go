package instance

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// stateOf returns the state of an instance with the given status.
func stateOf(status rental.InstanceStatus, desired rental.DesiredState) model {
	started := "2026-05-06T07:08:09Z"
	m := fromAPI(model{OfferID: types.StringValue("off_1")}, rental.Instance{
		ID:           "ins_1",
		Status:       status,
		DesiredState: desired,
		Type:         rental.OnDemand,
		Template:     rental.TemplateRef{Slug: "pytorch"},
		DiskGB:       60,
		SSH:          &rental.SSH{Host: "h", Port: 22, User: "root", Command: "ssh root@h"},
	})
	m.OnOutbid, m.SSHKeyIDs = types.StringValue("restart"), types.SetNull(types.StringType)
	m.StartedAt = types.StringValue(started)
	return m
}

// A plan marks exactly the attributes as unknown that an apply can change.
func TestPlanConvergence(t *testing.T) {
	for name, test := range map[string]struct {
		state       model
		wanted      string
		want        lifecycle.Action
		wantUnknown []string
	}{
		"converged":          {stateOf("running", "running"), "running", lifecycle.ActionNone, nil},
		"converged, stopped": {stateOf("stopped", "stopped"), "stopped", lifecycle.ActionNone, nil},
		"to stop": {
			stateOf("running", "running"), "stopped", lifecycle.ActionStop, []string{"status", "stop_reason"},
		},
		"to start": {
			stateOf("stopped", "stopped"), "running", lifecycle.ActionStart,
			[]string{"status", "stop_reason", "ssh", "urls", "price"},
		},
		"still booting": {
			stateOf("starting", "running"), "running", lifecycle.ActionWait,
			[]string{"status", "stop_reason", "ssh", "urls", "price"},
		},
		"failed": {
			stateOf("failed", "running"), "running", lifecycle.ActionReplace,
			[]string{"status", "stop_reason", "ssh", "urls", "price"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.state
			// The framework sets these values when any argument changes.
			plan.ID, plan.Status, plan.GPU, plan.Price = types.StringUnknown(), types.StringUnknown(), types.ObjectUnknown(
				tfinstance.GPUType,
			), types.ObjectUnknown(
				tfinstance.PriceType,
			)
			plan.DesiredState = types.StringValue(test.wanted)
			if got := planConvergence(test.state, &plan, false); got != test.want {
				t.Errorf("step %s, want %s", got, test.want)
			}
			unknown := map[string]bool{}
			for _, field := range test.wantUnknown {
				unknown[field] = true
			}
			for field, value := range map[string]attr.Value{
				"id": plan.ID, "status": plan.Status, "stop_reason": plan.StopReason, "gpu": plan.GPU,
				"template_name": plan.TemplateName, "country": plan.Country,
				"price": plan.Price, "ssh": plan.SSH, "urls": plan.URLs, "created_at": plan.CreatedAt, "started_at": plan.StartedAt,
			} {
				if value.IsUnknown() != unknown[field] {
					t.Errorf("%s planned as %s, want unknown: %t", field, value, unknown[field])
				}
			}
		})
	}
}

func TestPlanConvergence_Outbid(t *testing.T) {
	state := stateOf("outbid", "running")
	state.Type = types.StringValue(string(rental.Interruptible))
	state.StartedAt = types.StringNull()
	plan := state
	got := planConvergence(state, &plan, false)
	if got != lifecycle.ActionStart || !plan.Price.IsUnknown() || !plan.StartedAt.IsUnknown() {
		t.Errorf(
			"step %s, price %s, started_at %s: a new bid has a new price, and it may run for the first time",
			got,
			plan.Price,
			plan.StartedAt,
		)
	}
}

func TestPlanConvergence_UnknownDesiredState(t *testing.T) {
	state := stateOf("running", "running")
	plan := state
	plan.DesiredState = types.StringUnknown()
	got := planConvergence(state, &plan, false)
	if got != lifecycle.ActionWait || !plan.Status.IsUnknown() || plan.ID.IsUnknown() {
		t.Errorf("step %s, status %s, id %s", got, plan.Status, plan.ID)
	}
}

// A change of creation-only arguments plans nothing, unless replace_on contains them.
func TestPlanCreateArguments(t *testing.T) {
	text := types.StringValue
	set := func(values ...attr.Value) types.Set { return types.SetValueMust(types.StringType, values) }
	noSet := types.SetNull(types.StringType)
	queryType := tfinstance.QueryType
	query := func(gpu, order types.String) types.Object { return queryFor(t, gpu, order) }
	noQuery, null := types.ObjectNull(queryType), types.StringNull()
	noFallback := types.ListNull(noQuery.Type(t.Context()))
	base := model{
		OfferID: text("a"), OfferQuery: noQuery, FallbackQueries: noFallback, ReplaceOn: noSet,
	}
	base.SSHKeyIDs = noSet
	byQuery := base
	byQuery.OfferID, byQuery.OfferQuery = types.StringNull(), query(text("rtx_4090"), null)
	with := func(m model, change func(*model)) model { change(&m); return m }
	terms := maps.Clone(query(null, null).Attributes())
	terms["min_gpus"] = types.Int64Value(2)
	twoGPUs := types.ObjectValueMust(queryType, terms)
	for name, test := range map[string]struct {
		imported    bool
		state, plan model
		want        model // where it differs from plan
		replaced    string
		warnings    int
	}{
		"unchanged":     {state: base, plan: base, want: base},
		"another offer": {state: base, plan: with(base, func(m *model) { m.OfferID = text("b") }), want: base},
		"another offer, named": {
			state: base, plan: with(base, func(m *model) { m.OfferID, m.ReplaceOn = text("b"), set(text(argOfferID)) }),
			want: with(base, func(m *model) { m.OfferID, m.ReplaceOn = text("b"), set(text(argOfferID)) }), replaced: argOfferID,
		},
		"an offer adopted after an import": {
			imported: true, state: with(base, func(m *model) { m.OfferID = types.StringNull() }), plan: base, want: base,
		},
		"adopted even when named": {
			imported: true,
			state:    with(base, func(m *model) { m.OfferID, m.ReplaceOn = types.StringNull(), set(text(argOfferID)) }),
			plan:     with(base, func(m *model) { m.ReplaceOn = set(text(argOfferID)) }),
			want:     with(base, func(m *model) { m.ReplaceOn = set(text(argOfferID)) }),
		},
		"a query instead of an offer": {state: base, plan: byQuery, want: byQuery},
		"a query that is not met instead of an offer": {
			state: base, plan: with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }),
			want:     with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }),
			replaced: argOfferQuery,
			warnings: 1,
		},
		"another order": {
			state: byQuery, plan: with(byQuery, func(m *model) { m.OfferQuery = query(text("rtx_4090"), text("dlperf")) }),
			want: byQuery, warnings: 1,
		},
		"another gpu": {
			state: byQuery, plan: with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }),
			want:     with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }),
			replaced: argOfferQuery,
			warnings: 1,
		},
		"an unchanged query that the server does not meet": {
			state: with(byQuery, func(m *model) { m.OfferQuery = twoGPUs }),
			plan:  with(byQuery, func(m *model) { m.OfferQuery = twoGPUs }),
			want:  with(byQuery, func(m *model) { m.OfferQuery = twoGPUs }),
		},
		"another gpu, imported": {
			imported: true,
			state: with(byQuery, func(m *model) {
				m.OfferQuery = types.ObjectNull(byQuery.OfferQuery.AttributeTypes(t.Context()))
			}),
			plan: with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }),
			want: with(byQuery, func(m *model) { m.OfferQuery = query(text("h100"), null) }), warnings: 1,
		},
		"another name of the gpu": {
			state: with(byQuery, func(m *model) { m.OfferQuery = query(text("rtx4090"), null) }),
			plan:  with(byQuery, func(m *model) { m.OfferQuery = query(text("rtx4090"), text("dlperf")) }),
			want:  with(byQuery, func(m *model) { m.OfferQuery = query(text("rtx4090"), null) }), warnings: 1,
		},
		"any gpu": {
			state: byQuery, plan: with(byQuery, func(m *model) { m.OfferQuery = query(null, null) }), want: byQuery, warnings: 1,
		},
		"another query, named": {
			state:    byQuery,
			plan:     with(byQuery, func(m *model) { m.OfferQuery, m.ReplaceOn = query(null, null), set(text(argOfferQuery)) }),
			want:     with(byQuery, func(m *model) { m.OfferQuery, m.ReplaceOn = query(null, null), set(text(argOfferQuery)) }),
			replaced: argOfferQuery,
		},
		"other keys": {
			state: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }),
			plan:  with(base, func(m *model) { m.SSHKeyIDs = set(text("b")) }),
			want:  with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }), warnings: 1,
		},
		"keys removed": {
			state: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }), plan: base, want: base, warnings: 1,
		},
		"keys configured now": {
			state: base, plan: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }),
			want: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }), warnings: 1,
		},
		"keys adopted after an import": {
			imported: true, state: base, plan: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }),
			want: with(base, func(m *model) { m.SSHKeyIDs = set(text("a")) }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, plan := test.state, test.plan
			state.GPU = types.ObjectValueMust(tfinstance.GPUType, map[string]attr.Value{
				"slug": text("rtx_4090"), "name": text("RTX 4090"), "count": types.Int64Value(1), "vram_gb": types.Int64Value(24),
			})
			if !test.imported {
				state.QuotedKopH = types.Int64Value(100)
			}
			replaced, diags := planCreateArguments(t.Context(), state, &plan)
			if !plan.OfferID.Equal(test.want.OfferID) || !plan.OfferQuery.Equal(test.want.OfferQuery) ||
				!plan.SSHKeyIDs.Equal(test.want.SSHKeyIDs) {
				t.Errorf(
					"planned %s, %s and %s, want %s, %s and %s",
					plan.OfferID,
					plan.OfferQuery,
					plan.SSHKeyIDs,
					test.want.OfferID,
					test.want.OfferQuery,
					test.want.SSHKeyIDs,
				)
			}
			if got := strings.Trim(replaced.String(), "[]"); got != test.replaced {
				t.Errorf("replaced for %q, want %q", got, test.replaced)
			}
			if diags.HasError() || diags.WarningsCount() != test.warnings {
				t.Errorf("diagnostics %v, want %d warnings", diags, test.warnings)
			}
		})
	}
}

// queryFor returns an offer_query with the arguments that are not null.
func queryFor(t *testing.T, gpu, order types.String) types.Object {
	t.Helper()
	queryType := tfinstance.QueryType
	values := map[string]attr.Value{}
	for name, kind := range queryType {
		value, err := kind.ValueFromTerraform(t.Context(), tftypes.NewValue(kind.TerraformType(t.Context()), nil))
		if err != nil {
			t.Fatal(err)
		}
		values[name] = value
	}
	values["order"] = order
	if !gpu.IsNull() {
		values["gpu"] = types.SetValueMust(types.StringType, []attr.Value{gpu})
	}
	return types.ObjectValueMust(queryType, values)
}

// A changed template, disk or type replaces an instance, but not one that was imported without that value,
// because the API omits it in every response.
func TestArguments_Changed(t *testing.T) {
	prior := tfinstance.Arguments{
		Template: types.StringValue("pytorch"), DiskGB: types.Int64Value(60),
		Type: types.StringValue("on_demand"),
	}
	plan := tfinstance.Arguments{
		Template: types.StringUnknown(), DiskGB: types.Int64Value(61),
		Type: types.StringValue("interruptible"),
	}
	if got := plan.Changed(prior).String(); got != "[template,disk_gb,type]" {
		t.Errorf("replaced for %s", got)
	}
	for name, state := range map[string]tfinstance.Arguments{"unchanged": plan, "imported without the values": {}} {
		if got := plan.Changed(state); len(got) > 0 {
			t.Errorf("%s: replaced for %s", name, got)
		}
	}
}
