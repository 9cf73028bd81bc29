package instance

import (
	"cmp"
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// checkCreate checks an instance at plan, before its creation costs money. replaced is the instance that it replaces,
// nil for none. For a replacement, a problem that prevents the creation is an error, because the apply destroys the old
// instance first.
func (r *instanceResource) checkCreate(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) {
	tfinstance.CheckTemplate(ctx, r.Meta, plan.templateArguments(), replaced != nil, diags)
	if diags.HasError() {
		return
	}
	r.checkGPUs(ctx, plan, diags)
	r.checkName(ctx, plan, replaced, diags)
	r.checkPrice(ctx, plan, replaced, diags)
}

// checkName warns of active instances that have the planned name and that this process has not read from the state: an
// interrupted run may have rented one of them.
func (r *instanceResource) checkName(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) {
	found, err := r.duplicateNames(ctx, plan.Name.ValueString(), replaced)
	if len(found) == 0 {
		if rental.IsListTooLong(err) && !r.hasKey(plan) {
			addNamesUnchecked(diags, err)
		}
		r.Meta.WarnUnchecked(err, diags)
		return
	}
	found = tfkit.SortedFunc(found, func(a, b *rental.Instance) int { // one of a killed run is among the newest
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	addDuplicateName(diags, found, r.hasKey(plan), r.ownTemplateOf(ctx, found[0], plan))
}

// hasKey reports whether a later apply recovers the planned instance by its key.
func (r *instanceResource) hasKey(plan model) bool {
	return !plan.IdempotencyKey.IsNull() || !r.Meta.IdempotencyPrefix.IsNull()
}

// duplicateNames returns active instances with the name that this process has not read from the state. If it returns an
// error, the result may be incomplete.
func (r *instanceResource) duplicateNames(
	ctx context.Context, name string, replaced *replacedInstance,
) (found []rental.Instance, err error) {
	if name == "" {
		return nil, nil
	}
	active, err := r.Meta.Cache.Instances.Recent(ctx)
	if active == nil {
		return nil, err
	}
	for _, inst := range active.Items {
		if inst.NameString() == name && (replaced == nil || replaced.ID != inst.ID) && !inst.Destroyed() &&
			!r.Meta.Owners.Has(inst.ID) {
			found = append(found, inst)
		}
	}
	return found, err
}

// ownTemplateOf returns the slug of the account's own template that an instance was created from. It is empty if the
// plan has the same template. The user must import it with the instance, which a new template would replace.
func (r *instanceResource) ownTemplateOf(ctx context.Context, inst rental.Instance, plan model) string {
	if inst.Template.Slug == plan.Template.ValueString() {
		return ""
	}
	template, found, err := r.Meta.Cache.Templates.Find(ctx, inst.Template.Slug)
	if err != nil || !found || template.Owner != rental.OwnerMe {
		return ""
	}
	return template.Slug
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
	price, known, err := r.estimatePrice(ctx, plan, replaced, diags)
	if err != nil && (replaced != nil || account.Enforced()) {
		tfkit.AddAPIError(diags, "determine the price of the planned instance", err)
	} else {
		r.Meta.WarnUnchecked(err, diags)
	}
	if !known {
		return
	}
	if replaced != nil && replaced.RunningKopH > 0 && price*100 > replaced.RunningKopH*higherPricePercent {
		addHigherPrice(diags, replaced, price)
	}
	change := spending.Change{StartsKopH: price, AddedKopH: price}
	if replaced != nil {
		change.Replaced, change.NeedsKopH = []string{replaced.ID}, price
	}
	addSpendingProblems(diags, account.Check(ctx, change)...)
}

// higherPricePercent is the price of a replacement, in percent of the old price, above which the plan warns.
const higherPricePercent = 125

// estimatePrice returns the current price of the planned instance in kopecks per hour. The price is not known if an
// argument is unknown, if there is no offer, or after an error of the API.
func (r *instanceResource) estimatePrice(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	switch {
	case plan.Type.IsUnknown() || plan.MaxPriceKopH.IsUnknown():
		return 0, false, nil
	case plan.OfferID.IsNull():
		return r.estimateQuery(ctx, plan, replaced, diags)
	case plan.OfferID.IsUnknown():
		return 0, false, nil
	case replaced != nil && replaced.OfferID == plan.OfferID.ValueString():
		return r.estimateOwnOffer(ctx, plan, replaced, diags)
	}
	return r.estimateOffer(ctx, plan, replaced, diags)
}

// estimateOffer checks the offer of the plan.
func (r *instanceResource) estimateOffer(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	id := plan.OfferID.ValueString()
	offer, found, err := r.Meta.Cache.Offer(ctx, id, rental.RentalType(plan.Type.ValueString()))
	switch {
	case err != nil:
		return 0, false, err
	case !found && replaced != nil:
		addCannotReplaceByOffer(diags, replaced.ID, id)
		return 0, false, nil
	case !found:
		addOfferNotAvailable(diags, id)
		return 0, false, nil
	}
	price, ok := checkOffer(offer, plan, diags)
	return price, ok, nil
}

// estimateOwnOffer checks the offer that the replaced instance was rented from. It is not available while that instance
// exists, and the API does not guarantee that it is available afterwards.
func (r *instanceResource) estimateOwnOffer(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	offer, err := r.Meta.Client.GetOffer(ctx, replaced.OfferID)
	if rental.IsNotFound(err) {
		addCannotReplaceOwnOffer(diags, replaced)
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	addOwnOffer(diags, replaced)
	price, ok := checkOffer(offer, plan, diags)
	return price, ok, nil
}

// checkOffer returns the price of an offer for the planned instance, or reports why the offer cannot be rented.
func checkOffer(offer rental.Offer, plan model, diags *diag.Diagnostics) (kopH int64, ok bool) {
	kind := rental.RentalType(plan.Type.ValueString())
	price, rentable := offer.PriceKopH(kind)
	limit, disk := plan.MaxPriceKopH.ValueInt64(), plan.DiskGB.ValueInt64()
	switch {
	case !rentable:
		addNotInterruptible(diags, offer.ID)
	case limit > 0 && price > limit:
		addOfferAboveCap(diags, offer.ID, price, limit)
	case offer.Disk.MaxGB != nil && disk > *offer.Disk.MaxGB:
		addDiskAboveMaximum(diags, offer.ID, *offer.Disk.MaxGB, disk)
	default:
		return lifecycle.PriceWithDisk(offer, kind, disk)
	}
	return 0, false
}

// estimateQuery checks the offer that the query currently selects.
func (r *instanceResource) estimateQuery(
	ctx context.Context, plan model, replaced *replacedInstance, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	if plan.OfferQuery.IsUnknown() {
		return 0, false, nil
	}
	demand, problems := plan.demand(ctx)
	if problems.HasError() {
		return 0, false, nil
	}
	if replaced != nil {
		demand.Except = map[string]bool{replaced.OfferID: true}
	}
	choice, err := r.Meta.Market.Estimate(ctx, demand)
	switch {
	case err != nil:
		return 0, false, errors.Unwrap(err) // the error of the API
	case len(choice.Candidates) > 0:
		return choice.Candidates[0].KopH, true, nil
	case !fullyKnown(ctx, plan.FallbackQueries):
		return 0, false, nil
	}
	explanation := r.explain(ctx, demand.Queries)
	if replaced != nil {
		addCannotReplaceByQuery(diags, replaced.ID, explanation)
	} else {
		addNoOfferNow(diags, plan, explanation)
	}
	return 0, false, nil
}
