package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries that several diagnostics share.
const (
	summaryCannotCreate = "Cannot create instance"
	summaryInterrupted  = "Interrupted while instance %s was changing"
	summaryNotYet       = "Instance %s is not %s yet"
)

// untaint describes how to keep an instance that was marked tainted.
const untaint tfkit.Text = "To keep it and continue to wait, run `terraform untaint ADDRESS`, and apply again."

// createArguments are the arguments that an error of the API about a creation can concern.
var createArguments = []string{argOfferID, "template", "disk_gb", "name", argSSHKeyIDs, "type", "image"}

// addNotCreated reports why no instance was created, or that the outcome is unknown.
func (r *instanceResource) addNotCreated(
	ctx context.Context, diags *diag.Diagnostics, queries []rental.OfferQuery, err error,
) {
	e := failure.As(err)
	switch e.Kind {
	case failure.Interrupted:
		tfkit.AddError(diags, summaryCannotCreate, interruptedText(e)+r.explainNoOffer(ctx, queries, e))
	case failure.OutcomeUnknown:
		tfkit.AddError(diags, "Cannot determine whether the instance was created", outcomeUnknownText(e))
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
		tfkit.AddAttributeError(diags, path.Root(argOfferID), summaryCannotCreate, text)
	case rental.IsValidation(e.Err):
		tfkit.AddAPIError(diags, "create instance", e.Err, createArguments...)
	default:
		tfkit.AddAPIErrorAdvising(diags, "create instance", text, e.Err)
	}
}

func interruptedText(e failure.Error) tfkit.Text {
	text := tfkit.Text("The run was interrupted before anything was rented. Apply again.")
	if errors.Is(e.Err, context.DeadlineExceeded) {
		text = "Nothing was rented before timeouts.create expired. Apply again, or raise timeouts.create."
	}
	if e.Last != nil {
		text += "\n\n" + tfinstance.LastOfferText(e.Last) + "."
	}
	return text
}

func outcomeUnknownText(e failure.Error) tfkit.Text {
	text := tfkit.Textf("%s\n\nAn instance may have been rented: the response was lost. ", e.Err)
	if e.ConfiguredKey != "" {
		text += tfkit.Textf("Set idempotency_key = %q in this resource. ", e.ConfiguredKey)
	}
	if e.Within == 0 {
		text += "recover_within is 0s: set a longer time. "
	}
	return text + tfkit.Textf("Apply again within recover_within: the apply recovers the instance, or creates it. Before "+
		"you destroy or remove this resource instead, run `terraform-provider-gpurent unmanaged`, which lists it. The "+
		"idempotency key is %s.", e.Key)
}

// explainNoOffer explains why no offer matches the queries of a failed creation; empty after other errors.
func (r *instanceResource) explainNoOffer(
	ctx context.Context, queries []rental.OfferQuery, e failure.Error,
) tfkit.Text {
	if !e.Offers.Listed || e.Offers.Matching > 0 {
		return ""
	}
	return tfinstance.Explain(ctx, r.Meta, queries)
}

func addNoOfferLeft(diags *diag.Diagnostics, e failure.Error, explanation tfkit.Text) {
	var detail tfkit.Text
	if e.Offers.Waited > 0 {
		detail = tfkit.Textf("The creation waited %s for an offer (wait_for_offer). ", e.Offers.Waited.Round(time.Second))
	}
	if e.Offers.Listed {
		detail += tfinstance.OffersText(e.Offers) + " "
	}
	detail += "Nothing was rented."
	if e.Last != nil {
		detail += "\n\n" + tfinstance.LastOfferText(e.Last) + "."
	}
	detail += explanation + "\n\n"
	advice := tfkit.Text("Apply again.")
	if e.Offers.Listed {
		advice = widenQuery + orWait
	}
	tfkit.AddAttributeError(diags, path.Root(argOfferQuery), "No matching offer could be rented", detail+advice)
}

func addOtherArguments(diags *diag.Diagnostics, e failure.Error) {
	inst := e.Instance
	tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey),
		"The instance of idempotency_key differs from the configuration",
		tfkit.Textf("Instance %s (%s, %s) was created under the key of this resource before, and differs: its %s. Nothing "+
			"was rented or changed. To keep it here, restore its arguments and apply again, or import it.\n\n", inst.ID,
			inst.Status, tfkit.PerHour(inst.BurnKopH()), tfinstance.DifferencesText(e.Differences))+ownershipCauses)
}

// ownershipCauses are the usual causes of an instance that was rented before under a key and that is not taken, and
// what to do.
const ownershipCauses = "Usual causes: a copied resource or a second state (set another idempotency_key or, with " +
	"idempotency_prefix, another name), a rename (add a moved block), create_before_destroy (change the key with each " +
	"replacement)."

// addNotLost reports an instance that was rented before under the key and most likely belongs to another state.
func addNotLost(diags *diag.Diagnostics, e failure.Error) {
	text := "Nothing was rented, changed or destroyed: " + tfinstance.NotLostText(e) + ". "
	if block, ok := tfkit.ImportBlock("gpurent_instance", e.Instance.ID); ok {
		text += "If none has it, add this block with the address of this resource, and plan again:\n\n" + block
	} else {
		text += "If none has it, import it. " + noImportBlock
	}
	tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey),
		tfkit.Textf("Instance %s has the idempotency key of this resource", e.Instance.ID),
		text+"\n\n"+ownershipCauses)
}

// addInUse reports that the API returned an instance that another object of this run has.
func addInUse(diags *diag.Diagnostics, e failure.Error) {
	tfkit.AddAttributeError(diags, path.Root(argIdempotencyKey),
		tfkit.Textf("Another resource has instance %s", e.Instance.ID),
		"The API returned it for this resource, most likely because both have the same key. Nothing was rented, changed or "+
			"destroyed. "+ownershipCauses)
}

// addRejected reports that a new instance costs too much or is not as ordered, and whether it was removed.
func addRejected(diags *diag.Diagnostics, rented lifecycle.Rented, e failure.Error) {
	if e.Kind == failure.NotAsRequested {
		tfkit.AddError(diags, tfkit.Textf("Instance %s differs from the request", rented.ID),
			"The API returned another instance than ordered: "+tfinstance.DifferencesText(e.Differences)+". "+removalText(e))
		return
	}
	var offer tfkit.Text
	if rented.Candidate != nil {
		offer = tfkit.Textf("The price of offer %s with the disk was %s. ", rented.Candidate.Offer.ID,
			tfkit.PerHour(rented.Candidate.KopH))
	}
	addAboveLimit(diags, rented.ID, e, offer+removalText(e))
}

// addAboveLimit reports an instance that costs more than a limit allows. consequence describes what became of it.
func addAboveLimit(diags *diag.Diagnostics, id string, e failure.Error, consequence tfkit.Text) {
	text := tfkit.Textf("It costs %s, and max_price_kop_h is %s.", tfkit.HourlyRubles(e.PriceKopH),
		tfkit.PerHour(e.LimitKopH))
	if e.Limit == failure.MaxBurn {
		text = tfinstance.SpendingErrorText(&e)
	}
	tfkit.AddError(diags, tfkit.Textf("Instance %s costs more than a limit allows", id), text+" "+consequence)
}

// removalText describes what became of a new instance that must not run.
func removalText(e failure.Error) tfkit.Text {
	switch e.Removal {
	case failure.Destroyed:
		return "The API accepted the request to destroy the instance. Apply again to try another offer, or change the " +
			"arguments."
	case failure.Stopped:
		return "It may be older than this run, so it was stopped and not destroyed: only its disk is billed. The next " +
			"apply replaces it, because it is tainted. To keep it, raise the limit, run `terraform untaint ADDRESS`, and " +
			"apply. If another state has it, run `terraform state rm ADDRESS` here."
	default:
		return tfkit.Textf("It could not be removed, and is billed: %s\n\nIt is in the state. Apply again to destroy it, or "+
			"destroy it in the service's console.", e.Err)
	}
}

// addDiffersFromOffer warns of harmless differences between a new instance and its order.
func addDiffersFromOffer(diags *diag.Diagnostics, rented lifecycle.Rented, order lifecycle.Order) {
	if differences := rented.Differences(order); len(differences) > 0 && !rented.Recovered {
		tfkit.AddWarning(diags, tfkit.Textf("Instance %s differs from its offer", rented.ID), tfkit.Textf(
			"In the response to the create request, %s. The instance is kept.", tfinstance.DifferencesText(differences)))
	}
}

// addRecovered reports an instance that was rented before under the key.
func addRecovered(diags *diag.Diagnostics, rented lifecycle.Rented, now time.Time) {
	text := "It was " + tfinstance.CreatedText(rented.Instance, now) + " under the key of this resource, most likely " +
		"by a killed run, and costs " + tfkit.PerHour(rented.BurnKopH()) + ". No other instance was created.\n\n" +
		"If another state or resource has it, both would change and destroy it: run `terraform state rm ADDRESS` here now, " +
		"and set another idempotency_key. With create_before_destroy, nothing was replaced: keep it, and change the key " +
		"for a replacement."
	tfkit.AddWarning(diags, tfkit.Textf("Recovered instance %s", rented.ID), text)
}

// addCreatedNotReady reports why a new instance is not ready. An error taints the instance, so that the next apply
// replaces it. That is right for a failed instance, but wrong after an interruption, which is therefore a warning.
func (r *instanceResource) addCreatedNotReady(
	ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, keepOnTimeout bool, timeout time.Duration,
	err error,
) {
	kind := failure.KindOf(err)
	lastSeen := tfinstance.CauseText(err) + "\n\n" + tfinstance.LastSeen(ctx, r.Meta.Client, inst)
	exceeded := tfkit.Textf("It was not ready within %s (timeouts.create).", timeout)
	switch {
	case kind == failure.Interrupted && ctx.Err() != nil:
		tfkit.AddWarning(diags, tfkit.Textf(summaryInterrupted, inst.ID),
			"It is rented and in the state. The next apply continues to wait for it."+lastSeen)
	case kind == failure.Interrupted && keepOnTimeout:
		tfkit.AddWarning(diags, tfkit.Textf(summaryNotYet, inst.ID, ready), exceeded+" It is rented and in the state. "+
			"The next apply continues to wait for it."+lastSeen)
	case kind == failure.Interrupted:
		tfkit.AddError(diags, tfkit.Textf(summaryNotYet, inst.ID, ready), exceeded+" It is tainted: the next apply "+
			"replaces it. "+untaint+" With keep_on_timeout = true, a timeout is only a warning."+lastSeen)
	default:
		addNotConverged(ctx, r.Meta.Client, diags, inst, err)
		if kind != failure.Gone && kind != failure.NeedsReplacement {
			tfkit.AddWarning(diags, tfkit.Textf("Instance %s is marked tainted", inst.ID), "It exists and costs "+
				tfkit.HourlyRubles(inst.BurnKopH())+". The next apply replaces it. "+untaint)
		}
	}
}

// ready is the goal of a start.
const ready tfkit.Text = "ready"

// addUpdateFailed reports why an existing instance is not in its desired state. The error does not taint the instance:
// the next apply continues. inst has only an id if the instance could not be read.
func (r *instanceResource) addUpdateFailed(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, inst rental.Instance, timeout time.Duration, err error,
) {
	kind := failure.KindOf(err)
	switch ended := kind == failure.Interrupted || kind == "" && waitCtx.Err() != nil; {
	case ended && ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Textf(summaryInterrupted, inst.ID), "The next apply continues."+
			tfinstance.CauseText(err)+"\n\n"+tfinstance.LastSeen(ctx, r.Meta.Client, inst))
	case ended:
		tfkit.AddError(diags, tfkit.Textf(summaryNotYet, inst.ID, tfkit.Text("in its desired state")), tfkit.Textf(
			"It did not reach the desired state within %s (timeouts.update). The next apply continues to wait.%s\n\n%s",
			timeout, tfinstance.CauseText(err), tfinstance.LastSeen(ctx, r.Meta.Client, inst)))
	default:
		addNotConverged(ctx, r.Meta.Client, diags, inst, err)
	}
}

func addGone(diags *diag.Diagnostics, id string) {
	tfkit.AddError(diags, tfkit.Textf("Instance %s no longer exists", id),
		"It was destroyed outside Terraform during this run, or the API does not find it. If the next plan does not find "+
			"it either, the apply creates another.")
}

// addNotConverged reports why a wait failed, other than an interruption or a timeout.
func addNotConverged(
	ctx context.Context, client *rental.Client, diags *diag.Diagnostics, inst rental.Instance, err error,
) {
	lastSeen := func() tfkit.Text { return tfinstance.LastSeen(ctx, client, inst) }
	switch e := failure.As(err); {
	case rental.IsNotFound(err) || e.Kind == failure.Gone:
		addGone(diags, inst.ID)
	case e.Kind == failure.NeedsReplacement && inst.Status == rental.StatusOutbid:
		tfkit.AddError(diags, tfkit.Textf("Instance %s was outbid", inst.ID), "With on_outbid = \"replace\" the next apply "+
			"replaces it. Until then only its disk is billed.\n\n"+lastSeen())
	case e.Kind == failure.NeedsReplacement:
		tfkit.AddError(diags, tfkit.Textf("Instance %s cannot be used", inst.ID),
			"It failed and cannot be started. The next apply replaces it. If that one fails, too, add its rented_offer_id to "+
				"exclude_offer_ids.\n\n"+lastSeen())
	case e.Kind == failure.Reverted:
		tfkit.AddError(diags, tfkit.Textf("Instance %s returned to its previous state", inst.ID),
			"The API accepted the request, and the instance then went back. Run again.\n\n"+lastSeen())
	case e.Kind == failure.OutbidAgain:
		tfkit.AddError(diags, tfkit.Textf("Instance %s was outbid again", inst.ID), tfkit.Textf(
			"This run started it %d times, and each time the market price rose above its bid. Only its disk is billed. Run "+
				"again later, or set on_outbid = \"keep\" to leave it outbid, or \"replace\" to create another instance.",
			e.Starts))
	case e.Kind == failure.AboveLimit:
		addStartAboveLimit(diags, inst.ID, e)
	case e.Kind == failure.AccountUnreadable:
		addSpendingProblems(diags, &e)
	case e.Kind == failure.StateRefused:
		tfkit.AddAPIErrorAdvising(diags, tfkit.Textf("%s instance %s", verbFor(e.Wanted), inst.ID), lastSeen()+
			"\n\nIts state was not changed, and nothing else was tried. Run again when the message of the API, or the "+
			"status, allows it.", e.Err)
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("change the state of instance %s", inst.ID), err)
	}
}

// verbFor returns the verb of the request that moves an instance to a state.
func verbFor(wanted rental.DesiredState) tfkit.Text {
	if wanted == rental.DesiredStopped {
		return verbStop
	}
	return verbStart
}

// addStartAboveLimit reports that the start of an instance costs more than a limit.
func addStartAboveLimit(diags *diag.Diagnostics, id string, e failure.Error) {
	const next = "Raise max_price_kop_h, or run again later. For an interruptible instance, on_outbid = \"keep\" waits " +
		"for a lower price and \"replace\" creates another instance."
	switch {
	case e.Removal == failure.NotRemoved:
		addAboveLimit(diags, id, e, tfkit.Textf("It was started, and stopping it again failed: it most likely runs and is "+
			"billed. Stop it in the service's console now.\n\n%s", e.Err))
	case e.Removal == failure.Stopped:
		addAboveLimit(diags, id, e, "It was stopped again: only its disk is billed after that. "+next)
	case e.Limit == failure.MaxBurn:
		addSpendingProblems(diags, &e)
	default:
		addAboveLimit(diags, id, e, "It was not started: only its disk is billed. "+next)
	}
}

// addMissingAddresses warns that a running instance has no SSH address, or has web pages without an address.
func addMissingAddresses(
	diags *diag.Diagnostics, inst rental.Instance, outcome lifecycle.Outcome, sshTimeout time.Duration,
) {
	if outcome.NoSSH {
		tfkit.AddWarning(diags, tfkit.Textf("Instance %s has no SSH address", inst.ID), tfkit.Textf(
			"The API returned none within %s after the instance was running, although its template has SSH. The instance is "+
				"in the state and is billed. When the API returns the address, the next refresh reads it.", sshTimeout))
	}
	if missing := lifecycle.MissingURLs(inst); len(missing) > 0 && inst.Status == rental.StatusRunning {
		tfkit.AddWarning(diags, tfkit.Textf("Instance %s has web pages without an address", inst.ID), tfkit.Textf(
			"Without an address so far: %s. When the API returns the addresses, the next refresh reads them.", missing))
	}
}

// addDestroyError reports that an instance may still exist. accepted reports whether the API accepted its destruction.
func addDestroyError(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, id string, accepted bool, timeout time.Duration, err error,
) {
	summary := tfkit.Textf(summaryNotYet, id, tfkit.Text("destroyed"))
	switch {
	case ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Textf(summaryInterrupted, id), "It is not destroyed yet, and stays in the state "+
			"until the API confirms that it is gone. Run again.")
	case waitCtx.Err() != nil && accepted:
		tfkit.AddError(diags, summary, tfkit.Textf(
			"The API accepted the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	case waitCtx.Err() != nil:
		tfkit.AddError(diags, summary, tfkit.Textf("The API did not accept the request within %s (timeouts.delete), so the "+
			"instance may still run and is billed. Run again.\n\n%s", timeout, err))
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("destroy instance %s", id), err)
	}
}
