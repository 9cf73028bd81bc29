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
			plan.ID, plan.Status = types.StringUnknown(), types.StringUnknown()
			plan.GPU, plan.Price = types.ObjectUnknown(tfinstance.GPUType), types.ObjectUnknown(tfinstance.PriceType)
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
		t.Errorf("%s, price %s, started_at %s: a new bid has a new price, and may be the first start",
			got, plan.Price, plan.StartedAt)
	}
}

// edit changes arguments of an instance.
type edit func(*model)

var oneRTX4090 = types.ObjectValueMust(tfinstance.GPUType, map[string]attr.Value{
	"slug": text("rtx_4090"), "name": text("RTX 4090"), "count": types.Int64Value(1), "vram_gb": types.Int64Value(24),
})

func text(value string) types.String { return types.StringValue(value) }

func set(values ...types.String) types.Set {
	all := []attr.Value{}
	for _, value := range values {
		all = append(all, value)
	}
	return types.SetValueMust(types.StringType, all)
}

func offer(id types.String) edit { return func(m *model) { m.OfferID = id } }

func query(t *testing.T, gpu, order types.String) edit {
	t.Helper()
	return func(m *model) { m.OfferID, m.OfferQuery = types.StringNull(), queryFor(t, gpu, order) }
}

func keys(ids ...types.String) edit { return func(m *model) { m.SSHKeyIDs = set(ids...) } }

func named(arguments ...types.String) edit { return func(m *model) { m.ReplaceOn = set(arguments...) } }

// A change of creation-only arguments plans nothing, unless replace_on contains them or the hardware differs.
func TestPlanCreateArguments(t *testing.T) {
	null, noQuery := types.StringNull(), types.ObjectNull(tfinstance.QueryType)
	byOffer := model{
		OfferID: text("a"), OfferQuery: noQuery, FallbackQueries: types.ListNull(noQuery.Type(t.Context())),
		ReplaceOn: types.SetNull(types.StringType),
	}
	byOffer.SSHKeyIDs, byOffer.GPU = types.SetNull(types.StringType), oneRTX4090
	gpu := func(slug string) edit { return query(t, text(slug), null) }
	twoGPUs := func(m *model) {
		terms := maps.Clone(queryFor(t, null, null).Attributes())
		terms["min_gpus"] = types.Int64Value(2)
		m.OfferID, m.OfferQuery = null, types.ObjectValueMust(tfinstance.QueryType, terms)
	}
	noTerms := func(m *model) { m.OfferID, m.OfferQuery = null, noQuery }
	for name, test := range map[string]struct {
		imported    bool
		state, plan []edit
		keeps       bool // the plan has the values of the state, not those of the configuration
		replaced    string
		warnings    int
	}{
		"unchanged":                        {},
		"another offer":                    {plan: []edit{offer(text("b"))}, keeps: true},
		"another offer, named":             {plan: []edit{offer(text("b")), named(text(argOfferID))}, replaced: argOfferID},
		"an offer adopted after an import": {imported: true, state: []edit{offer(null)}},
		"adopted even when named": {
			imported: true, state: []edit{offer(null)}, plan: []edit{named(text(argOfferID))},
		},
		"a query instead of an offer":        {plan: []edit{gpu("rtx_4090")}},
		"an unmet query instead of an offer": {plan: []edit{gpu("h100")}, replaced: argOfferQuery, warnings: 1},
		"an unchanged query that is not met": {state: []edit{twoGPUs}, plan: []edit{twoGPUs}},
		"another gpu, imported": {
			imported: true, state: []edit{noTerms}, plan: []edit{gpu("h100")},
		},
		"keys removed":        {state: []edit{keys(text("a"))}, warnings: 1},
		"keys configured now": {plan: []edit{keys(text("a"))}, warnings: 1},
		"other keys": {
			state: []edit{keys(text("a"))}, plan: []edit{keys(text("b"))}, keeps: true, warnings: 1,
		},
		"keys adopted after an import": {imported: true, plan: []edit{keys(text("a"))}},
		"any gpu": {
			state: []edit{gpu("rtx_4090")}, plan: []edit{query(t, null, null)}, keeps: true, warnings: 1,
		},
		"another order": {
			state: []edit{gpu("rtx_4090")}, plan: []edit{query(t, text("rtx_4090"), text("dlperf"))}, keeps: true, warnings: 1,
		},
		"another gpu": {state: []edit{gpu("rtx_4090")}, plan: []edit{gpu("h100")}, replaced: argOfferQuery, warnings: 1},
		"another name of the gpu": {
			state: []edit{gpu("rtx4090")}, plan: []edit{query(t, text("rtx4090"), text("dlperf"))}, keeps: true, warnings: 1,
		},
		"another query, named": {
			state: []edit{gpu("rtx_4090")}, plan: []edit{query(t, null, null), named(text(argOfferQuery))},
			replaced: argOfferQuery,
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, plan := byOffer, byOffer
			for _, change := range test.state {
				change(&state)
			}
			for _, change := range test.plan {
				change(&plan)
			}
			if !test.imported {
				state.QuotedKopH = types.Int64Value(100)
			}
			want := plan
			if test.keeps {
				want = state
			}
			replaced, diags := planCreateArguments(t.Context(), state, &plan)
			if !plan.OfferID.Equal(want.OfferID) || !plan.OfferQuery.Equal(want.OfferQuery) ||
				!plan.SSHKeyIDs.Equal(want.SSHKeyIDs) {
				t.Errorf("planned %s, %s and %s, want %s, %s and %s", plan.OfferID, plan.OfferQuery, plan.SSHKeyIDs,
					want.OfferID, want.OfferQuery, want.SSHKeyIDs)
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
