package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

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
			return fleetErrorText(o, failure, e) + "; " + id + "stays"
		}
		return id + fleetErrorText(o, failure, e)
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
	return id + tfkit.Textf("%s", failure.Err) + tfkit.FieldErrors(failure.Err)
}

func fleetErrorText(o outcome, failure reconcile.Failure, e *reconcile.Error) tfkit.Text {
	price, limit := tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH)
	var text tfkit.Text
	switch e.Kind {
	case reconcile.NoOffer:
		if refusal, ok := errors.AsType[*placement.Error](e.Err); ok {
			return "no offer could be rented; the last refusal: " + placementErrorText(refusal)
		}
		if o.All {
			return "not rented, because there are too few offers"
		}
		return "no offer is left"
	case reconcile.OverBudget:
		return tfkit.Textf("max_total_kop_h, %s, does not allow another member at the current prices", limit)
	case reconcile.NotTried:
		return tfkit.Textf("not tried, because another member failed: %s", e.Err)
	case reconcile.NotPlanned:
		return "is " + statusText(failure.Member.Instance) + ", and the plan did not show that it is destroyed: it stays " +
			"until the next apply"
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
		if errors.Is(e.Err, context.DeadlineExceeded) {
			return "nothing was rented before the timeout"
		}
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

// explain describes which offers a fleet lacked, and which filters exclude all of them.
func (r *fleetResource) explain(ctx context.Context, o outcome) tfkit.Text {
	lacking := 0
	for _, failure := range o.Failures {
		if reconcile.KindOf(failure.Err) == reconcile.NoOffer {
			lacking++
		}
	}
	switch {
	case o.Choice == nil:
		return ""
	case o.Choice.Matching == 0:
		return explainQueries(ctx, r.Meta, o.Spec)
	case o.All && lacking > len(o.Choice.Candidates):
		return "\n\n" + offersText(o.Spec, *o.Choice, lacking)
	}
	return ""
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

func addCannotImport(diags *diag.Diagnostics, name string, err error) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryCannotImport, name), tfkit.Textf("%s. Rename or destroy one of them in "+
		"the service's console.", err))
}
