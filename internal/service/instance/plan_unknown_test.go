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
	unknown, null := types.StringUnknown(), types.StringNull()
	noQuery := types.ObjectNull(tfinstance.QueryType)
	gpu := func(slug types.String) edit { return query(t, slug, null) }
	server := func(status rental.InstanceStatus) model {
		m := stateOf(status, "running")
		m.OfferID, m.OfferQuery, m.GPU = null, queryFor(t, text("rtx_4090"), null), oneRTX4090
		m.ReplaceOn, m.QuotedKopH = types.SetNull(types.StringType), types.Int64Value(100)
		return m
	}
	byOffer := server("running")
	byOffer.OfferID, byOffer.OfferQuery, byOffer.SSHKeyIDs = text("a"), noQuery, set(text("k"))
	outbid := server("outbid")
	outbid.Type = text(string(rental.Interruptible))
	same := func(*model) {}
	noKeys := func(m *model) { m.SSHKeyIDs = types.SetNull(types.StringType) }
	unknownReplaceOn := func(m *model) { m.ReplaceOn = types.SetUnknown(types.StringType) }
	desired := func(state types.String) edit { return func(m *model) { m.DesiredState = state } }
	onOutbid := func(policy types.String) edit { return func(m *model) { m.OnOutbid = policy } }
	both := func(one, two edit) edit { return func(m *model) { one(m); two(m) } }
	otherOffer, otherKey := offer(text("b")), keys(text("l"))
	for name, test := range map[string]struct {
		state    model
		unknown  edit
		finally  []edit
		replaces bool
	}{
		"gpu": {server("running"), gpu(unknown), []edit{same, gpu(text("h100"))}, true},
		"another term than hardware": {
			server("running"), query(t, text("rtx_4090"), unknown), []edit{same, query(t, text("rtx_4090"), text("price"))},
			false,
		},
		"offer_query": {
			server("running"), func(m *model) { m.OfferQuery = types.ObjectUnknown(tfinstance.QueryType) },
			[]edit{same, gpu(text("h100")), func(m *model) { m.OfferQuery = noQuery }}, true,
		},
		"offer_id": {byOffer, offer(unknown), []edit{same, otherOffer, offer(null)}, false},
		"ssh_key_ids": {
			byOffer, func(m *model) { m.SSHKeyIDs = types.SetUnknown(types.StringType) }, []edit{same, keys(), noKeys}, false,
		},
		"an SSH key": {byOffer, keys(unknown), []edit{same, otherKey}, false},
		"replace_on, nothing else changed": {
			byOffer, unknownReplaceOn, []edit{named(text(argOfferID), text(argSSHKeyIDs))}, false,
		},
		"replace_on, another offer": {
			byOffer, both(otherOffer, unknownReplaceOn),
			[]edit{both(otherOffer, named(text(argOfferID))), both(otherOffer, named())}, true,
		},
		"an element of replace_on, other keys": {
			byOffer, both(otherKey, named(unknown)), []edit{both(otherKey, named(text(argSSHKeyIDs)))}, true,
		},
		"desired_state of a running server": {
			server("running"), desired(unknown), []edit{same, desired(text("stopped"))}, false,
		},
		"desired_state of a failed server": {
			server("failed"), desired(unknown), []edit{same, desired(text("stopped"))}, true,
		},
		"on_outbid of an outbid server": {
			outbid, onOutbid(unknown), []edit{same, onOutbid(text("keep")), onOutbid(text("replace"))}, true,
		},
		"on_outbid of a running server": {server("running"), onOutbid(unknown), []edit{onOutbid(text("replace"))}, false},
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
