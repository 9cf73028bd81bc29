package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// checkPrice checks the offer as it is now, and the money that it takes. For a new server a missing offer is a warning:
// after a crash our own rental may be the reason, and an error would keep the next apply from taking it over. For a
// replacement it is an error.
func (r *instanceResource) checkPrice(ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics) {
	if before == nil && !watchesMoney(r.Meta) && plan.MaxPriceKopH.IsNull() {
		return
	}
	price, known, err := r.estimate(ctx, plan, before, diags)
	if err != nil && (before != nil || hasHardLimit(r.Meta)) {
		tfkit.AddError(diags, "determine the price of the planned server", err)
	}
	if !known {
		if before == nil {
			r.fleet().spending.postpone(plan)
		}
		return
	}
	warnOfHigherPrice(diags, before, price)
	checkMoney(ctx, r.Meta, r.changeBy(price, before), diags)
}

// changeBy is what a new server of the price changes. The server that it replaces burns nothing then.
func (r *instanceResource) changeBy(kopH int64, before *predecessor) change {
	c := change{starts: kopH, added: kopH, creates: true}
	if before == nil {
		return c
	}
	if before.claimed {
		c.added -= r.fleet().state.credit(before.ID)
		return c
	}
	c.added -= before.BurnKopH
	if r.Meta.Run.Single() { // the total has what the plan for the predecessor counted
		c.starts -= before.Starts
		c.added -= before.Added
	}
	return c
}

// higherPricePercent is from which increase on the price of a replacement is worth a warning.
const higherPricePercent = 125

func warnOfHigherPrice(diags *diag.Diagnostics, before *predecessor, kopH int64) {
	if before == nil || before.RunningKopH == 0 || kopH*100 <= before.RunningKopH*higherPricePercent {
		return
	}
	diags.AddWarning("The replacement of instance "+tfkit.OneLine(before.ID)+" costs more",
		fmt.Sprintf("Instance %s costs %s. The offer that would be rented now costs %s. To limit the price, set max_price_kop_h.",
			tfkit.OneLine(before.ID), tfkit.HourlyRubles(before.RunningKopH), tfkit.HourlyRubles(kopH)))
}

// unlessRented ends what keeps a new server from being rented.
const unlessRented = " Unless that changes before the apply, or an earlier run with the same idempotency_key rented the server, the apply fails. "

// addCannotReplace refuses a replacement for which there is no offer.
func addCannotReplace(diags *diag.Diagnostics, at path.Path, before *predecessor, why, advice string) {
	diags.AddAttributeError(at, "Cannot replace instance "+tfkit.OneLine(before.ID)+": no matching offer",
		fmt.Sprintf("%s A replacement destroys instance %s and its disk before it rents another server, which would fail. Nothing was destroyed. %s", why, tfkit.OneLine(before.ID), advice))
}

// estimate is what the server would cost if it were rented now, kopecks per hour. The price is not known if an argument
// is unknown, if there is no offer, or with an error of the service.
func (r *instanceResource) estimate(
	ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	switch {
	case plan.Type.IsUnknown() || plan.MaxPriceKopH.IsUnknown():
		return 0, false, nil
	case plan.OfferID.IsNull():
		return r.estimateQuery(ctx, plan, before, diags)
	case plan.OfferID.IsUnknown():
		return 0, false, nil
	}
	return r.estimateOffer(ctx, plan, before, diags)
}

// estimateOffer checks the offer that the plan names.
func (r *instanceResource) estimateOffer(
	ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	id, rentalType := plan.OfferID.ValueString(), rental.RentalType(plan.Type.ValueString())
	const advice = "Choose another offer, or use offer_query, which takes the best available one."
	if before != nil && before.OfferID == id && r.isReplaced(ctx, before) {
		return r.estimateOwnOffer(ctx, plan, before, diags)
	}
	offer, err := r.fleet().market.glimpse(ctx, r.Meta, id, rentalType)
	if err != nil {
		return 0, false, err
	}
	if offer == nil {
		const why = "It is not available now."
		if r.isReplaced(ctx, before) {
			addCannotReplace(diags, path.Root(argOfferID), before, "Offer "+tfkit.OneLine(id)+": "+why, advice)
		} else {
			diags.AddAttributeWarning(path.Root(argOfferID), "Offer "+tfkit.OneLine(id)+" is gone", why+unlessRented+advice)
		}
		return 0, false, nil
	}
	price, ok := checkOffer(*offer, plan, diags)
	return price, ok, nil
}

// estimateOwnOffer checks the offer that the replaced server itself is rented from. It is not available while that
// server exists, and the service does not promise that it is available afterwards.
func (r *instanceResource) estimateOwnOffer(
	ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	offer, err := r.Meta.Client.GetOffer(ctx, before.OfferID)
	gone := rental.IsNotFound(err)
	if err != nil && !gone {
		return 0, false, err
	}
	if gone {
		addCannotReplace(diags, path.Root(argOfferID), before, "Offer "+tfkit.OneLine(before.OfferID)+" does not exist any more.",
			"Name another offer, or use offer_query, which takes the best available one.")
		return 0, false, nil
	}
	diags.AddAttributeWarning(path.Root(argOfferID), "Offer "+tfkit.OneLine(before.OfferID)+" may not be available for the replacement",
		fmt.Sprintf("Instance %s is rented from this offer. The replacement destroys the instance and its disk first. "+
			"If the offer does not become available again, the apply fails then. "+
			"To avoid this, name another offer, or use offer_query, which takes the best available one.", tfkit.OneLine(before.ID)))
	price, ok := checkOffer(offer, plan, diags)
	return price, ok, nil
}

// checkOffer returns the price of an offer for the planned server, or reports why the server cannot be rented from it.
func checkOffer(offer rental.Offer, plan model, diags *diag.Diagnostics) (kopH int64, ok bool) {
	price, rentable := priceOf(offer, rental.RentalType(plan.Type.ValueString()))
	limit := plan.MaxPriceKopH.ValueInt64()
	switch {
	case !rentable:
		addNoInterruptible(diags, offer.ID)
		return 0, false
	case limit > 0 && price > limit:
		addTooDear(diags, offer.ID, price, limit)
		return 0, false
	case offer.Disk.MaxGB != nil && plan.DiskGB.ValueInt64() > *offer.Disk.MaxGB:
		diags.AddAttributeError(path.Root("disk_gb"), "Disk above the offer's maximum",
			fmt.Sprintf("Offer %s has at most %d GB, and disk_gb is %d. Lower disk_gb, or choose another offer.", tfkit.OneLine(offer.ID), *offer.Disk.MaxGB, plan.DiskGB.ValueInt64()))
		return 0, false
	}
	return price, true
}

// estimateQuery takes the offer that the server would get if nobody else were
// quicker, and each server of the plan another.
func (r *instanceResource) estimateQuery(
	ctx context.Context, plan model, before *predecessor, diags *diag.Diagnostics,
) (kopH int64, known bool, err error) {
	if plan.OfferQuery.IsUnknown() {
		return 0, false, nil
	}
	query, problems := offerQuery(ctx, plan)
	if problems.HasError() {
		return 0, false, nil
	}
	matching := 0
	for _, most := range []int{fewCandidates, maxCandidates} {
		offers, err := r.fleet().market.list(ctx, r.Meta.Client, query, r.Meta.MaxAge(glance), most)
		if err != nil {
			return 0, false, err
		}
		matching = 0
		for _, offer := range offers {
			price, rentable := priceOf(offer, query.Type)
			if !rentable || before != nil && before.OfferID == offer.ID {
				continue
			}
			matching++
			if !r.Meta.Run.Single() || r.fleet().planned.reserve(offer.ID) {
				return price, true, nil
			}
		}
		if len(offers) < most {
			break
		}
	}
	const advice = "Loosen the query or raise max_price_kop_h."
	if r.isReplaced(ctx, before) {
		addCannotReplace(diags, path.Root(argOfferQuery), before, noOfferNow(matching), advice)
	} else {
		diags.AddAttributeWarning(path.Root(argOfferQuery), "No offer matches now", noOfferNow(matching)+unlessRented+advice)
	}
	return 0, false, nil
}

func noOfferNow(matching int) string {
	switch matching {
	case 0:
		return "No available offer matches the query."
	case 1:
		return "One offer matches the query, and another server of the plan needs it."
	}
	return fmt.Sprintf("%d offers match the query, and other servers of the plan need them all.", matching)
}
