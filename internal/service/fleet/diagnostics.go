package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryTooFewReady   = "Fleet %s has too few ready members"
	summaryNotComplete   = "Fleet %s is not complete"
	summaryNotAllocated  = "Fleet %s was not allocated"
	summaryInterrupted   = "Interrupted while fleet %s was changing"
	summaryRecovered     = "Fleet %s contains instances of an earlier run"
	summaryNotDestroyed  = "Fleet %s is not destroyed yet"
	summaryNotReduced    = "Fleet %s has too many members"
	summaryChanges       = "Fleet %s changes existing members"
	summaryTooFewOffers  = "Too few offers for fleet %s"
	summaryTotalAboveCap = "Fleet %s exceeds max_total_kop_h"
	summaryOtherMembers  = "Instances have the names of members of fleet %s"
	summaryMinReady      = "min_ready exceeds size"
	summaryNullQuery     = "Query is null"
	summaryCannotImport  = "Cannot import fleet %s"
	summaryOtherOwner    = "Fleet %s cannot take existing instances"
)

// maxSlots is the number of slots that a message names for one reason.
const maxSlots = 50

// outcome is what an apply reports.
type outcome struct {
	fleet.Spec
	fleet.Result
	created bool
}

// addResult reports the result of an apply: the members that are missing or not ready, one line each.
func (r *fleetResource) addResult(ctx context.Context, diags *diag.Diagnostics, o outcome) {
	if len(o.Recovered) > 0 {
		addRecovered(diags, o, r.Meta.Client.Now())
	}
	tfinstance.AddKeptForOther(diags, o.KeptForOther...)
	if len(o.Failures) == 0 {
		return
	}
	ready, surplus := countReady(o)
	detail := tfkit.Textf("Ready members: %d of %d.", ready, o.Size) + failureLines(o) + r.explain(ctx, o)
	switch {
	case o.Interrupted && o.created && len(o.Members) > 0:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nAll members that were rented are in "+
			"the state. The next apply continues.")
	case o.Interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterrupted, o.Name), detail+"\n\nThe next apply continues.")
	case o.created && slices.ContainsFunc(o.Failures, mayBelongToOther):
		tfkit.AddError(diags, tfkit.Summaryf(summaryOtherOwner, o.Name), detail+
			"\n\nNone of the other instances was changed or destroyed."+otherOwnerAdvice(o))
	case o.All:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotAllocated, o.Name), detail+rolledBackText(o)+tainted(o))
	case surplus > 0:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotReduced, o.Name), detail+"\n\nMembers that could not be destroyed "+
			"are in the state and are billed. Apply again.")
	case ready >= o.MinReady:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNotComplete, o.Name), detail+tfkit.Textf("\n\nmin_ready is %d. The "+
			"next plan contains the rest.", o.MinReady))
	default:
		tfkit.AddError(diags, tfkit.Summaryf(summaryTooFewReady, o.Name),
			detail+tfkit.Textf("\n\nmin_ready is %d. Members that exist are in the state.", o.MinReady)+tainted(o))
	}
}

func mayBelongToOther(f fleet.Failure) bool { return failure.MayBelongToOther(f.Err) }

// countReady counts the members that are ready, and those that a smaller size should have destroyed.
func countReady(o outcome) (ready, surplus int) {
	stays := slices.Clone(o.Members)
	for _, f := range o.Failures {
		if failure.KindOf(f.Err) == failure.NotDestroyed {
			stays = slices.DeleteFunc(stays, func(m fleet.Member) bool { return m.Slot == f.Slot })
		}
	}
	return fleet.Ready(stays, o.State), len(o.Members) - o.Size
}

// membersText counts members: "1 member", "2 members".
func membersText(n int) tfkit.Text {
	if n == 1 {
		return "1 member"
	}
	return tfkit.Textf("%d members", n)
}

// tainted describes what an error of a creation leads to.
func tainted(o outcome) tfkit.Text {
	if !o.created || len(o.Members) == 0 {
		return " After the causes are solved, apply again to continue."
	}
	return " The fleet is marked tainted: the next apply would destroy its members and create it again. To keep them " +
		"and continue, first run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`) with the address of this resource."
}

// failureLines returns a line for each reason, with the slots that it concerns.
func failureLines(o outcome) tfkit.Text {
	var texts []tfkit.Text
	slots := map[tfkit.Text][]string{}
	for _, f := range o.Failures {
		text := failureText(o, f)
		if slots[text] == nil {
			texts = append(texts, text)
		}
		slots[text] = append(slots[text], string(slotText(f.Slot)))
	}
	return tfkit.Lines(texts, func(text tfkit.Text) tfkit.Text {
		concerned := slots[text]
		more := tfkit.Text("")
		if len(concerned) > maxSlots {
			more, concerned = tfkit.Textf(" and %d more", len(concerned)-maxSlots), concerned[:maxSlots]
		}
		return tfkit.Text(strings.Join(concerned, ", ")) + more + ": " + text
	})
}

// failureText describes one slot in one line.
func failureText(o outcome, f fleet.Failure) tfkit.Text {
	e := failure.As(f.Err)
	id := tfkit.Text("")
	if !f.Member.Lost() {
		id = tfkit.Textf("instance %s ", f.Member.Instance.ID)
	}
	if text := memberText(f.Member, e); text != "" {
		return id + text
	}
	text := notRentedText(o, e, f.Err)
	switch {
	case id != "":
		text += "; " + id + "stays"
	case f.Replaced != "":
		text += tfkit.Textf("; instance %s was destroyed before", f.Replaced)
	}
	return text
}

// notRentedText describes why nothing was rented for a slot, or a request failed.
func notRentedText(o outcome, e failure.Error, err error) tfkit.Text {
	last := failure.As(e.Last)
	switch {
	case e.Kind == failure.Interrupted:
		return "nothing was rented before the timeout or the interruption"
	case e.Kind == failure.OutcomeUnknown:
		return tfkit.Textf("the outcome of the create request with the idempotency key %s is unknown: the next apply takes "+
			"the instance if it exists, and `terraform-provider-gpurent unmanaged` lists it: %s", e.Key, e.Err)
	case e.Kind == failure.NoOffer && e.Offers.OverBudget, failure.Exceeds(err, failure.MaxTotal):
		return tfkit.Textf("max_total_kop_h, %s, does not allow another member at the current prices",
			tfkit.HourlyRubles(o.MaxTotalKopH))
	case e.Kind == failure.NoOffer && last.Kind != "":
		return notRentedText(o, last, e.Last)
	case e.Kind == failure.NoOffer:
		return "no offer is left"
	case e.Kind == failure.OfferRefused || e.Kind == failure.OffersUnreadable || failure.Exceeds(err, failure.MaxPrice):
		return "no offer could be rented. " + tfinstance.LastOfferText(err) + tfkit.FieldErrors(e.Err)
	case e.Kind == failure.AccountUnreadable || failure.Exceeds(err, failure.MaxBurn):
		return tfinstance.SpendingErrorText(&e)
	case e.Kind == failure.NotTried:
		return "not tried, because another member failed: " + notRentedText(o, failure.As(e.Err), e.Err)
	default:
		return ownerText(e, err)
	}
}

// ownerText describes an instance that may belong to someone else.
func ownerText(e failure.Error, err error) tfkit.Text {
	switch e.Kind {
	case failure.OtherArguments:
		return tfkit.Textf("instance %s of an earlier run or another state differs: its %s; it stays and is billed; restore "+
			"the arguments, choose a different name for the fleet, or destroy it in the service's console", e.Instance.ID,
			tfinstance.DifferencesText(e.Differences))
	case failure.NotLost:
		return tfinstance.NotLostText(e) + "; if a killed run of this fleet rented it, set recover_within of the provider " +
			"above its age for one apply"
	case failure.NotByKey:
		return tfkit.Textf("instance %s has the name %q, and the API did not return it for the key of the slot: another "+
			"state, or an earlier generation of this fleet, may have it", e.Instance.ID, e.Instance.NameString())
	case failure.InUse:
		return tfkit.Textf("another resource of this run has instance %s", e.Instance.ID)
	default:
		return tfkit.Textf("%s", err) + tfkit.FieldErrors(err)
	}
}

// memberText describes what is wrong with the instance of a slot, after "instance ins_1 "; empty if nothing was rented.
func memberText(member fleet.Member, e failure.Error) tfkit.Text {
	status := statusText(member.Instance)
	switch e.Kind {
	case failure.NotPlanned:
		return "is " + status + " now, and the plan did not show that it is destroyed: it stays until the next apply"
	case failure.NotDestroyed:
		if e.Accepted {
			return tfkit.Textf("is not destroyed yet, but the API accepted the request: %s", e.Err)
		}
		return tfkit.Textf("could not be destroyed and may be billed: %s", e.Err)
	case failure.KeptOutbid:
		return "is outbid, and on_outbid is \"keep\""
	case failure.NotAsRequested, failure.AboveLimit:
		if e.Kind == failure.AboveLimit && e.Instance.ID == "" && e.Wanted == "" {
			return ""
		}
		return rejectedText(e)
	case failure.Interrupted:
		if member.Lost() {
			return ""
		}
		if !member.NotReady {
			return "was not changed before the timeout or the interruption"
		}
		return "was not ready in time, status " + status + "." + tfinstance.CauseText(&e)
	case failure.Gone:
		return "was destroyed outside Terraform, or the API does not find it"
	case failure.NeedsReplacement:
		return "is " + status + ": the next apply replaces it"
	case failure.OutbidAgain:
		return tfkit.Textf("was outbid after each of %d starts", e.Starts)
	case failure.Reverted, failure.StateRefused:
		return tfkit.Textf("is %s: %s", status, &e)
	default:
		return ""
	}
}

// rejectedText describes an instance that must not run.
func rejectedText(e failure.Error) tfkit.Text {
	var text, reason tfkit.Text
	price, limit := tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH)
	switch {
	case e.Kind == failure.NotAsRequested:
		text = "was not as requested: " + tfinstance.DifferencesText(e.Differences)
	case e.Limit == failure.MaxBurn:
		text, reason = "costs too much", ". "+tfinstance.SpendingErrorText(&e)
	case e.Limit == failure.MaxTotal:
		text = tfkit.Textf("raises the price of the fleet to %s, above max_total_kop_h, %s", price, limit)
	default:
		text = tfkit.Textf("costs %s, above max_price_kop_h, %s", price, limit)
	}
	switch e.Removal {
	case failure.NotRemoved:
		text += tfkit.Textf("; it could not be removed and is billed: %s", e.Err)
	case failure.Stopped:
		text += "; it was stopped"
	case failure.Destroyed:
		text += "; it was destroyed"
	default:
		text += "; it was not started"
	}
	return text + reason
}

// explain describes which offers a fleet lacked, and which filters exclude all of them.
func (r *fleetResource) explain(ctx context.Context, o outcome) tfkit.Text {
	for _, f := range o.Failures {
		e := failure.As(f.Err)
		switch {
		case e.Kind != failure.NoOffer || !e.Offers.Listed:
		case e.Offers.Matching == 0:
			return tfinstance.Explain(ctx, r.Meta, o.Queries)
		case o.All && e.Offers.Needed > e.Offers.Found:
			return "\n\n" + offersText(o.Spec, e.Offers, e.Offers.Needed)
		}
	}
	return ""
}

func rolledBackText(o outcome) tfkit.Text {
	text := tfkit.Text("\n\nallocation is \"all\": the apply keeps no new member. Existing members stay, and so do " +
		"those that another run may have rented.")
	if len(o.RolledBack) > 0 {
		text += tfkit.Textf(" Destroyed again, and billed for the time that they existed (gpurent_transactions): %s.",
			membersText(len(o.RolledBack)))
	}
	return text
}

func addRecovered(diags *diag.Diagnostics, o outcome, now time.Time) {
	text := tfkit.Textf("An earlier run created %s without saving the state. The API returned the same instances for "+
		"their idempotency keys, and created no others.%s", membersText(len(o.Recovered)),
		tfkit.Lines(o.Recovered, func(m fleet.Member) tfkit.Text {
			return slotText(m.Slot) + tfkit.Textf(": instance %s, ", m.Instance.ID) + tfinstance.CreatedText(m.Instance, now)
		}))
	if o.created {
		text += "\n\nIf another state, or another resource of this one, has a fleet with this name, remove this resource " +
			"from the state before anything else, because both would change and destroy the same instances: run `terraform " +
			"state rm ADDRESS` (or `tofu state rm ADDRESS`) with the address of this resource, and choose another name."
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryRecovered, o.Name), text)
}

// otherOwnerAdvice explains why the slots of a new fleet have instances that may belong to another fleet.
func otherOwnerAdvice(o outcome) tfkit.Text {
	if !slices.ContainsFunc(o.Failures, func(f fleet.Failure) bool {
		return mayBelongToOther(f) && failure.KindOf(f.Err) != failure.InUse
	}) {
		return " Choose a different name for one of the fleets. If this one was only renamed, add a moved block. With " +
			"create_before_destroy, change the name with each replacement."
	}
	var text, first tfkit.Text
	if len(o.Members) > 0 {
		text = " The fleet is marked tainted: the next apply destroys its members."
		first = "run `terraform state rm ADDRESS` (or `tofu state rm ADDRESS`), which keeps the members, "
	}
	if block, ok := tfkit.ImportBlock("gpurent_fleet", o.Name); ok {
		text += "\n\nIf no other state has these instances, " + first + "add this block with the address of this resource, " +
			"and plan again. It imports all instances with the names of members:\n\n" + block
	}
	return text + tfinstance.OwnershipCauses("choose another name here", "change the name with each replacement")
}

func addNotDestroyed(diags *diag.Diagnostics, name string, result fleet.Result, timeout time.Duration) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, name), tfkit.Textf(
		"%s may still exist (timeouts.delete is %s). They stay in the state. Run again.",
		membersText(len(result.Members)), timeout)+failureLines(outcome{Result: result}))
}

func addCannotImport(diags *diag.Diagnostics, name string, err error) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryCannotImport, name), tfkit.Textf(
		"Rename or destroy one of these instances in the service's console: %s.", err))
}
