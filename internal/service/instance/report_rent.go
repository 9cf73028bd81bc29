package instance

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// addRentError says why nothing was rented, or that it is not known whether.
func addRentError(diags *diag.Diagnostics, err error) {
	var unknown *unknownOutcome
	var dear *tooDearError
	var never *noInterruptibleError
	var none *noOfferLeft
	var refused *refusedOffer
	switch {
	case errors.Is(err, errInterrupted):
		diags.AddError("Cannot create instance", "Interrupted before anything was rented. Apply again.")
	case errors.As(err, &unknown):
		diags.AddError("Cannot tell whether the instance was created", unknownText(unknown))
	case errors.Is(err, errKeysUsedUp):
		diags.AddAttributeError(path.Root("idempotency_key"), "The idempotency key is used up",
			"Every server that was rented under it and its successors is destroyed by now. Nothing was rented. Choose another key.")
	case errors.As(err, &none):
		addNoOfferLeft(diags, none)
	case errors.As(err, &dear):
		addTooDear(diags, dear.offerID, dear.price, dear.limit)
	case errors.As(err, &never):
		addNoInterruptible(diags, never.offerID)
	case errors.As(err, &refused):
		tfkit.AddErrorAdvising(diags, "create instance", refusedText(refused), err)
	default:
		tfkit.AddError(diags, "create instance", err, "offer_id", "template", "disk_gb", "name", "ssh_key_ids", "type", "image")
	}
}

func unknownText(unknown *unknownOutcome) string {
	text := unknown.Error() + "\n\nThe service may have taken the request, but its answer was lost and asking again did not help. "
	if !unknown.random {
		return text + "Apply again: with the same idempotency_key the server is taken over if it was rented, and rented if it was not."
	}
	return text + fmt.Sprintf("To find out, put idempotency_key = %q into this resource and apply again: the server is taken over if it was rented, and rented if it was not.", unknown.key)
}

func addNoOfferLeft(diags *diag.Diagnostics, none *noOfferLeft) {
	detail := none.Error() + ". Nothing was rented.\n\n"
	if none.last != nil {
		detail += "The last one: " + none.last.Error() + ".\n\n"
	}
	diags.AddAttributeError(path.Root(argOfferQuery), "No offer left for the query",
		detail+"Loosen the query, raise max_price_kop_h or max_attempts, or apply again later: the market moves about every minute.")
}

func addTooDear(diags *diag.Diagnostics, offerID string, price, limit int64) {
	diags.AddAttributeError(path.Root("max_price_kop_h"), "Offer is dearer than max_price_kop_h",
		fmt.Sprintf("Offer %s costs %s now, the cap is %s. Nothing was rented. Choose another offer, or raise the cap.",
			offerID, tfkit.HourlyRubles(price), tfkit.HourlyRubles(limit)))
}

func addNoInterruptible(diags *diag.Diagnostics, offerID string) {
	diags.AddAttributeError(path.Root("type"), "Offer has no interruptible price",
		"Offer "+offerID+" cannot be rented as interruptible. Choose another, or type = \"on_demand\". Nothing was rented.")
}

// refusedText is what to do about a refusal, now that it is known how the offer stands.
func refusedText(refused *refusedOffer) string {
	limit := rental.IsConflict(refused.err)
	switch {
	case refused.state == offerGone:
		return "Nothing was rented: offer " + refused.offerID + " is gone. Run plan again to choose from what there is now, or use offer_query, which does that by itself."
	case refused.state == offerDearer:
		return "Nothing was rented: the price of offer " + refused.offerID + " rose above max_price_kop_h. Choose another offer, or raise the cap."
	case limit:
		return "Nothing was rented. The offer is still there, so a limit of the account is reached, most likely its number of instances. Destroy a server, or ask the service's support for a higher limit, and apply again."
	}
	return "Nothing was rented: the offer is there, but something else that the request names is not, most likely the template."
}

// addStranger: the key stands for a server that is not the configured one.
func addStranger(diags *diag.Diagnostics, inst rental.Instance, key, difference string) {
	diags.AddAttributeError(path.Root("idempotency_key"), "The idempotency key stands for another server",
		fmt.Sprintf("Instance %s (status %q) was rented with idempotency_key %q before, and is not what is configured: its %s. Nothing was rented, and instance %s is left as it is, running and billed.\n\n"+
			"To keep it, put the configuration back as it was and apply again. To have another server besides, choose another key (with create_before_destroy the key must change with each replacement). "+
			"If nobody needs it, destroy it in the service's console and apply again.", inst.ID, inst.Status, key, difference, inst.ID))
}

// addTakenOver tells of a server that an earlier run has rented.
func addTakenOver(diags *diag.Diagnostics, server rented, plan model) {
	text := fmt.Sprintf("It was rented with idempotency_key %q at %s by a run that could not save it. No other server was rented.",
		plan.IdempotencyKey.ValueString(), tfkit.Time(server.CreatedAt).ValueString())
	if server.twinTemplate != "" {
		text += fmt.Sprintf("\n\nIt was made from the template %q, which has the same content as %q and most likely is left from that run. If nothing else uses it, delete it in the service's console.",
			server.twinTemplate, plan.Template.ValueString())
	}
	diags.AddWarning("Took over instance "+server.ID, text)
}

// addNotReplaced tells that a server was not destroyed, because a creation of
// this very run stands for it: with create_before_destroy the key of the server
// to be replaced leads to that server.
func addNotReplaced(diags *diag.Diagnostics, state model) {
	diags.AddWarning("Instance "+state.ID.ValueString()+" was not replaced",
		fmt.Sprintf("With create_before_destroy its successor is asked for while it is still there, and under the unchanged idempotency_key %q the service answers with the same server. "+
			"It was kept, so nothing is lost. To replace it, change the key together with the replacement, or leave out create_before_destroy.", state.IdempotencyKey.ValueString()))
}
