package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
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
	summaryNotReduced      = "Fleet %s has too many members"
	summaryChanges         = "Fleet %s changes existing members"
	summaryTooFewOffers    = "Too few offers for fleet %s"
	summaryTotalAboveCap   = "Fleet %s exceeds max_total_kop_h"
	summaryMembersAboveCap = "Fleet %s has members above max_price_kop_h"
	summaryOtherMembers    = "Instances have the names of members of fleet %s"
	summaryMinReady        = "min_ready exceeds size"
	summaryNullQuery       = "Query is null"
	summaryWaitAboveCreate = "wait_for_offer exceeds timeouts.create"
	summaryWaitAboveUpdate = "wait_for_offer exceeds timeouts.update"
	summaryCannotImport    = "Cannot import fleet %s"
	summaryOtherOwner      = "Fleet %s cannot take existing instances"
	summaryKeptForOther    = "Fleet %s kept instances of another resource"
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
		addRecovered(diags, o, r.Meta.Client.Now())
	}
	addKeptForOther(diags, o.Name, o.KeptForOther)
	if len(o.Failures) == 0 {
		return
	}
	ready, surplus := countReady(o)
	detail := tfkit.Textf("Ready members: %d of %d.", ready, o.Size) + failureLines(o) + r.explain(ctx, o)
	empty := len(o.Members) == 0
	switch {
	case o.Interrupted && o.created && !empty:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nAll members that were rented are in "+
			"the state. The next apply continues.")
	case o.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nThe next apply continues.")
	case o.created && slices.ContainsFunc(o.Failures, reconcile.Failure.OfOtherObject):
		tfkit.AddError(diags, tfkit.Summaryf(summaryOtherOwner, o.Name), detail+
			"\n\nNone of the other instances was changed or destroyed."+otherOwnerAdvice(o))
	case o.All:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotAllocated, o.Name), detail+rolledBackText(o)+tainted(o))
	case surplus > 0:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotReduced, o.Name), detail+"\n\nMembers that could not be destroyed "+
			"are in the state and are billed. Apply again.")
	case ready >= o.MinReady:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNotComplete, o.Name), detail+"\n\nmin_ready is met. The next plan "+
			"contains the rest.")
	default:
		tfkit.AddError(diags, tfkit.Summaryf(summaryTooFewReady, o.Name),
			detail+tfkit.Textf("\n\nmin_ready is %d. %s", o.MinReady, whatExists(o))+tainted(o))
	}
}

// countReady counts the members that are ready, and those that a smaller size should have destroyed.
func countReady(o outcome) (ready, surplus int) {
	stays := slices.Clone(o.Members)
	for _, failure := range o.Failures {
		if reconcile.KindOf(failure.Err) == reconcile.NotDestroyed {
			stays = slices.DeleteFunc(stays, func(m reconcile.Member) bool { return m.Slot == failure.Slot })
		}
	}
	return reconcile.Ready(stays, o.State), len(o.Members) - o.Size
}

// membersText counts members: "1 member", "2 members".
func membersText(n int) tfkit.Text {
	if n == 1 {
		return "1 member"
	}
	return tfkit.Textf("%d members", n)
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
	return "This apply rented nothing."
}

// tainted describes what an error of a creation leads to.
func tainted(o outcome) tfkit.Text {
	if !o.created || len(o.Members) == 0 {
		return " After the causes are solved, apply again to continue."
	}
	return " The fleet is marked tainted: the next apply would destroy its members and create it again. To keep them " +
		"and continue, first run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`) with the address of this resource."
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
	text := tfkit.Text("the apply keeps no new member.")
	if len(o.RolledBack) > 0 {
		text = tfkit.Textf("what this apply created was destroyed again: %s. It is billed for the time that it existed "+
			"(gpurent_transactions).", membersText(len(o.RolledBack)))
	}
	return "\n\nallocation is \"all\": " + text + " Existing members stay, and so do those that another run may have " +
		"rented."
}

func addRecovered(diags *diag.Diagnostics, o outcome, now time.Time) {
	var text tfkit.Text
	for _, member := range o.Recovered[:min(len(o.Recovered), maxLines)] {
		text += "\n  " + slotText(member.Slot) + tfkit.Textf(": instance %s, ", member.Instance.ID) +
			tfinstance.CreatedText(member.Instance, now)
	}
	text = tfkit.Textf("An earlier run created %s without saving the state. The API returned the same instances for "+
		"their idempotency keys, and created no others.%s", membersText(len(o.Recovered)), text)
	if o.created {
		text += "\n\nIf another state, or another resource of this one, has a fleet with this name, remove this resource " +
			"from the state before anything else, because both would change and destroy the same instances: run `terraform " +
			"state rm ADDRESS` (or `tofu state rm ADDRESS`) with the address of this resource, and choose another name."
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryRecovered, o.Name), text)
}

// otherOwnerAdvice explains why the slots of a new fleet have instances that may belong to another fleet.
func otherOwnerAdvice(o outcome) tfkit.Text {
	if !slices.ContainsFunc(o.Failures, func(f reconcile.Failure) bool {
		return f.OfOtherObject() && placement.KindOf(f.Err) != placement.InUse
	}) {
		return " Choose a different name for one of the fleets. If this one was only renamed, add a moved block. With " +
			"create_before_destroy, change the name with each replacement."
	}
	var text, first tfkit.Text
	if len(o.Members) > 0 {
		text = " The fleet is marked tainted: the next apply destroys its members."
		first = "run `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`), which keeps the members, "
	}
	if block, ok := tfkit.ImportBlock(TypeName, o.Name); ok {
		text += "\n\nIf no other state has these instances, " + first + "add this block with the address of this resource, " +
			"and plan again. It imports all instances with the names of members:\n\n" + block
	}
	return text + tfinstance.OwnershipCauses("choose another name here", "change the name with each replacement")
}

// addKeptForOther reports the members that another object has; none for nothing to report.
func addKeptForOther(diags *diag.Diagnostics, name string, ids []string) {
	if len(ids) == 0 {
		return
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryKeptForOther, name), tfkit.Textf("Another resource of this run has %s. "+
		"They were not changed or destroyed, and are no longer members of this fleet. If you renamed the resource, add a "+
		"moved block next time. To replace the members with create_before_destroy, change the name with each replacement.",
		ids))
}

func addNotDestroyed(diags *diag.Diagnostics, name string, result reconcile.Result, timeout time.Duration) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, name), tfkit.Textf(
		"%s may still exist (timeouts.delete is %s). They stay in the state. Run again.",
		membersText(len(result.Members)), timeout)+failureLines(outcome{Result: result, timeout: timeout}))
}

func addCannotImport(diags *diag.Diagnostics, name string, err error) {
	text := tfkit.Textf("%s.", err)
	if e, ok := errors.AsType[*reconcile.DuplicateSlotError](err); ok {
		text = tfkit.Textf("The instances %s have the same name %q. Rename or destroy one of them in the service's console.",
			e.IDs, e.Name)
	}
	tfkit.AddError(diags, tfkit.Summaryf(summaryCannotImport, name), text)
}
