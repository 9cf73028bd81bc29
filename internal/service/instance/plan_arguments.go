package instance

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// The arguments that act when a server is rented and not afterwards.
const (
	argOfferID    = "offer_id"
	argOfferQuery = "offer_query"
	argSSHKeyIDs  = "ssh_key_ids"
)

// planArguments lets a changed creation-only argument plan nothing, unless
// replace_on names it: the state keeps what the server was rented with. It
// returns what the plan replaces the server for. An unknown value that may require
// a replacement requires one: the plan at apply must not contradict.
func planArguments(ctx context.Context, state model, plan *model) (replaced path.Paths, diags diag.Diagnostics) {
	rented := !state.QuotedKopH.IsNull() // by this provider, not imported
	if !rented {
		diags.Append(forgetStandIn(ctx, &state)...)
	}
	id := state.ID.ValueString()
	keep := func(name string, before, now attr.Value) (kept bool) {
		named, known := replaceOn(*plan, name)
		switch {
		case before.Equal(now):
		case before.IsNull() && !rented:
			// After an import the state knows none: the configured one is adopted.
		case named:
			replaced = append(replaced, path.Root(name))
		case !known:
			replaced = append(replaced, path.Root(name))
			addReplacedForUnknown(&diags, "replace_on", id)
		case before.IsNull() || now.IsNull() || now.IsUnknown():
			// Terraform accepts only the configured value, which may turn out to be null. It is adopted without a request.
			return false
		default:
			return true
		}
		return false
	}
	if keep(argOfferID, state.OfferID, plan.OfferID) {
		plan.OfferID = state.OfferID
	}
	misses, unknown, problems := missedTerms(ctx, state, *plan)
	diags.Append(problems...)
	configuredQuery := plan.OfferQuery
	if keep(argOfferQuery, state.OfferQuery, plan.OfferQuery) && misses == "" && !unknown {
		plan.OfferQuery = state.OfferQuery
		if fullyKnown(ctx, configuredQuery) {
			diags.AddAttributeWarning(path.Root(argOfferQuery), "The changed offer_query acts at the next rental only",
				fmt.Sprintf("Instance %s was rented with other terms and meets the hardware terms of these, so it stays as it is. To have another server now, name offer_query in replace_on, or "+
					"use -replace.", tfkit.OneLine(id)))
		}
	}
	if !slices.ContainsFunc(replaced, path.Root(argOfferQuery).Equal) {
		switch {
		case misses != "":
			replaced = append(replaced, path.Root(argOfferQuery))
			diags.AddAttributeWarning(path.Root(argOfferQuery), "The server no longer meets its offer_query",
				fmt.Sprintf("Instance %s does not meet %s. The plan replaces it: its disk and data are lost.", tfkit.OneLine(id), misses))
		case unknown:
			replaced = append(replaced, path.Root(argOfferQuery))
			addReplacedForUnknown(&diags, argOfferQuery, id)
		}
	}
	configuredKeys := plan.SSHKeyIDs
	if keep(argSSHKeyIDs, state.SSHKeyIDs, plan.SSHKeyIDs) {
		plan.SSHKeyIDs = state.SSHKeyIDs
	}
	named, known := replaceOn(*plan, argSSHKeyIDs)
	if rented && !configuredKeys.IsUnknown() && !configuredKeys.Equal(state.SSHKeyIDs) && !named && known {
		diags.AddAttributeWarning(path.Root(argSSHKeyIDs), "SSH keys of a running server stay as they are",
			"The service attaches keys when a server is created and cannot change them later. The configured keys are not applied to instance "+
				tfkit.OneLine(id)+". To have them, name ssh_key_ids in replace_on, use -replace, or change authorized_keys on the server itself.")
	}
	return replaced, diags
}

// fullyKnown reports whether nothing in the value is unknown.
func fullyKnown(ctx context.Context, value attr.Value) bool {
	raw, err := value.ToTerraformValue(ctx)
	return err == nil && raw.IsFullyKnown()
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

// replaceOn reports whether a change of the argument replaces the server, and whether that is known.
func replaceOn(plan model, name string) (named, known bool) {
	elements := plan.ReplaceOn.Elements()
	named = slices.ContainsFunc(elements, types.StringValue(name).Equal)
	return named, named || !plan.ReplaceOn.IsUnknown() && !slices.ContainsFunc(elements, attr.Value.IsUnknown)
}

// missedTerms returns which hardware term of a changed query the server does not
// meet, empty for none, and whether there are hardware terms that are not known yet.
func missedTerms(ctx context.Context, state, plan model) (missed string, unknown bool, diags diag.Diagnostics) {
	unchanged := plan.OfferQuery.Equal(state.OfferQuery)
	if unchanged || plan.OfferQuery.IsNull() || state.GPU.IsNull() {
		return "", false, nil
	}
	if plan.OfferQuery.IsUnknown() || hasUnknownHardware(ctx, plan.OfferQuery) {
		return "", true, nil
	}
	query, diags := offerQuery(ctx, plan)
	if diags.HasError() {
		return "", false, diags
	}
	have, problems := hardwareOf(ctx, state)
	diags.Append(problems...)
	problems = acceptOtherSlug(ctx, state, have, &query)
	diags.Append(problems...)
	return have.misses(query), false, diags
}

// acceptOtherSlug drops the term gpu where the slug of the server does not show that it misses the term: the service can
// use another slug for the GPU of a server than for that of its offer.
func acceptOtherSlug(ctx context.Context, state model, have hardware, query *rental.OfferQuery) (diags diag.Diagnostics) {
	if len(query.GPU) == 0 || slices.Contains(query.GPU, have.gpu) {
		return nil
	}
	if state.OfferQuery.IsNull() {
		if state.QuotedKopH.IsNull() { // imported: the query is adopted
			diags.AddAttributeWarning(path.Root(argOfferQuery), "The GPU of the imported server is not in offer_query.gpu",
				fmt.Sprintf("Instance %s has the GPU %q. This can be another name for the same GPU, so the instance is kept. To have another one, use -replace.",
					tfkit.OneLine(state.ID.ValueString()), tfkit.OneLine(have.gpu)))
			query.GPU = nil
		}
		return diags
	}
	prior, diags := offerQuery(ctx, state)
	rentedFrom := func(gpu string) bool { return slices.Contains(prior.GPU, gpu) }
	if !rentedFrom(have.gpu) && slices.ContainsFunc(query.GPU, rentedFrom) {
		query.GPU = nil
	}
	return diags
}

// hasUnknownHardware reports whether a term that decides about a replacement is not fully known.
func hasUnknownHardware(ctx context.Context, query types.Object) bool {
	terms := query.Attributes()
	return slices.ContainsFunc([]string{"gpu", "num_gpus", "min_gpus", "min_vram_gb", "country"}, func(name string) bool {
		return terms[name] != nil && !fullyKnown(ctx, terms[name])
	})
}
