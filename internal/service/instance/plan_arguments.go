package instance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// planCreateArguments plans the arguments that apply only at creation: it keeps the prior value of a changed argument,
// unless replace_on contains the argument. It returns the arguments that replace the instance. If an unknown value may
// require a replacement, it plans one, because the plan at apply must not contradict this one.
func planCreateArguments(
	ctx context.Context, state model, plan *model,
) (replacedBy path.Paths, diags diag.Diagnostics) {
	created := !state.QuotedKopH.IsNull() // by this provider, not imported
	if !created && state.OfferQuery.Equal(state.importedQuery(ctx)) {
		state.OfferQuery = types.ObjectNull(tfinstance.QueryType) // completeImport has set it: use the configured one
	}
	id := state.ID.ValueString()
	keep := func(name string, before, now attr.Value) (kept bool) {
		if before.Equal(now) || before.IsNull() && !created { // after an import, the plan uses the configured value
			return false
		}
		if mayReplaceOn(*plan, name) {
			replacedBy = append(replacedBy, path.Root(name))
			return false
		}
		// Terraform accepts only a configured value in place of null, and in place of a value that may be null in the end.
		// The plan uses it without a request.
		return !before.IsNull() && !now.IsNull() && !now.IsUnknown()
	}
	if keep(argOfferID, state.OfferID, plan.OfferID) {
		plan.OfferID = state.OfferID
	}
	missed, unknown := missedTerm(ctx, state, *plan)
	if keep(argOfferQuery, state.OfferQuery, plan.OfferQuery) && missed == "" && !unknown {
		if tfinstance.FullyKnown(ctx, plan.OfferQuery) {
			addNotApplied(&diags, argOfferQuery, id)
		}
		plan.OfferQuery = state.OfferQuery
	}
	if (missed != "" || unknown) && !slices.ContainsFunc(replacedBy, path.Root(argOfferQuery).Equal) {
		replacedBy = append(replacedBy, path.Root(argOfferQuery))
		if missed != "" {
			addQueryMissed(&diags, id, missed)
		}
	}
	changed := !plan.SSHKeyIDs.IsUnknown() && !plan.SSHKeyIDs.Equal(state.SSHKeyIDs)
	if created && changed && !mayReplaceOn(*plan, argSSHKeyIDs) {
		addNotApplied(&diags, argSSHKeyIDs, id)
	}
	if keep(argSSHKeyIDs, state.SSHKeyIDs, plan.SSHKeyIDs) {
		plan.SSHKeyIDs = state.SSHKeyIDs
	}
	return replacedBy, diags
}

// mayReplaceOn reports whether replace_on contains an argument, or may do so because it is unknown.
func mayReplaceOn(plan model, name string) bool {
	return plan.ReplaceOn.IsUnknown() || slices.ContainsFunc(plan.ReplaceOn.Elements(), func(element attr.Value) bool {
		return element.IsUnknown() || element.Equal(types.StringValue(name))
	})
}

// missedTerm returns the hardware term of a changed offer_query that the instance does not meet, empty if it meets all
// terms of that query or of a fallback query, and whether that depends on an unknown value.
func missedTerm(ctx context.Context, state, plan model) (missed tfkit.Text, unknown bool) {
	if plan.OfferQuery.Equal(state.OfferQuery) || plan.OfferQuery.IsNull() || state.GPU.IsNull() {
		return "", false
	}
	inst := state.instance()
	for i, element := range append([]attr.Value{plan.OfferQuery}, plan.FallbackQueries.Elements()...) {
		object, ok := element.(types.Object)
		if !ok || object.IsUnknown() || hasUnknownHardware(ctx, object) {
			unknown = true
			continue
		}
		if i == 0 {
			object = changedTerms(ctx, object, state.OfferQuery)
		}
		query := tfkit.OfferQuery(object)
		if acceptsOtherSlug(state, inst.GPU.Slug, query.GPU) {
			query.GPU = nil
		}
		term := missedByInstance(inst, query)
		if term == "" {
			return "", false
		}
		if missed == "" {
			missed = term
		}
	}
	if unknown || plan.FallbackQueries.IsUnknown() {
		return "", true
	}
	return missed, false
}

// acceptsOtherSlug reports whether the instance may meet the term gpu of a query despite a different slug: the API may
// return different slugs for the GPU of an instance and for the GPU of its offer. An imported instance has no query to
// compare with.
func acceptsOtherSlug(state model, slug string, gpus []string) bool {
	if len(gpus) == 0 || slices.Contains(gpus, slug) {
		return false
	}
	if state.OfferQuery.IsNull() {
		return state.QuotedKopH.IsNull()
	}
	var prior []string
	for _, query := range state.queries() {
		prior = append(prior, query.GPU...)
	}
	inPrior := func(gpu string) bool { return slices.Contains(prior, gpu) }
	return !inPrior(slug) && slices.ContainsFunc(gpus, inPrior)
}

// hasUnknownHardware reports whether a hardware term of a query is not fully known.
func hasUnknownHardware(ctx context.Context, query types.Object) bool {
	terms := query.Attributes()
	return slices.ContainsFunc(hardwareTerms, func(name string) bool {
		return terms[name] != nil && !tfinstance.FullyKnown(ctx, terms[name])
	})
}
