package instance

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// checkCreate checks an instance at plan, before its creation costs money. replaced is the instance that it replaces;
// a new instance replaces none. For a replacement, a problem that prevents the creation is an error, because the apply
// destroys the old instance first.
func (r *instanceResource) checkCreate(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) {
	hasKey := r.keySeed(plan, diags).Chosen()
	if !r.Meta.Ready() {
		return
	}
	tfinstance.CheckCreation(ctx, r.Meta, plan.Arguments, replaced != nil, diags)
	if diags.HasError() {
		return
	}
	r.checkName(ctx, plan, hasKey, replaced, diags)
	r.checkPrice(ctx, plan, replaced, diags)
}

// checkName warns of active instances that have the planned name: an interrupted apply may have rented one of them.
// hasKey: a later apply recovers the planned instance by its key.
func (r *instanceResource) checkName(
	ctx context.Context, plan model, hasKey bool, replaced *replacedInstance, diags *diag.Diagnostics,
) {
	name := plan.Name.ValueString()
	if name == "" {
		return
	}
	var own []string
	if replaced != nil {
		own = append(own, replaced.ID)
	}
	same := func(other string) bool { return tfkit.SameText(other, name) }
	if found, err := tfinstance.Unclaimed(ctx, r.Meta, same, own...); len(found) > 0 {
		addDuplicateName(diags, found, hasKey)
	} else {
		tfkit.WarnUnchecked(diags, err)
	}
}

// checkPrice checks the current state of the offer and the spending limits. For a new instance a missing offer is a
// warning: after a crash, the instance that the crashed run rented may be the reason, and an error would prevent the
// next apply from recovering it. For a replacement it is an error.
func (r *instanceResource) checkPrice(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) {
	account := r.Meta.Spending
	if replaced == nil && !account.Active() && plan.MaxPriceKopH.IsNull() {
		return
	}
	price, err := r.estimatePrice(ctx, plan, replaced, diags)
	if err != nil && (replaced != nil || account.Enforced()) {
		tfkit.AddAPIError(diags, "determine the price of the planned instance", err)
	} else {
		tfkit.WarnUnchecked(diags, err)
	}
	if price == 0 {
		return
	}
	change := spending.Change{StartsKopH: price, AddedKopH: price}
	if replaced != nil {
		change.Replaced = []string{replaced.ID}
	}
	tfinstance.AddSpendingProblems(diags, account.Check(ctx, change))
}

// estimatePrice returns the current price of the planned instance in kopecks per hour. It is 0 if an argument is
// unknown, if there is no offer, or after an error of the API.
func (r *instanceResource) estimatePrice(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, err error) {
	switch {
	case plan.Type.IsUnknown() || plan.MaxPriceKopH.IsUnknown() || plan.OfferID.IsUnknown():
		return 0, nil
	case plan.OfferID.IsNull():
		return r.estimateQuery(ctx, plan, replaced, diags)
	}
	return r.estimateOffer(ctx, plan, replaced, diags)
}

// estimateOffer checks the offer of the plan. The offer that the replaced instance was rented from is not available
// while that instance exists, and the API does not guarantee that it is available afterwards.
func (r *instanceResource) estimateOffer(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, err error) {
	id, kind := plan.OfferID.ValueString(), rental.RentalType(plan.Type.ValueString())
	own := replaced != nil && replaced.OfferID == id
	var offer rental.Offer
	var found bool
	if own {
		offer, found, err = r.Meta.Cache.ReadOffer(ctx, id)
	} else {
		offer, found, err = r.Meta.Cache.Offer(ctx, id, kind)
	}
	if err != nil {
		return 0, err
	}
	candidate, err := lifecycle.NewCandidate(offer, plan.Order(), plan.MaxPriceKopH.ValueInt64())
	_, unavailable := errors.AsType[lifecycle.OfferUnavailable](err)
	available := found && (own || !unavailable)
	switch maximum, disk := offer.Disk.MaxGB, plan.DiskGB.ValueInt64(); {
	case !available:
		addNoOffer(diags, argOfferID, replaced, tfkit.Textf("Offer %s is not available now.", id), chooseOffer)
	case err != nil && !unavailable:
		r.addNotCreated(ctx, diags, nil, err)
	case maximum != nil && disk > *maximum:
		addDiskAboveMaximum(diags, id, *maximum, disk)
	default:
		if own {
			addOwnOffer(diags, replaced)
		}
		return candidate.KopH, nil
	}
	return 0, nil
}

// estimateQuery checks the offer that the query currently selects.
func (r *instanceResource) estimateQuery(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, err error) {
	if plan.OfferQuery.IsUnknown() {
		return 0, nil
	}
	demand := plan.demand()
	if replaced != nil {
		demand.Except = map[string]bool{replaced.OfferID: true}
	}
	choice, err := r.Meta.Market.Estimate(ctx, demand)
	switch {
	case err != nil:
		return 0, errors.Unwrap(err) // the error of the API
	case len(choice.Candidates) > 0:
		return choice.Candidates[0].KopH, nil
	case !tfinstance.FullyKnown(ctx, plan.FallbackQueries):
		return 0, nil
	}
	nextStep := tfinstance.WidenQuery
	if wait := plan.Wait(); wait > 0 && replaced == nil {
		nextStep = tfkit.Textf("It waits for an offer, at most %s (wait_for_offer).", wait)
	}
	addNoOffer(diags, argOfferQuery, replaced, "No available offer matches the query.",
		nextStep+tfinstance.Explain(ctx, r.Meta, demand.Queries))
	return 0, nil
}
