package instance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// A plan with unknown values is valid for every final value: Terraform accepts neither an unplanned replacement nor a
// change of a value that was known at plan.
func TestPlan_UnknownValues(t *testing.T) {
	text := types.StringValue
	set := func(values ...attr.Value) types.Set { return types.SetValueMust(types.StringType, values) }
	gpu := func(slug types.String) types.Object { return queryFor(t, slug, types.StringNull()) }
	none := queryFor(t, types.StringNull(), types.StringNull())
	noQuery := types.ObjectNull(none.AttributeTypes(t.Context()))
	server := func(status rental.InstanceStatus) model {
		m := stateOf(status, "running")
		m.OfferID, m.OfferQuery = types.StringNull(), gpu(text("rtx_4090"))
		m.ReplaceOn, m.QuotedKopH = types.SetNull(types.StringType), types.Int64Value(100)
		m.GPU = types.ObjectValueMust(tfinstance.GPUType, map[string]attr.Value{
			"slug": text("rtx_4090"), "name": text("RTX 4090"), "count": types.Int64Value(1), "vram_gb": types.Int64Value(24),
		})
		return m
	}
	named := server("running")
	named.OfferID, named.OfferQuery, named.SSHKeyIDs = text("a"), noQuery, set(text("k"))
	outbid := server("outbid")
	outbid.Type = text(string(rental.Interruptible))

	type edit = func(*model)
	for name, test := range map[string]struct {
		state    model
		unknown  edit
		finally  []edit
		replaces bool
	}{
		"gpu": {
			server("running"), func(m *model) { m.OfferQuery = gpu(types.StringUnknown()) },
			[]edit{func(*model) {}, func(m *model) { m.OfferQuery = gpu(text("h100")) }},
			true,
		},
		"another term than hardware": {
			server("running"), func(m *model) { m.OfferQuery = queryFor(t, text("rtx_4090"), types.StringUnknown()) },
			[]edit{func(*model) {}, func(m *model) { m.OfferQuery = queryFor(t, text("rtx_4090"), text("price")) }},
			false,
		},
		"offer_query": {
			server("running"), func(m *model) { m.OfferQuery = types.ObjectUnknown(noQuery.AttributeTypes(t.Context())) },
			[]edit{
				func(*model) {}, func(m *model) { m.OfferQuery = gpu(text("h100")) }, func(m *model) { m.OfferQuery = noQuery },
			},
			true,
		},
		"offer_id": {
			named, func(m *model) { m.OfferID = types.StringUnknown() },
			[]edit{func(*model) {}, func(m *model) { m.OfferID = text("b") }, func(m *model) { m.OfferID = types.StringNull() }},
			false,
		},
		"ssh_key_ids": {
			named, func(m *model) { m.SSHKeyIDs = types.SetUnknown(types.StringType) },
			[]edit{
				func(*model) {}, func(m *model) { m.SSHKeyIDs = set() },
				func(m *model) { m.SSHKeyIDs = types.SetNull(types.StringType) },
			},
			false,
		},
		"an SSH key": {
			named, func(m *model) { m.SSHKeyIDs = set(types.StringUnknown()) },
			[]edit{func(*model) {}, func(m *model) { m.SSHKeyIDs = set(text("l")) }},
			false,
		},
		"replace_on, nothing else changed": {
			named, func(m *model) { m.ReplaceOn = types.SetUnknown(types.StringType) },
			[]edit{func(m *model) { m.ReplaceOn = set(text(argOfferID), text(argSSHKeyIDs)) }},
			false,
		},
		"replace_on, another offer": {
			named, func(m *model) { m.OfferID, m.ReplaceOn = text("b"), types.SetUnknown(types.StringType) },
			[]edit{
				func(m *model) { m.OfferID, m.ReplaceOn = text("b"), set(text(argOfferID)) },
				func(m *model) { m.OfferID, m.ReplaceOn = text("b"), set() },
			},
			true,
		},
		"an element of replace_on, other keys": {
			named, func(m *model) { m.SSHKeyIDs, m.ReplaceOn = set(text("l")), set(types.StringUnknown()) },
			[]edit{func(m *model) { m.SSHKeyIDs, m.ReplaceOn = set(text("l")), set(text(argSSHKeyIDs)) }},
			true,
		},
		"desired_state of a running server": {
			server("running"), func(m *model) { m.DesiredState = types.StringUnknown() },
			[]edit{func(*model) {}, func(m *model) { m.DesiredState = text("stopped") }},
			false,
		},
		"desired_state of a failed server": {
			server("failed"), func(m *model) { m.DesiredState = types.StringUnknown() },
			[]edit{func(*model) {}, func(m *model) { m.DesiredState = text("stopped") }},
			true,
		},
		"on_outbid of an outbid server": {
			outbid, func(m *model) { m.OnOutbid = types.StringUnknown() },
			[]edit{
				func(*model) {}, func(m *model) { m.OnOutbid = text("keep") }, func(m *model) { m.OnOutbid = text("replace") },
			},
			true,
		},
		"on_outbid of a running server": {
			server("running"), func(m *model) { m.OnOutbid = types.StringUnknown() },
			[]edit{func(m *model) { m.OnOutbid = text("replace") }},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := func(change edit) (model, bool) {
				m := test.state
				change(&m)
				replaced, diags := planCreateArguments(t.Context(), test.state, &m)
				if diags.HasError() {
					t.Fatal(diags)
				}
				return m, planConvergence(test.state, &m, false) == lifecycle.ActionReplace || len(replaced) > 0
			}
			first, replaces := plan(test.unknown)
			if replaces != test.replaces {
				t.Fatalf("planned a replacement: %t, want %t", replaces, test.replaces)
			}
			if replaces {
				return // the plan at apply is one of a new server
			}
			for _, change := range test.finally {
				last, replaces := plan(change)
				if replaces {
					t.Error("the plan at apply replaces the server")
				}
				for name, values := range map[string][2]attr.Value{
					"offer_id": {first.OfferID, last.OfferID}, "offer_query": {first.OfferQuery, last.OfferQuery},
					"ssh_key_ids": {first.SSHKeyIDs, last.SSHKeyIDs}, "status": {first.Status, last.Status},
					"price": {first.Price, last.Price}, "ssh": {first.SSH, last.SSH}, "urls": {first.URLs, last.URLs},
				} {
					if !values[0].IsUnknown() && !values[0].Equal(values[1]) {
						t.Errorf("%s is planned as %s and then as %s", name, values[0], values[1])
					}
				}
			}
		})
	}
}
