package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryCannotCreate       = "Cannot create instance"
	summaryOutcomeUnknown     = "Cannot determine whether the instance was created"
	summaryKeysUsedUp         = "The idempotency key is used up"
	summaryNoOfferLeft        = "No matching offer could be rented"
	summaryOtherArguments     = "The instance of idempotency_key differs from the configuration"
	summaryNotLost            = "Instance %s has the idempotency key of this resource"
	summaryInUse              = "Another resource has instance %s"
	summaryUnreadableResponse = "Instance %s was created, but the response cannot be read"
	summaryNotAsRequested     = "Instance %s differs from the request"
	summaryDiffersFromOffer   = "Instance %s differs from its offer"
	summaryDestroyedAboveCap  = "Instance %s was destroyed: price above max_price_kop_h"
	summaryRecoveredAboveCap  = "Instance %s was stopped: price above max_price_kop_h"
	summaryCreatedAboveCap    = "Instance %s runs at a price above max_price_kop_h"
	summaryRecovered          = "Recovered instance %s"
)

// untaint describes how to keep an instance that was marked tainted.
const untaint = "To keep the instance and continue to wait for it, run `terraform untaint ADDRESS` (or `tofu " +
	"untaint ADDRESS`) with the address of this resource, as the message above shows it, and apply again."

// addCreateError reports why no instance was created, or that the outcome is unknown. explanation describes the offers
// after a failed search for one.
func addCreateError(diags *diag.Diagnostics, err error, explanation tfkit.Text) {
	if e, ok := errors.AsType[*spending.Error](err); ok {
		addSpendingProblems(diags, spending.Problems{e})
		return
	}
	e, ok := errors.AsType[*placement.Error](err)
	if !ok {
		tfkit.AddAPIError(
			diags,
			"create instance",
			err,
			"offer_id",
			"template",
			"disk_gb",
			"name",
			"ssh_key_ids",
			"type",
			"image",
		)
		return
	}
	key := path.Root("idempotency_key")
	switch e.Kind {
	case placement.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryCannotCreate), interruptedText(e)+paragraph(explanation))
	case placement.OutcomeUnknown:
		tfkit.AddError(diags, tfkit.Summaryf(summaryOutcomeUnknown), outcomeUnknownText(e))
	case placement.KeysUsedUp:
		tfkit.AddAttributeError(diags, key, tfkit.Summaryf(summaryKeysUsedUp),
			"All instances that were created with the key of this resource and its "+
				"later generations are destroyed. Nothing was rented. Choose another key.")
	case placement.NoOffer:
		addNoOfferLeft(diags, e, explanation)
	case placement.OfferGone:
		tfkit.AddAttributeError(diags, path.Root(argOfferID), tfkit.Summaryf(summaryCannotCreate), tfinstance.RefusedText(e))
	case placement.OfferRefused:
		tfkit.AddAPIErrorAdvising(diags, "create instance", tfinstance.RefusedText(e), e.Err)
	case placement.OfferAboveCap:
		addOfferAboveCap(diags, e.OfferID, e.PriceKopH, e.LimitKopH)
	case placement.NotInterruptible:
		addNotInterruptible(diags, e.OfferID)
	case placement.OtherArguments:
		addOtherArguments(diags, e)
	case placement.NotLost:
		addNotLost(diags, e)
	case placement.InUse:
		addInUse(diags, e)
	case placement.OffersUnreadable:
		action := tfkit.Text("list offers")
		if e.OfferID != "" {
			action = tfkit.Textf("read offer %s", e.OfferID)
		}
		tfkit.AddAPIError(diags, action, e.Err, argOfferID, argOfferQuery)
	}
}

func interruptedText(e *placement.Error) tfkit.Text {
	var text tfkit.Text
	switch {
	case errors.Is(e, context.DeadlineExceeded):
		text = "Nothing was rented before timeouts.create expired. Apply again, or raise timeouts.create."
	case e.Waited > 0:
		text = tfkit.Textf("The run was interrupted after it had waited %s for an offer. Nothing was rented. Apply again.",
			e.Waited.Round(time.Second))
	default:
		text = "The run was interrupted before anything was rented. Apply again."
	}
	if e.Last != nil {
		text += "\n\n" + tfinstance.LastOfferText(e.Last) + "."
	}
	return text
}

func outcomeUnknownText(e *placement.Error) tfkit.Text {
	text := tfkit.Textf("%s\n\nThe request may have succeeded: its response was lost, and the retries did not return "+
		"one. ", e.Err)
	if e.Key != "" {
		text += tfkit.Textf("Set idempotency_key = %q in this resource. ", e.Key)
	}
	if e.Within == 0 {
		text += "recover_within is 0s: set a longer time. "
	}
	return text + "Apply again, before recover_within is over: the apply recovers the instance if it was created, and " +
		"creates it if not. Later, the error of the apply names it."
}

func addNoOfferLeft(diags *diag.Diagnostics, e *placement.Error, explanation tfkit.Text) {
	var detail tfkit.Text
	if e.Waited > 0 {
		detail = tfkit.Textf("The creation waited %s for an offer (wait_for_offer). ", e.Waited.Round(time.Second))
	}
	if e.Listed {
		detail += tfinstance.OffersText(e) + " "
	}
	detail += "Nothing was rented.\n\n"
	if e.Last != nil {
		detail += tfinstance.LastOfferText(e.Last) + ".\n\n"
	}
	if explanation != "" {
		detail += explanation + "\n\n"
	}
	advice := tfkit.Text("Remove filters from the query, add fallback_queries, raise max_price_kop_h or max_attempts, or ")
	switch {
	case !e.Listed:
		advice = "Apply again."
	case e.Waited > 0:
		advice += "wait longer with wait_for_offer."
	default:
		advice += "set wait_for_offer to wait for an offer: offers change about every minute."
	}
	tfkit.AddAttributeError(diags, path.Root(argOfferQuery), tfkit.Summaryf(summaryNoOfferLeft), detail+advice)
}

func addOtherArguments(diags *diag.Diagnostics, e *placement.Error) {
	inst := e.Instance
	tfkit.AddAttributeError(diags, path.Root("idempotency_key"), tfkit.Summaryf(summaryOtherArguments), tfkit.Textf(
		"Instance %s (status %q) was created under the key of this resource before, and differs from the configuration: its "+
			"%s. "+
			"Nothing was rented. Instance %s was not changed and is billed (%s).\n\nTo keep it here, restore the configuration "+
			"with which it was created and apply again, or import it. If another state has it, choose another key here.",
		inst.ID,
		inst.Status,
		tfinstance.DifferenceText(e.Difference),
		inst.ID,
		tfkit.HourlyRubles(inst.BurnKopH()),
	)+ownershipCauses)
}

// ownershipCauses are the usual causes of an instance that is not lost.
var ownershipCauses = tfinstance.OwnershipCauses("set another idempotency_key (or idempotency_prefix, or name) here",
	"change the key with each replacement")

// addNotLost reports an instance that was rented before under the key and most likely belongs to another state.
func addNotLost(diags *diag.Diagnostics, e *placement.Error) {
	text := "Nothing was rented, changed or destroyed: " + tfinstance.NotLostText(e) + ". "
	if block, ok := tfkit.ImportBlock("gpurent_instance", e.Instance.ID); ok {
		text += "If no other state has it, add this block with the address of this resource, and plan again:\n\n" + block
	} else {
		text += "If no other state has it, import it. " + noImportBlock
	}
	tfkit.AddAttributeError(
		diags, path.Root(argIdempotencyKey), tfkit.Summaryf(summaryNotLost, e.Instance.ID), text+ownershipCauses)
}

// addInUse reports that the API returned an instance that another object of this run has.
func addInUse(diags *diag.Diagnostics, e *placement.Error) {
	summary := tfkit.Summaryf(summaryInUse, e.Instance.ID)
	if e.Replayed {
		tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey), summary, "The API returned it for the idempotency key "+
			"of this resource, because another resource was created with the same key. Nothing was rented, changed or "+
			"destroyed for this one. Set a different idempotency_key for each resource, for example with count.index or "+
			"each.key. With idempotency_prefix, set a different name. If a resource was only renamed, add a moved block. "+
			"With create_before_destroy, change the key with each replacement.")
		return
	}
	tfkit.AddError(diags, summary, "The response to the create request contains its id. This resource was not saved, and "+
		"the instance was not changed. Check in the service's console whether there is an instance that is in no state, "+
		"destroy it, and apply again.")
}

// addUnexpected reports an unreadable response, and differences between a new instance and its request except the
// price.
func addUnexpected(diags *diag.Diagnostics, placed placement.Placed, request placement.Request) {
	id := placed.ID
	if placed.Unreadable != nil {
		tfkit.AddError(diags, tfkit.Summaryf(summaryUnreadableResponse, id), tfkit.Textf(
			"%s\n\nThe instance is in the state, marked tainted, and billed. The next apply destroys it and creates another. "+
				"%s", placed.Unreadable, tfkit.Text(untaint)))
		return
	}
	if placed.Recovered {
		return // placement has compared it
	}
	differences := placed.Differences(request)
	if len(differences) == 0 {
		return
	}
	var text tfkit.Text
	for i, d := range differences {
		if i > 0 {
			text += "; "
		}
		text += tfinstance.DifferenceText(d)
	}
	if differences[0].Harmful {
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotAsRequested, id), tfkit.Textf(
			"In the response to the create request, %s. The instance is in the state, marked tainted, and billed. The next "+
				"apply destroys it and creates another. %s", text, tfkit.Text(untaint)))
		return
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryDiffersFromOffer, id), tfkit.Textf(
		"In the response to the create request, %s. The instance is kept.", text))
}

// aboveCapText returns a text with both prices.
func aboveCapText(placed placement.Placed, request placement.Request) tfkit.Text {
	var offered tfkit.Text
	if placed.Offer != nil {
		if price, ok := placed.Offer.PriceKopH(request.Order.Type); ok {
			offered = tfkit.Textf("Offer %s cost %s when it was last read. ", placed.Offer.ID, tfkit.HourlyRubles(price))
		}
	}
	return tfkit.Textf("%sThe response to the create request has the price %s, and max_price_kop_h is %s.", offered,
		tfkit.HourlyRubles(placed.Price.RunningKopH), tfkit.HourlyRubles(request.MaxPriceKopH))
}

func addDestroyedAboveCap(diags *diag.Diagnostics, placed placement.Placed, request placement.Request) {
	tfkit.AddAttributeError(
		diags,
		path.Root("max_price_kop_h"),
		tfkit.Summaryf(summaryDestroyedAboveCap, placed.ID),
		aboveCapText(placed, request)+
			" The API accepted the request to destroy the instance. Apply again to try another offer, or raise "+
			"max_price_kop_h.",
	)
}

func addStoppedAboveCap(diags *diag.Diagnostics, placed placement.Placed, request placement.Request) {
	tfkit.AddAttributeError(
		diags,
		path.Root("max_price_kop_h"),
		tfkit.Summaryf(summaryRecoveredAboveCap, placed.ID),
		aboveCapText(placed, request)+
			" An earlier or another run created it with the same idempotency_key, or a request of this run whose response was "+
			"lost. Only its disk is billed now. It is in the state and marked tainted: the next apply destroys it and creates "+
			"another. To keep it, raise max_price_kop_h, run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`) with the "+
			"address of this resource, and apply again. If another state has it, run `terraform state rm ADDRESS` here first.",
	)
}

// addRunsAboveCap reports an instance that could not be destroyed or stopped.
func addRunsAboveCap(
	diags *diag.Diagnostics,
	placed placement.Placed,
	request placement.Request,
	verb tfkit.Text,
	err error,
) {
	tfkit.AddAttributeError(
		diags,
		path.Root("max_price_kop_h"),
		tfkit.Summaryf(summaryCreatedAboveCap, placed.ID),
		tfkit.Textf(
			"%s The request to %s the instance failed: %s\n\nThe instance is in the state, marked tainted, and billed. Apply "+
				"again to destroy it, or destroy it in the service's console.", aboveCapText(placed, request), verb, err),
	)
}

// addRecovered reports an instance that an earlier run created.
func addRecovered(diags *diag.Diagnostics, placed placement.Placed, now time.Time) {
	text := "It was " + tfinstance.CreatedText(placed.Instance, now) + " under the idempotency key of this resource, " +
		"most likely by a run that was killed before it saved it. No other instance was created.\n\n" +
		"If another state, or another resource of this one, has it, remove this resource from the state before anything " +
		"else, because both would change and destroy it: run `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`) " +
		"with its address, and set another idempotency_key (or idempotency_prefix, or name). With create_before_destroy " +
		"and an unchanged key, nothing was replaced: keep the resource, and change the key for a replacement."
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryRecovered, placed.ID), text)
}
