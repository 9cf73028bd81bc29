package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryTooFewReady     = "Fleet %s has too few ready members"
	summaryNotComplete     = "Fleet %s is not complete"
	summaryNotAllocated    = "Fleet %s was not allocated"
	summaryInterrupted     = "Interrupted while fleet %s was changing"
	summaryRecovered       = "Fleet %s contains instances of an earlier run"
	summaryNotDestroyed    = "Fleet %s is not destroyed yet"
	summaryChanges         = "Fleet %s changes existing members"
	summaryTooFewOffers    = "Too few offers for fleet %s"
	summaryTotalAboveCap   = "Fleet %s exceeds max_total_kop_h"
	summaryOtherMembers    = "Instances have the names of members of fleet %s"
	summaryUnrelated       = "Fleet %s did not create all instances with such names"
	summaryKept            = "Fleet %s keeps its members"
	summarySameName        = "Two fleets have the name %s"
	summaryMinReady        = "min_ready exceeds size"
	summaryDestroyed       = "The plan also destroys a fleet with the name %s"
	summaryNullQuery       = "Query is null"
	summaryWaitAboveCreate = "wait_for_offer exceeds timeouts.create"
	summaryWaitAboveUpdate = "wait_for_offer exceeds timeouts.update"
	summaryCannotImport    = "Cannot import fleet %s"
)

// maxLines is the number of members that a message lists.
const maxLines = 50

// outcome is what an apply reports.
type outcome struct {
	reconcile.Spec
	reconcile.Result
	created bool
	timeout time.Duration
}

// addResult reports the result of an apply: the members that are missing or not ready, one line each.
func (r *fleetResource) addResult(ctx context.Context, diags *diag.Diagnostics, o outcome) {
	if len(o.Recovered) > 0 {
		addRecovered(diags, o)
	}
	if len(o.Unrelated) > 0 {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryUnrelated, o.Name), tfkit.Textf("%s have names of members, but not "+
			"their idempotency keys. They stay, and later plans do not name them.", o.Unrelated))
	}
	if len(o.Failures) == 0 {
		return
	}
	ready := reconcile.Ready(o.Members, o.State)
	detail := tfkit.Textf("%d of %d members are ready.", ready, o.Size) + failureLines(o) + r.explain(ctx, o)
	empty := len(o.Members) == 0
	switch {
	case o.Interrupted && o.created && !empty:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nAll members that were rented are in "+
			"the state. The next apply continues.")
	case o.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nThe next apply continues.")
	case o.All:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotAllocated, o.Name), detail+rolledBackText(o)+tainted(o))
	case ready >= o.MinReady:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNotComplete, o.Name), detail+"\n\nmin_ready is met. The next plan "+
			"contains the rest.")
	default:
		tfkit.AddError(diags, tfkit.Summaryf(summaryTooFewReady, o.Name),
			detail+tfkit.Textf("\n\nmin_ready is %d. %s", o.MinReady, whatExists(o))+tainted(o))
	}
}

// whatExists describes which members are left after an apply.
func whatExists(o outcome) tfkit.Text {
	if len(o.Members) > 0 {
		return "The members that exist are in the state."
	}
	for _, failure := range o.Failures {
		if reconcile.KindOf(failure.Err) > reconcile.NotTried {
			return "No member exists." // the API created one that was not as requested
		}
	}
	return "Nothing was rented."
}

// tainted describes what an error of a creation leads to.
func tainted(o outcome) tfkit.Text {
	if !o.created || len(o.Members) == 0 {
		return " The next apply continues."
	}
	return " The fleet is marked tainted, and the next apply keeps its members and continues."
}

// failureLines returns a line for each slot that is not as described.
func failureLines(o outcome) tfkit.Text {
	var text tfkit.Text
	for _, failure := range o.Failures[:min(len(o.Failures), maxLines)] {
		text += "\n  " + slotText(failure.Slot) + ": " + failureText(o, failure)
	}
	if more := len(o.Failures) - maxLines; more > 0 {
		text += tfkit.Textf("\n  … and %d more", more)
	}
	return text
}

// failureText describes one slot in one line.
func failureText(o outcome, failure reconcile.Failure) tfkit.Text {
	var id tfkit.Text
	if failure.Member != nil {
		id = tfkit.Textf("instance %s ", failure.Member.Instance.ID)
	}
	if e, ok := errors.AsType[*reconcile.Error](failure.Err); ok {
		if notRented := e.Kind <= reconcile.NotTried; notRented && id != "" {
			return fleetErrorText(e) + "; " + id + "stays"
		}
		return id + fleetErrorText(e)
	}
	if e, ok := errors.AsType[*placement.Error](failure.Err); ok {
		return id + placementErrorText(e)
	}
	if e, ok := errors.AsType[*lifecycle.Error](failure.Err); ok {
		return id + waitErrorText(o, failure, e)
	}
	if problems, ok := errors.AsType[spending.Problems](failure.Err); ok {
		return id + tfkit.Textf("a spending limit of the provider prevents it: %s", problems)
	}
	return id + tfkit.Textf("%s", failure.Err)
}

func fleetErrorText(e *reconcile.Error) tfkit.Text {
	price, limit := tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH)
	var text tfkit.Text
	switch e.Kind {
	case reconcile.NoOffer:
		if refusal, ok := errors.AsType[*placement.Error](e.Err); ok {
			return "no offer is left; the last refusal: " + placementErrorText(refusal)
		}
		return "no offer is left"
	case reconcile.OverBudget:
		return tfkit.Textf("max_total_kop_h, %s, does not allow another member at the current prices", limit)
	case reconcile.NotTried:
		return tfkit.Textf("not tried, because another member failed: %s", e.Err)
	case reconcile.NotDestroyed:
		if e.Confirmed {
			return tfkit.Textf("is not destroyed yet, but the API accepted the request: %s", e.Err)
		}
		return tfkit.Textf("could not be destroyed and may be billed: %s", e.Err)
	case reconcile.KeptOutbid:
		return "is outbid, and on_outbid is \"keep\""
	case reconcile.AboveCap:
		text = tfkit.Textf("cost %s, above max_price_kop_h (%s)", price, limit)
	case reconcile.AboveTotal:
		text = tfkit.Textf("raised the price of the fleet to %s, above max_total_kop_h (%s)", price, limit)
	case reconcile.NotAsRequested:
		text = "was not as requested: "
		for i, d := range e.Differences {
			if i > 0 {
				text += "; "
			}
			text += tfkit.Textf("%s is %s instead of %s", d.Attribute, d.Actual, d.Requested)
		}
	}
	switch {
	case e.Err != nil:
		return text + tfkit.Textf("; it could not be removed and is billed: %s", e.Err)
	case e.Stopped:
		return text + "; it was stopped"
	}
	return text + "; it was destroyed"
}

func placementErrorText(e *placement.Error) tfkit.Text {
	switch e.Kind {
	case placement.Interrupted:
		return "interrupted, nothing was rented"
	case placement.OutcomeUnknown:
		return tfkit.Textf("the outcome of the create request is unknown: the next apply receives the instance if there is "+
			"one (idempotency key %q): %s", e.Key, e.Err)
	case placement.OtherArguments:
		return tfkit.Textf("instance %s of an earlier run has another %s: %s instead of %s; restore the configuration, or "+
			"destroy it in the service's console", e.Instance.ID, e.Difference.Attribute, e.Difference.Actual,
			e.Difference.Requested)
	case placement.InUse:
		return tfkit.Textf("instance %s belongs to another resource of this run", e.Other.ID)
	case placement.KeyInUse:
		return "another fleet with the same name is being created"
	case placement.OffersUnreadable:
		return tfkit.Textf("the offers could not be read: %s", e.Err)
	case placement.OfferRefused:
		return tfkit.Textf("the API refused offer %s: %s", e.OfferID, e.Err)
	default:
		return tfkit.Textf("%s", e)
	}
}

func waitErrorText(o outcome, failure reconcile.Failure, e *lifecycle.Error) tfkit.Text {
	var status tfkit.Text
	if failure.Member != nil {
		status = statusText(failure.Member.Instance)
	}
	switch e.Kind {
	case lifecycle.Interrupted:
		if o.Interrupted {
			return "is not ready yet, status " + status + tfinstance.CauseText(e)
		}
		return tfkit.Textf("is not ready within %s, status ", o.timeout) + status + tfinstance.CauseText(e)
	case lifecycle.Gone:
		return "was destroyed outside Terraform"
	case lifecycle.NeedsReplacement:
		return "is " + status + ": the next apply replaces it"
	case lifecycle.NotStarted, lifecycle.StoppedAboveCap:
		return tfkit.Textf("is not started: it costs %s, and its limit (max_price_kop_h, or what max_total_kop_h leaves) is "+
			"%s", tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH))
	case lifecycle.RunsAboveCap:
		return tfkit.Textf("runs at %s, above its limit %s, and could not be stopped: %s", tfkit.HourlyRubles(e.PriceKopH),
			tfkit.HourlyRubles(e.LimitKopH), e.Err)
	case lifecycle.OutbidAgain:
		return tfkit.Textf("was outbid after each of %d starts", e.Starts)
	case lifecycle.Reverted, lifecycle.Refused, lifecycle.Rejected:
	}
	return tfkit.Textf("%s", e)
}

// explain describes which filters exclude the offers that a fleet lacked.
func (r *fleetResource) explain(ctx context.Context, o outcome) tfkit.Text {
	if o.Choice == nil || o.Choice.Matching > 0 {
		return ""
	}
	return explainQueries(ctx, r.Meta, o.Spec)
}

func explainQueries(ctx context.Context, meta *tfkit.Meta, spec reconcile.Spec) tfkit.Text {
	queries := make([]rental.OfferQuery, len(spec.Queries))
	for i, query := range spec.Queries {
		queries[i] = query.OfferQuery
	}
	text := tfinstance.Explain(ctx, meta, queries, func(i int) tfkit.Text {
		if len(queries) == 1 {
			return ""
		}
		return tfkit.Textf("offer_queries[%d]: ", i)
	})
	if text == "" {
		return ""
	}
	return "\n\n" + text
}

func rolledBackText(o outcome) tfkit.Text {
	if len(o.RolledBack) == 0 {
		return "\n\nallocation is \"all\": the apply keeps no new member. Existing members stay."
	}
	return tfkit.Textf("\n\nallocation is \"all\": the %d members that this apply created were destroyed again. They are "+
		"billed for the time that they existed (gpurent_transactions).", len(o.RolledBack))
}

func addRecovered(diags *diag.Diagnostics, o outcome) {
	var text tfkit.Text
	for _, member := range o.Recovered[:min(len(o.Recovered), maxLines)] {
		text += "\n  " + slotText(member.Slot) + tfkit.Textf(": instance %s", member.Instance.ID)
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryRecovered, o.Name), tfkit.Textf("An earlier run created %d members "+
		"without saving them. The API returned them for their idempotency keys, and no others were created.%s",
		len(o.Recovered), text))
}

func addNotDestroyed(diags *diag.Diagnostics, name string, result reconcile.Result, timeout time.Duration) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, name), tfkit.Textf(
		"%d members may still exist (timeouts.delete is %s). They stay in the state. Run again.", len(result.Members),
		timeout)+failureLines(outcome{Result: result, timeout: timeout}))
}

// warnOfChanges warns of the members that the apply changes or rents again.
func warnOfChanges(diags *diag.Diagnostics, name string, plan model, changes []reconcile.Change) {
	var text tfkit.Text
	listed, existing := 0, 0
	for _, change := range changes {
		if isNew := change.Action == reconcile.Create && change.Member.Generation == 0 && change.Member.Orphan == ""; isNew {
			continue
		}
		if existing++; listed < maxLines {
			listed++
			text += "\n  " + slotText(change.Slot) + ": " + reason(plan, change)
		}
	}
	if existing == 0 {
		return
	}
	if more := existing - listed; more > 0 {
		text += tfkit.Textf("\n  … and %d more", more)
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryChanges, name), "The apply changes these members and no others. A "+
		"replacement or destruction loses the disk of the member:"+text)
}

// addTooFewOffers warns that an apply could not fill all slots now.
func (r *fleetResource) addTooFewOffers(
	ctx context.Context, diags *diag.Diagnostics, plan model, spec reconcile.Spec, choice placement.Choice, count int,
) {
	text := tfkit.Textf("%d offers are needed, and %d are available for them now (%d match the queries, and other "+
		"resources of this plan use %d).", count, len(choice.Candidates), choice.Matching, choice.Reserved)
	switch {
	case choice.OverBudget:
		text += tfkit.Textf(" max_total_kop_h, %s, does not allow more.", tfkit.HourlyRubles(spec.MaxTotalKopH))
	case choice.Split:
		text += " More offers match, but not with the same values of the arguments in same."
	}
	switch wait := plan.waitForOffer(); {
	case wait > 0:
		text += tfkit.Textf(" The apply waits for offers, at most %s (wait_for_offer).", wait)
	case spec.All:
		text += " With allocation = \"all\" the apply fails, unless an earlier run has created the members."
	default:
		text += " The apply creates fewer members, unless an earlier run has created them."
	}
	if choice.Matching == 0 {
		text += explainQueries(ctx, r.Meta, spec)
	}
	tfkit.AddAttributeWarning(diags, path.Root("offer_queries"), tfkit.Summaryf(summaryTooFewOffers, spec.Name), text)
}

func addTotalAboveCap(diags *diag.Diagnostics, spec reconcile.Spec, members int, total int64, lowered bool) {
	text := tfkit.Textf("The %d members that stay cost %s while they run, and max_total_kop_h is %s. Lower size, or "+
		"raise max_total_kop_h.", members, tfkit.HourlyRubles(total), tfkit.HourlyRubles(spec.MaxTotalKopH))
	at, summary := path.Root("max_total_kop_h"), tfkit.Summaryf(summaryTotalAboveCap, spec.Name)
	if lowered {
		tfkit.AddAttributeError(diags, at, summary, text+" Nothing was changed.")
		return
	}
	tfkit.AddAttributeWarning(diags, at, summary, text+" Until then the apply starts and rents nothing.")
}

// addOtherMembers describes instances that are not in the state. created: the plan creates the fleet.
func addOtherMembers(diags *diag.Diagnostics, name string, others []rental.Instance, created bool) {
	ids := make([]string, len(others))
	for i, inst := range others {
		ids[i] = inst.ID + " (" + inst.NameString() + ")"
	}
	text := tfkit.Textf("%s are active, and this state does not contain them.", ids)
	if created {
		text += " If an interrupted run of this configuration created them, an apply with the same arguments adopts those " +
			"in the slots below size, and the next plan shows the destruction of the others. If another state manages a fleet " +
			"with this name, choose another name: both states would own the same instances."
	} else {
		text += " The state contains other instances with the same names, so this fleet changes and destroys none of " +
			"these. Rename or destroy them in the service's console."
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryOtherMembers, name), text)
}

// warnOfOrphans names the instances that the destruction of a fleet includes although they are not in the state.
func warnOfOrphans(diags *diag.Diagnostics, name string, members []reconcile.Member) {
	var ids []string
	for _, member := range members {
		if member.Orphan != "" {
			ids = append(ids, fmt.Sprintf("%s (%s)", member.Orphan, reconcile.MemberName(name, member.Slot)))
		}
	}
	if len(ids) > 0 {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryOtherMembers, name), tfkit.Textf("%s are active, and this state does "+
			"not contain them. Those that an interrupted run of this fleet created are destroyed with the fleet. The others "+
			"stay.", ids))
	}
}

func addSameName(diags *diag.Diagnostics, name string) {
	tfkit.AddAttributeError(diags, path.Root("name"), tfkit.Summaryf(summarySameName, name), "The idempotency keys of "+
		"the members derive from the name, so both fleets would own the same instances. Choose another name.")
}

// addKept describes the replacement of a fleet whose creation failed.
func addKept(diags *diag.Diagnostics, name string, members []reconcile.Member) {
	exist := 0
	for _, member := range members {
		if !member.Lost() {
			exist++
		}
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryKept, name), tfkit.Textf("The fleet is tainted, because its creation "+
		"failed. Terraform shows a replacement, but the apply keeps its %d members and continues the creation. Another "+
		"warning lists the members that it changes, if there are any. To replace all members, run terraform untaint with "+
		"the address of the resource, and then apply with -replace and the same address.", exist))
}

// addDestroyed describes a creation that has the name of a fleet that the same plan destroys.
func addDestroyed(diags *diag.Diagnostics, name string, members int) {
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryDestroyed, name), tfkit.Textf("The state contains a fleet with this "+
		"name. The plan destroys it with its %d members, and creates another one. After terraform taint this is expected. "+
		"If only the resource was renamed, add a moved block from its old address to the new one: then all members stay.",
		members))
}

func addNullQuery(diags *diag.Diagnostics, index int) {
	at := path.Root("offer_queries").AtListIndex(index)
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNullQuery), tfkit.Textf(
		"offer_queries[%d] is null. Remove it. A query that selects all offers is {}.", index))
}

func addMinReadyAboveSize(diags *diag.Diagnostics, minReady, size int64) {
	tfkit.AddAttributeError(diags, path.Root("min_ready"), tfkit.Summaryf(summaryMinReady), tfkit.Textf(
		"min_ready is %d, and size is %d. No apply could succeed.", minReady, size))
}

func addWaitAboveTimeout(
	diags *diag.Diagnostics, summary tfkit.Summary, argument tfkit.Text, wait, timeout time.Duration,
) {
	tfkit.AddAttributeError(diags, path.Root("wait_for_offer"), summary, tfkit.Textf(
		"wait_for_offer is %s, and %s is %s. Raise the timeout, or remove it: the default contains the wait.", wait,
		argument, timeout))
}

func addCannotImport(diags *diag.Diagnostics, name string, err error) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryCannotImport, name), tfkit.Textf("%s. Rename or destroy one of them in "+
		"the service's console.", err))
}
