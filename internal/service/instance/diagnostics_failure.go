package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryCannotCreate     = "Cannot create instance"
	summaryOutcomeUnknown   = "Cannot determine whether the instance was created"
	summaryKeysUsedUp       = "The idempotency key is used up"
	summaryNoOfferLeft      = "No matching offer could be rented"
	summaryOtherArguments   = "The instance of idempotency_key differs from the configuration"
	summaryNotLost          = "Instance %s has the idempotency key of this resource"
	summaryInUse            = "Another resource has instance %s"
	summaryNotAsRequested   = "Instance %s differs from the request"
	summaryNewAboveLimit    = "Instance %s costs more than a limit allows"
	summaryDiffersFromOffer = "Instance %s differs from its offer"
	summaryRecovered        = "Recovered instance %s"

	summaryReverted          = "Instance %s returned to its previous state"
	summaryInterruptedStart  = "Interrupted while instance %s was starting"
	summaryNotReady          = "Instance %s is not ready yet"
	summaryTainted           = "Instance %s is marked tainted"
	summaryInterruptedUpdate = "Interrupted while instance %s was changing"
	summaryNotConverged      = "Instance %s is not in its desired state"
	summaryGone              = "Instance %s no longer exists"
	summaryOutbid            = "Instance %s was outbid"
	summaryUnusable          = "Instance %s cannot be used"
	summaryOutbidAgain       = "Instance %s was outbid again"
	summaryStillRunsAboveCap = "Instance %s runs above the price cap and could not be stopped"
	summaryStoppedAboveCap   = "Instance %s was stopped again: price above the cap"
	summaryNotStarted        = "Instance %s was not started: price above the cap"
	summaryNoSSH             = "Instance %s has no SSH address"
	summaryNoURLs            = "Instance %s has web pages without an address"

	summaryInterruptedDestroy = "Interrupted while instance %s was being destroyed"
	summaryNotDestroyed       = "Instance %s is not destroyed yet"
)

// untaint describes how to keep an instance that was marked tainted.
const untaint = "To keep the instance and continue to wait for it, run `terraform untaint ADDRESS` (or `tofu " +
	"untaint ADDRESS`) with the address of this resource, as the message above shows it, and apply again."

// createArguments are the arguments that an error of the API about a creation can concern.
var createArguments = []string{argOfferID, "template", "disk_gb", "name", argSSHKeyIDs, "type", "image"}

// addNotCreated reports why no instance was created, or that the outcome is unknown.
func (r *instanceResource) addNotCreated(
	ctx context.Context, diags *diag.Diagnostics, queries []market.Query, err error,
) {
	e := failure.As(err)
	switch e.Kind {
	case failure.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryCannotCreate), interruptedText(e)+
			paragraph(r.explainNoOffer(ctx, queries, e)))
	case failure.OutcomeUnknown:
		tfkit.AddError(diags, tfkit.Summaryf(summaryOutcomeUnknown), outcomeUnknownText(e))
	case failure.KeysUsedUp:
		tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey), tfkit.Summaryf(summaryKeysUsedUp),
			"All instances that were created with the key of this resource and its "+
				"later generations are destroyed. Nothing was rented. Choose another key.")
	case failure.NoOffer:
		addNoOfferLeft(diags, e, r.explainNoOffer(ctx, queries, e))
	case failure.OfferRefused:
		addOfferRefused(diags, e)
	case failure.AboveLimit:
		if e.Limit == failure.MaxPrice {
			addOfferAboveCap(diags, e.OfferID, e.PriceKopH, e.LimitKopH)
			return
		}
		addSpendingProblems(diags, &e)
	case failure.AccountUnreadable:
		addSpendingProblems(diags, &e)
	case failure.OtherArguments:
		addOtherArguments(diags, e)
	case failure.NotLost:
		addNotLost(diags, e)
	case failure.InUse:
		addInUse(diags, e)
	case failure.OffersUnreadable:
		action := tfkit.Text("list offers")
		if e.OfferID != "" {
			action = tfkit.Textf("read offer %s", e.OfferID)
		}
		tfkit.AddAPIError(diags, action, e.Err, argOfferID, argOfferQuery)
	default:
		tfkit.AddAPIError(diags, "create instance", err, createArguments...)
	}
}

// addSpendingProblems reports problems of a spending check.
func addSpendingProblems(diags *diag.Diagnostics, problems ...*failure.Error) {
	tfinstance.AddSpendingProblems(diags, problems, "The instance was not rented or started.")
}

func addOfferRefused(diags *diag.Diagnostics, e failure.Error) {
	text := tfinstance.RefusedText(e)
	switch {
	case e.Availability == failure.NoPriceForType:
		addNotInterruptible(diags, e.OfferID)
	case e.Err == nil:
		tfkit.AddAttributeError(diags, path.Root(argOfferID), tfkit.Summaryf(summaryCannotCreate), text)
	case rental.IsValidation(e.Err):
		tfkit.AddAPIError(diags, "create instance", e.Err, createArguments...)
	default:
		tfkit.AddAPIErrorAdvising(diags, "create instance", text, e.Err)
	}
}

func interruptedText(e failure.Error) tfkit.Text {
	var text tfkit.Text
	switch {
	case errors.Is(e.Err, context.DeadlineExceeded):
		text = "Nothing was rented before timeouts.create expired. Apply again, or raise timeouts.create."
	case e.Offers.Waited > 0:
		text = tfkit.Textf("The run was interrupted after it had waited %s for an offer. Nothing was rented. Apply again.",
			e.Offers.Waited.Round(time.Second))
	default:
		text = "The run was interrupted before anything was rented. Apply again."
	}
	if e.Last != nil {
		text += "\n\n" + tfinstance.LastOfferText(e.Last) + "."
	}
	return text
}

func outcomeUnknownText(e failure.Error) tfkit.Text {
	text := tfkit.Textf("%s\n\nThe request may have succeeded: its response was lost, and the retries did not return "+
		"one. ", e.Err)
	if e.ConfiguredKey != "" {
		text += tfkit.Textf("Set idempotency_key = %q in this resource. ", e.ConfiguredKey)
	}
	if e.Within == 0 {
		text += "recover_within is 0s: set a longer time. "
	}
	return text + tfkit.Textf("Apply again, before recover_within is over: the apply recovers the instance if it was "+
		"created, and creates it if not. Later, the error of the apply names it. Before you destroy or remove this resource "+
		"instead, run `terraform-provider-gpurent unmanaged`: it lists the instance if it exists. The request had the "+
		"idempotency key %s.", e.Key)
}

// explainNoOffer explains why no offer matches the queries of a failed creation; empty after other errors.
func (r *instanceResource) explainNoOffer(
	ctx context.Context, queries []market.Query, e failure.Error,
) tfkit.Text {
	if !e.Offers.Listed || e.Offers.Matching > 0 {
		return ""
	}
	return r.explain(ctx, queries)
}

// explain describes for each query which filters exclude the available offers. It returns an empty text if the offers
// cannot be read.
func (r *instanceResource) explain(ctx context.Context, queries []market.Query) tfkit.Text {
	return tfinstance.Explain(ctx, r.Meta, queries, func(i int) tfkit.Text {
		switch {
		case i > 0:
			return tfkit.Textf("fallback_queries[%d]: ", i-1)
		case len(queries) > 1:
			return "offer_query: "
		}
		return ""
	})
}

func addNoOfferLeft(diags *diag.Diagnostics, e failure.Error, explanation tfkit.Text) {
	var detail tfkit.Text
	if e.Offers.Waited > 0 {
		detail = tfkit.Textf("The creation waited %s for an offer (wait_for_offer). ", e.Offers.Waited.Round(time.Second))
	}
	if e.Offers.Listed {
		detail += tfinstance.OffersText(e.Offers) + " "
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
	case !e.Offers.Listed:
		advice = "Apply again."
	case e.Offers.Waited > 0:
		advice += "wait longer with wait_for_offer."
	default:
		advice += "set wait_for_offer to wait for an offer: offers change about every minute."
	}
	tfkit.AddAttributeError(diags, path.Root(argOfferQuery), tfkit.Summaryf(summaryNoOfferLeft), detail+advice)
}

func addOtherArguments(diags *diag.Diagnostics, e failure.Error) {
	inst := e.Instance
	tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey), tfkit.Summaryf(summaryOtherArguments), tfkit.Textf(
		"Instance %s (status %q) was created under the key of this resource before, and differs from the configuration: its "+
			"%s. Nothing was rented. Instance %s was not changed and is billed (%s).\n\nTo keep it here, restore the "+
			"configuration with which it was created and apply again, or import it. If another state has it, choose another "+
			"key here.",
		inst.ID, inst.Status, tfinstance.DifferenceText(e.Differences[0]), inst.ID, tfkit.HourlyRubles(inst.BurnKopH()),
	)+ownershipCauses)
}

// ownershipCauses are the usual causes of an instance that is not lost.
var ownershipCauses = tfinstance.OwnershipCauses("set another idempotency_key (or idempotency_prefix, or name) here",
	"change the key with each replacement")

// addNotLost reports an instance that was rented before under the key and most likely belongs to another state.
func addNotLost(diags *diag.Diagnostics, e failure.Error) {
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
func addInUse(diags *diag.Diagnostics, e failure.Error) {
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

// addRejected reports that a new instance costs too much or is not as ordered, and whether it was removed.
func addRejected(diags *diag.Diagnostics, rented lifecycle.Rented, e failure.Error) {
	removal := " " + removalText(e)
	switch {
	case e.Kind == failure.NotAsRequested:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotAsRequested, rented.ID),
			"The API returned another instance than ordered: "+differencesText(e.Differences)+"."+removal)
	case e.Limit == failure.MaxBurn:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNewAboveLimit, rented.ID), tfkit.Textf(
			"The API raised the price of the instance to %s. ", tfkit.HourlyRubles(rented.Price.RunningKopH))+
			tfinstance.SpendingErrorText(&e)+removal)
	default:
		var offer tfkit.Text
		if rented.Candidate != nil {
			offer = tfkit.Textf("The price of offer %s with the disk was %s. ", rented.Candidate.Offer.ID,
				tfkit.HourlyRubles(rented.Candidate.KopH))
		}
		tfkit.AddAttributeError(diags, path.Root("max_price_kop_h"), tfkit.Summaryf(summaryNewAboveLimit, rented.ID), offer+
			tfkit.Textf("The instance costs %s, and max_price_kop_h is %s.", tfkit.HourlyRubles(e.PriceKopH),
				tfkit.HourlyRubles(e.LimitKopH))+removal)
	}
}

// removalText describes what became of a new instance that must not run.
func removalText(e failure.Error) tfkit.Text {
	switch e.Removal {
	case failure.Destroyed:
		return "The API accepted the request to destroy the instance. Apply again to try another offer, or change the " +
			"arguments."
	case failure.Stopped:
		return "An earlier or another run created it with the same idempotency_key, or a request of this run whose " +
			"response was lost: it was stopped. Only its disk is billed now. It is in the state and marked tainted: the next " +
			"apply destroys it and creates another. To keep it, change the limit, run `terraform untaint ADDRESS` (or `tofu " +
			"untaint ADDRESS`) with the address of this resource, and apply again. If another state has it, run `terraform " +
			"state rm ADDRESS` here first."
	default:
		return tfkit.Textf("It could not be removed: %s\n\nThe instance is in the state, marked tainted, and billed. Apply "+
			"again to destroy it, or destroy it in the service's console.", e.Err)
	}
}

func differencesText(differences []failure.Difference) (text tfkit.Text) {
	for i, d := range differences {
		if i > 0 {
			text += "; "
		}
		text += tfinstance.DifferenceText(d)
	}
	return text
}

// addDiffersFromOffer warns of harmless differences between a new instance and its order.
func addDiffersFromOffer(diags *diag.Diagnostics, rented lifecycle.Rented, order lifecycle.Order) {
	if differences := rented.Differences(order); len(differences) > 0 && !rented.Recovered {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryDiffersFromOffer, rented.ID), tfkit.Textf(
			"In the response to the create request, %s. The instance is kept.", differencesText(differences)))
	}
}

// addRecovered reports an instance that an earlier run created.
func addRecovered(diags *diag.Diagnostics, rented lifecycle.Rented, now time.Time) {
	text := "It was " + tfinstance.CreatedText(rented.Instance, now) + " under the idempotency key of this resource, " +
		"most likely by a run that was killed before it saved it. No other instance was created.\n\n" +
		"If another state, or another resource of this one, has it, remove this resource from the state before anything " +
		"else, because both would change and destroy it: run `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`) " +
		"with its address, and set another idempotency_key (or idempotency_prefix, or name). With create_before_destroy " +
		"and an unchanged key, nothing was replaced: keep the resource, and change the key for a replacement."
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryRecovered, rented.ID), text)
}

// addCreatedNotReady reports why a new instance is not ready. An error taints the instance, so that the next apply
// replaces it. That is right for a failed instance, but wrong after an interruption, which is therefore a warning.
func (r *instanceResource) addCreatedNotReady(
	ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, keepOnTimeout bool, timeout time.Duration,
	err error,
) {
	e := failure.As(err)
	switch {
	case e.Kind == failure.Interrupted && ctx.Err() != nil:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryInterruptedStart, inst.ID),
			"It is rented and in the state. The next apply continues to wait for it."+tfinstance.CauseText(err)+"\n\n"+
				r.lastSeen(ctx, inst))
	case e.Kind == failure.Interrupted && keepOnTimeout:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNotReady, inst.ID), tfkit.Textf(
			"It is rented and in the state, but was not ready within %s (timeouts.create). The next apply continues to "+
				"wait.%s\n\n%s", timeout, tfinstance.CauseText(err), r.lastSeen(ctx, inst)))
	case e.Kind == failure.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotReady, inst.ID), tfkit.Textf(
			"It was not ready within %s (timeouts.create), and is now marked tainted: the next apply replaces "+
				"it.%s\n\n%s\n\n%s With keep_on_timeout = true every timeout is only a warning.",
			timeout, tfinstance.CauseText(err), r.lastSeen(ctx, inst), tfkit.Text(untaint)))
	default:
		r.addNotConverged(ctx, diags, inst, err)
		if e.Kind != failure.Gone && e.Kind != failure.NeedsReplacement {
			tfkit.AddWarning(diags, tfkit.Summaryf(summaryTainted, inst.ID), "It exists and is billed. The next apply replaces "+
				"it. "+untaint)
		}
	}
}

// addUpdateFailed reports why an existing instance is not in its desired state. The error does not taint the instance:
// the next apply continues. inst has only an id if the instance could not be read.
func (r *instanceResource) addUpdateFailed(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, inst rental.Instance, timeout time.Duration, err error,
) {
	kind := failure.KindOf(err)
	interrupted := kind == failure.Interrupted || kind == 0 && waitCtx.Err() != nil
	switch {
	case interrupted && ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterruptedUpdate, inst.ID),
			"The next apply continues."+tfinstance.CauseText(err)+"\n\n"+r.lastSeen(ctx, inst))
	case interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotConverged, inst.ID), tfkit.Textf(
			"It did not reach the desired state within %s (timeouts.update). The next apply continues to wait.%s\n\n%s",
			timeout, tfinstance.CauseText(err), r.lastSeen(ctx, inst)))
	default:
		r.addNotConverged(ctx, diags, inst, err)
	}
}

func (r *instanceResource) lastSeen(ctx context.Context, inst rental.Instance) tfkit.Text {
	return tfinstance.LastSeen(ctx, r.Meta.Client, inst)
}

func addGone(diags *diag.Diagnostics, id string, lastSeen tfkit.Text) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryGone, id), "It was destroyed outside Terraform during this run, or the "+
		"API does not find it. If the next plan does not find it either, the apply creates another."+paragraph(lastSeen))
}

// addNotConverged reports why the wait of a resource failed, other than an interruption or a timeout.
func (r *instanceResource) addNotConverged(
	ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, err error,
) {
	switch kind := failure.KindOf(err); {
	case rental.IsNotFound(err):
		addGone(diags, inst.ID, "")
	case kind == failure.Gone:
		addGone(diags, inst.ID, r.lastSeen(ctx, inst))
	case kind == failure.NeedsReplacement && inst.Status == rental.StatusOutbid:
		tfkit.AddError(diags, tfkit.Summaryf(summaryOutbid, inst.ID), "With on_outbid = \"replace\" the next apply "+
			"replaces it. Until then only its disk is billed.\n\n"+r.lastSeen(ctx, inst))
	case kind == failure.NeedsReplacement:
		tfkit.AddError(diags, tfkit.Summaryf(summaryUnusable, inst.ID), "It failed and cannot be started. The next apply "+
			"replaces it. If that one fails, too, add its rented_offer_id to exclude_offer_ids.\n\n"+r.lastSeen(ctx, inst))
	default:
		addStateError(diags, inst, err, func() tfkit.Text { return r.lastSeen(ctx, inst) }, nextSteps{
			reverted: "The next apply requests it again.",
			outbidAgain: "Apply again later, set on_outbid = \"keep\" to leave it outbid, or \"replace\" to create another " +
				"instance.",
			aboveLimit: "Raise max_price_kop_h or apply again later. For an interruptible instance, on_outbid = \"keep\" " +
				"waits for a lower price and \"replace\" creates another instance.",
		})
	}
}

// nextSteps are the last sentences of messages about a start or stop that failed.
type nextSteps struct{ reverted, outbidAgain, aboveLimit tfkit.Text }

// addStateError reports a start or stop that failed, or another error of a wait.
func addStateError(
	diags *diag.Diagnostics, inst rental.Instance, err error, lastSeen func() tfkit.Text, next nextSteps,
) {
	switch e := failure.As(err); e.Kind {
	case failure.Reverted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryReverted, inst.ID), "The API accepted the request, and the instance "+
			"then went back. "+next.reverted+"\n\n"+lastSeen())
	case failure.OutbidAgain:
		tfkit.AddError(diags, tfkit.Summaryf(summaryOutbidAgain, inst.ID), tfkit.Textf(
			"This run started it %d times, and each time the market price rose above its bid. No further bid was placed. Only "+
				"its disk is billed. %s", e.Starts, next.outbidAgain))
	case failure.AboveLimit:
		addStartAboveLimit(diags, inst.ID, e, next.aboveLimit)
	case failure.AccountUnreadable:
		addSpendingProblems(diags, &e)
	case failure.StateRefused:
		tfkit.AddAPIErrorAdvising(diags, tfkit.Textf("%s instance %s", verbFor(e.Wanted), inst.ID), lastSeen()+
			"\n\nIts state was not changed, and nothing else was tried. Run again when the message of the API, or the "+
			"status, allows it.", e.Err)
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("change the state of instance %s", inst.ID), err)
	}
}

// addStartAboveLimit reports that the start of an instance costs more than a limit. nextStep ends the detail.
func addStartAboveLimit(diags *diag.Diagnostics, id string, e failure.Error, nextStep tfkit.Text) {
	price := tfkit.HourlyRubles(e.PriceKopH)
	reason := tfkit.Textf("max_price_kop_h is %s.", tfkit.HourlyRubles(e.LimitKopH))
	if e.Limit == failure.MaxBurn {
		price, reason = tfkit.HourlyRubles(e.Instance.Price.RunningKopH), tfinstance.SpendingErrorText(&e)
	}
	switch e.Removal {
	case failure.NotRemoved:
		tfkit.AddError(diags, tfkit.Summaryf(summaryStillRunsAboveCap, id), tfkit.Textf(
			"The API started it at %s. %s Stopping it again failed: it most likely runs and is billed at %s. Stop it in the "+
				"service's console now.\n\n%s", price, reason, price, e.Err))
	case failure.Stopped:
		tfkit.AddError(diags, tfkit.Summaryf(summaryStoppedAboveCap, id), tfkit.Textf(
			"The API started it at %s. %s The API accepted its stop: only its disk is billed after that. %s",
			price, reason, nextStep))
	default:
		if e.Limit == failure.MaxBurn {
			addSpendingProblems(diags, &e)
			return
		}
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotStarted, id), tfkit.Textf(
			"A start costs %s now, and %s No start was requested: only its disk is billed. %s", price, reason, nextStep))
	}
}

// addMissingAddresses warns that a running instance has no SSH address, or has web pages without an address.
func addMissingAddresses(
	diags *diag.Diagnostics, inst rental.Instance, outcome lifecycle.Outcome, sshTimeout time.Duration,
) {
	if outcome.NoSSH {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNoSSH, inst.ID), tfkit.Textf(
			"The API returned none within %s after the instance was running, although its template has SSH. The instance is "+
				"in the state and is billed. When the API returns the address, the next refresh reads it.", sshTimeout))
	}
	if missing := lifecycle.MissingURLs(inst); len(missing) > 0 && inst.Status == rental.StatusRunning {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNoURLs, inst.ID), tfkit.Textf(
			"Without an address so far: %s. When the API returns the addresses, the next refresh reads them.", missing))
	}
}

// addDestroyError reports that an instance may still exist. accepted reports whether the API accepted its destruction.
func addDestroyError(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, id string, accepted bool, timeout time.Duration, err error,
) {
	switch {
	case ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterruptedDestroy, id), "It stays in the state until the API confirms "+
			"that it is gone. Run again.")
	case waitCtx.Err() != nil && accepted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, id), tfkit.Textf(
			"The API accepted the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	case waitCtx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, id), tfkit.Textf(
			"The API did not accept the request within %s (timeouts.delete), so the instance may still run and is billed. "+
				"Run again.\n\n%s", timeout, err))
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("destroy instance %s", id), err)
	}
}
