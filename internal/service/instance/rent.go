package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// rent makes the one request that spends money. It is not cut off when the run
// is interrupted: a request whose answer nobody reads would leave a server
// billing that no state knows.
func (r *instanceResource) rent(ctx context.Context, plan model, diags *diag.Diagnostics) (rental.Instance, bool) {
	create, problems := toCreate(ctx, plan)
	diags.Append(problems...)
	if diags.HasError() || !r.withinCap(ctx, plan, diags) {
		return rental.Instance{}, false
	}
	if ctx.Err() != nil {
		diags.AddError("Cannot create instance", "Interrupted before anything was rented.")
		return rental.Instance{}, false
	}
	postCtx, stop := tfkit.Detach(ctx)
	defer stop()
	inst, _, err := r.Meta.Client.CreateInstance(postCtx, newIdempotencyKey(), create)
	if err != nil {
		addCreateError(diags, err)
		return rental.Instance{}, false
	}
	return inst, true
}

func addCreateError(diags *diag.Diagnostics, err error) {
	if rental.IsOutcomeUnknown(err) {
		diags.AddError("Cannot tell whether the instance was created",
			err.Error()+"\n\nThe service took the request, but its answer was lost and asking again did not help. Before the next apply, look in the "+
				"service's console whether a new server runs, and import or destroy it: it is billed.")
		return
	}
	nextStep := ""
	switch {
	case rental.IsNotFound(err):
		nextStep = "Nothing was rented: the offer is gone, or there is no such template. Run plan again to choose from what there is now."
	case rental.IsConflict(err):
		nextStep = "Nothing was rented: the offer was taken or its price changed since the plan, or the account's limit of instances is reached. " +
			"Run plan again to choose from what there is now; if the limit is reached, destroy a server first."
	}
	tfkit.AddErrorAdvising(diags, "create instance", nextStep, err, "offer_id", "template", "disk_gb", "name", "ssh_key_ids", "type", "image")
}

// withinCap looks at the live price before renting when there is a cap.
func (r *instanceResource) withinCap(ctx context.Context, plan model, diags *diag.Diagnostics) bool {
	if plan.MaxPriceKopH.IsNull() {
		return true
	}
	offer, err := r.Meta.Client.GetOffer(ctx, plan.OfferID.ValueString())
	if err != nil {
		tfkit.AddError(diags, "look at offer "+plan.OfferID.ValueString(), err, "offer_id")
		return false
	}
	price := offer.Price.OnDemandKopH
	if plan.Type.ValueString() == string(rental.Interruptible) {
		if offer.Price.InterruptibleKopH == nil {
			diags.AddAttributeError(path.Root("offer_id"), "Offer has no interruptible price", "Offer "+offer.ID+" cannot be rented as interruptible. Choose another, or type = \"on_demand\".")
			return false
		}
		price = *offer.Price.InterruptibleKopH
	}
	if limit := plan.MaxPriceKopH.ValueInt64(); price > limit {
		diags.AddAttributeError(path.Root("max_price_kop_h"), "Offer is dearer than max_price_kop_h",
			fmt.Sprintf("Offer %s costs %s per hour now, the cap is %s. Nothing was rented. Choose another offer, or raise the cap.",
				offer.ID, tfkit.Rubles(price), tfkit.Rubles(limit)))
		return false
	}
	return true
}

// destroy asks for the destruction and waits for its end, so that a name, an
// offer or a limit it occupied is free when Terraform goes on.
func (r *instanceResource) destroy(ctx, waitCtx context.Context, id string, timeout time.Duration, diags *diag.Diagnostics) {
	inst, err := r.Meta.Client.DeleteInstance(waitCtx, id)
	if rental.IsConflict(err) {
		// Already on its way out, perhaps by a request of ours whose answer was lost.
		conflict := err
		if inst, err = r.Meta.Client.GetInstance(waitCtx, id); err == nil && !gone(inst) {
			err = conflict
		}
	}
	if err == nil && inst.Status != rental.StatusDestroyed {
		err = poll.Until(waitCtx, poll.Exponential(r.Meta.PollInterval), func(ctx context.Context) (bool, error) {
			inst, err := r.Meta.Client.GetInstance(ctx, id)
			return inst.Status == rental.StatusDestroyed, err
		})
	}
	switch {
	case err == nil, rental.IsNotFound(err):
	case ctx.Err() != nil:
		diags.AddError("Interrupted while instance "+id+" was being destroyed", "It stays in the state until it is surely gone; run again.")
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError("Instance "+id+" is not destroyed yet", fmt.Sprintf("The service took the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	default:
		tfkit.AddError(diags, "destroy instance "+id, err)
	}
}
