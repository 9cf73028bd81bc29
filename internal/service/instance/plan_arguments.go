package instance

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The arguments that act when a server is rented and not afterwards.
const (
	argOfferID    = "offer_id"
	argOfferQuery = "offer_query"
	argSSHKeyIDs  = "ssh_key_ids"
)

// planArguments lets a changed creation-only argument plan nothing, unless
// replace_on names it: the state keeps what the server was rented with. It
// returns what the plan replaces the server for.
func planArguments(ctx context.Context, state model, plan *model) (replaced path.Paths, diags diag.Diagnostics) {
	rented := !state.QuotedKopH.IsNull() // by this provider, not imported
	if !rented {
		diags.Append(forgetStandIn(ctx, &state)...)
	}
	keep := func(name string, before, now attr.Value) (kept bool) {
		switch {
		case before.Equal(now):
		case before.IsNull() && !rented:
			// After an import the state knows none: the configured one is adopted.
		case replaceOn(*plan, name):
			replaced = append(replaced, path.Root(name))
		case before.IsNull() || now.IsNull():
			// Terraform wants what the configuration has: it is taken over, without a request.
			return false
		default:
			return true
		}
		return false
	}
	if keep(argOfferID, state.OfferID, plan.OfferID) {
		plan.OfferID = state.OfferID
	}
	misses, problems := missedTerms(ctx, state, *plan)
	diags.Append(problems...)
	configuredQuery := plan.OfferQuery
	if keep(argOfferQuery, state.OfferQuery, plan.OfferQuery) && misses == "" {
		plan.OfferQuery = state.OfferQuery
		if !configuredQuery.IsUnknown() {
			diags.AddAttributeWarning(path.Root(argOfferQuery), "The changed offer_query acts at the next rental only",
				fmt.Sprintf("Instance %s was rented with other terms and meets the hardware terms of these, so it stays as it is. To have another server now, name offer_query in replace_on, or "+
					"use -replace.", state.ID.ValueString()))
		}
	}
	if misses != "" && !slices.ContainsFunc(replaced, path.Root(argOfferQuery).Equal) {
		replaced = append(replaced, path.Root(argOfferQuery))
		diags.AddAttributeWarning(path.Root(argOfferQuery), "The server no longer meets its offer_query",
			fmt.Sprintf("Instance %s does not meet %s. The plan replaces it: its disk and data are lost.", state.ID.ValueString(), misses))
	}
	configuredKeys := plan.SSHKeyIDs
	if keep(argSSHKeyIDs, state.SSHKeyIDs, plan.SSHKeyIDs) {
		plan.SSHKeyIDs = state.SSHKeyIDs
	}
	if rented && !configuredKeys.IsUnknown() && !configuredKeys.Equal(state.SSHKeyIDs) && !replaceOn(*plan, argSSHKeyIDs) {
		diags.AddAttributeWarning(path.Root(argSSHKeyIDs), "SSH keys of a running server stay as they are",
			"The service attaches keys when a server is created and cannot change them later. The configured keys are not applied to instance "+
				state.ID.ValueString()+". To have them, name ssh_key_ids in replace_on, use -replace, or change authorized_keys on the server itself.")
	}
	return replaced, diags
}

// forgetStandIn takes out of the state of an imported server what only stands for how
// it was rented, so that anything else is adopted.
func forgetStandIn(ctx context.Context, state *model) diag.Diagnostics {
	if state.OfferQuery.IsNull() || state.GPU.IsNull() {
		return nil
	}
	have, diags := hardwareOf(ctx, *state)
	query, problems := standIn(ctx, have)
	diags.Append(problems...)
	if state.OfferQuery.Equal(query) {
		state.OfferQuery = types.ObjectNull(query.AttributeTypes(ctx))
	}
	return diags
}

// replaceOn says whether a change of the argument is to replace the server.
func replaceOn(plan model, name string) bool {
	return slices.ContainsFunc(plan.ReplaceOn.Elements(), types.StringValue(name).Equal)
}

// missedTerms says which hardware term of a changed query the server does not
// meet, empty for none. Terms that are not known yet are not held against it.
func missedTerms(ctx context.Context, state, plan model) (string, diag.Diagnostics) {
	unchanged := plan.OfferQuery.Equal(state.OfferQuery)
	if unchanged || plan.OfferQuery.IsNull() || plan.OfferQuery.IsUnknown() || state.GPU.IsNull() {
		return "", nil
	}
	query, diags := offerQuery(ctx, plan)
	if diags.HasError() {
		return "", diags
	}
	have, problems := hardwareOf(ctx, state)
	diags.Append(problems...)
	return have.misses(query), diags
}
