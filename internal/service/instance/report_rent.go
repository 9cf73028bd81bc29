package instance

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	var early *endedEarly
	var other *otherServer
	var foreign *foreignServer
	switch {
	case errors.As(err, &early):
		diags.AddError("Cannot create instance", endedEarlyText(early))
	case errors.As(err, &other):
		addOtherServer(diags, other)
	case errors.As(err, &foreign):
		addForeignServer(diags, foreign)
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
	case errors.As(err, &refused) && refused.err == nil:
		diags.AddAttributeError(path.Root("offer_id"), "Cannot create instance", refusedText(refused))
	case errors.As(err, &refused):
		tfkit.AddErrorAdvising(diags, "create instance", refusedText(refused), err)
	default:
		tfkit.AddError(diags, "create instance", err, "offer_id", "template", "disk_gb", "name", "ssh_key_ids", "type", "image")
	}
}

func endedEarlyText(early *endedEarly) string {
	if errors.Is(early, context.DeadlineExceeded) {
		return "Nothing was rented before timeouts.create expired. Apply again, or raise timeouts.create."
	}
	return "Interrupted before anything was rented. Apply again."
}

func unknownText(unknown *unknownOutcome) string {
	text := unknown.Error() + "\n\nThe service may have taken the request, but its answer was lost and asking again did not help. "
	if !unknown.random {
		return text + "Apply again: with the same idempotency_key the server is taken over if it was rented, and rented if it was not."
	}
	return text + fmt.Sprintf("To find out, put idempotency_key = %q into this resource and apply again: the server is taken over if it was rented, and rented if it was not.", tfkit.OneLine(unknown.key))
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
			tfkit.OneLine(offerID), tfkit.HourlyRubles(price), tfkit.HourlyRubles(limit)))
}

func addNoInterruptible(diags *diag.Diagnostics, offerID string) {
	diags.AddAttributeError(path.Root("type"), "Offer has no interruptible price",
		"Offer "+tfkit.OneLine(offerID)+" cannot be rented as interruptible. Choose another, or type = \"on_demand\". Nothing was rented.")
}

// refusedText is what to do about a refusal, given the state of the offer afterwards.
func refusedText(refused *refusedOffer) string {
	offer := "offer " + tfkit.OneLine(refused.offerID)
	switch {
	case refused.state == offerGone:
		return "Nothing was rented: " + offer + " is gone. Run plan again to choose from what there is now, or use offer_query, which does that by itself."
	case refused.state == offerDearer:
		return "Nothing was rented: the price of " + offer + " rose above max_price_kop_h. Choose another offer, or raise the cap."
	case refused.state == offerUnrentable:
		return "Nothing was rented: " + offer + " has no interruptible price any more. Choose another offer, or type = \"on_demand\"."
	case refused.state == offerUnsure:
		return "Nothing was rented. Offer " + tfkit.OneLine(refused.offerID) + " could not be read afterwards: it may be gone, its price may have changed, or a limit of the account is reached. Run plan again."
	case rental.IsConflict(refused.err):
		return "Nothing was rented. The offer is still there, so a limit of the account is reached, most likely its number of instances. Destroy a server, or ask the service's support for a higher limit, and apply again."
	}
	return "Nothing was rented: the offer is there, but something else that the request names is not, most likely the template."
}

// otherServer is the server of an earlier run with other arguments than the configured ones.
type otherServer struct {
	inst       rental.Instance
	key        string
	difference string
}

func (e *otherServer) Error() string {
	return "instance " + tfkit.OneLine(e.inst.ID) + ": its " + e.difference
}

func addOtherServer(diags *diag.Diagnostics, e *otherServer) {
	diags.AddAttributeError(path.Root("idempotency_key"), "The idempotency key stands for another server",
		fmt.Sprintf("Instance %s (status %q) was rented with idempotency_key %q before, and is not what is configured: its %s. Nothing was rented, and instance %s is left as it is, running and billed.\n\n"+
			"To keep it, put the configuration back as it was and apply again. To have another server besides, choose another key (with create_before_destroy the key must change with each replacement). "+
			"If nobody needs it, destroy it in the service's console and apply again.", tfkit.OneLine(e.inst.ID), tfkit.OneLine(e.inst.Status), tfkit.OneLine(e.key), e.difference, tfkit.OneLine(e.inst.ID)))
}

// foreignServer is a server that another resource of this run has.
type foreignServer struct {
	holder, own keyHolder
	key         string
	replayed    bool // for a configured key
}

func (e *foreignServer) Error() string { return "another resource has " + e.holder.String() }

func addForeignServer(diags *diag.Diagnostics, e *foreignServer) {
	if e.replayed {
		addSharedKey(diags, e.key, e.own, e.holder)
		return
	}
	diags.AddError("The API returned the instance of another resource",
		fmt.Sprintf("The answer to the create request names instance %s, which another resource of this run manages or destroys. This resource was not saved, and that instance was left as it is. "+
			"Look in the service's console whether there is an instance that no state has, destroy it, and apply again.", tfkit.OneLine(e.holder.id)))
}

// addUnreadable reports a server of which the answer to the create request says little more than its id.
func addUnreadable(diags *diag.Diagnostics, server rented) {
	diags.AddError("Instance "+tfkit.OneLine(server.ID)+" was created, but the answer cannot be read",
		fmt.Sprintf("%s\n\nThe instance is in the state, marked tainted, and billed. The next apply destroys it and creates another. %s", server.unreadable, untaint))
}

func addNotAsOrdered(diags *diag.Diagnostics, inst rental.Instance, differences []string) {
	diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is not what was ordered",
		fmt.Sprintf("In the answer to the create request, %s. The instance is in the state, marked tainted, and billed. The next apply destroys it and creates another. %s",
			strings.Join(differences, "; "), untaint))
}

func addDiffersFromOffer(diags *diag.Diagnostics, inst rental.Instance, differences []string) {
	diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" differs from its offer",
		fmt.Sprintf("In the answer to the create request, %s. The instance is kept.", strings.Join(differences, "; ")))
}

// overpriced gives both prices.
func overpriced(server rented, plan model) string {
	offered := ""
	if server.offer != nil {
		if price, ok := priceOf(*server.offer, rental.RentalType(plan.Type.ValueString())); ok {
			offered = fmt.Sprintf("Offer %s cost %s when it was last read. ", tfkit.OneLine(server.offer.ID), tfkit.HourlyRubles(price))
		}
	}
	return fmt.Sprintf("%sThe answer to the create request has the price %s, and max_price_kop_h allows %s.",
		offered, tfkit.HourlyRubles(server.Price.RunningKopH), tfkit.HourlyRubles(plan.MaxPriceKopH.ValueInt64()))
}

func addOverpricedDestroyed(diags *diag.Diagnostics, server rented, plan model) {
	diags.AddAttributeError(path.Root("max_price_kop_h"), "Instance "+tfkit.OneLine(server.ID)+" was destroyed: price above max_price_kop_h",
		overpriced(server, plan)+" The service accepted the request to destroy the instance. Apply again to try another rental, or raise the cap.")
}

func addOverpricedStopped(diags *diag.Diagnostics, server rented, plan model) {
	diags.AddAttributeError(path.Root("max_price_kop_h"), "Instance "+tfkit.OneLine(server.ID)+" was stopped: price above max_price_kop_h",
		overpriced(server, plan)+" An earlier run rented it with the same idempotency_key. Only its disk is billed now. It is in the state and marked tainted: the next apply destroys it and creates another. "+
			"To keep it, raise the cap, run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`) with the address of this resource, and apply again.")
}

// addOverpricedRuns reports a server that could not be destroyed or stopped.
func addOverpricedRuns(diags *diag.Diagnostics, server rented, plan model, verb string, err error) {
	diags.AddAttributeError(path.Root("max_price_kop_h"), "Instance "+tfkit.OneLine(server.ID)+" runs at a price above max_price_kop_h",
		fmt.Sprintf("%s The request to %s the instance failed: %s\n\nIt is in the state, marked tainted, and billed. Apply again to destroy it, or destroy it in the service's console.",
			overpriced(server, plan), verb, err))
}

// addTakenOver tells of a server that an earlier run has rented.
func addTakenOver(diags *diag.Diagnostics, server rented, plan model) {
	text := fmt.Sprintf("It was rented with idempotency_key %q", tfkit.OneLine(plan.IdempotencyKey.ValueString()))
	if !server.CreatedAt.IsZero() {
		text += " at " + tfkit.Time(server.CreatedAt).ValueString()
	}
	text += " by a run that could not save it. No other server was rented."
	if server.twinTemplate != "" {
		text += fmt.Sprintf("\n\nIt was made from the template %q, which has the same content as %q and most likely is left from that run. If nothing else uses it, delete it in the service's console.",
			tfkit.OneLine(server.twinTemplate), tfkit.OneLine(plan.Template.ValueString()))
	}
	diags.AddWarning("Took over instance "+tfkit.OneLine(server.ID), text)
}

// addNotReplaced reports that a server was not destroyed because a creation of this run took it over.
func addNotReplaced(diags *diag.Diagnostics, state model) {
	diags.AddWarning("Instance "+tfkit.OneLine(state.ID.ValueString())+" was not replaced",
		fmt.Sprintf("Another resource address, or its replacement with create_before_destroy, has the same idempotency_key %q, and the API returned this server for it. "+
			"It was kept and is in the state there, so nothing is lost. To replace it, change the key together with the replacement, or leave out create_before_destroy. "+
			"After a resource was renamed there is nothing to do; a moved block avoids this warning.", tfkit.OneLine(state.IdempotencyKey.ValueString())))
}
