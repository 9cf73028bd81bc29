package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryInterrupted = "Interrupted while fleet %s was changing"

// outcome is what an apply reports.
type outcome struct {
	fleet.Spec
	fleet.Result
	created bool
}

// addResult reports the result of an apply: what the fleet costs, and the slots that are missing or not ready.
func (r *fleetResource) addResult(ctx context.Context, diags *diag.Diagnostics, o outcome) {
	if len(o.Recovered) > 0 {
		addRecovered(diags, o)
	}
	tfinstance.AddKeptForOther(diags, o.KeptForOther...)
	if len(o.Failures) == 0 {
		return
	}
	ready, surplus := countReady(o)
	detail := readyText(o, ready) + failureLines(o.Failures) + r.explain(ctx, o) + "\n\n"
	switch {
	case o.Interrupted && o.created && len(o.Members) > 0:
		tfkit.AddWarning(diags, tfkit.Textf(summaryInterrupted, o.Name), detail+"All rented members are in the state. "+
			"Apply again to continue. "+stopPaying)
	case o.Interrupted:
		tfkit.AddError(diags, tfkit.Textf(summaryInterrupted, o.Name), detail+"Apply again to continue.")
	case o.created && slices.ContainsFunc(o.Failures, rentedBefore):
		tfkit.AddError(diags, tfkit.Textf("Fleet %s cannot take existing instances", o.Name), detail+otherOwnerAdvice(o))
	case o.All:
		tfkit.AddError(diags, tfkit.Textf("Fleet %s was not allocated", o.Name), detail+rolledBackText(o)+tainted(o))
	case surplus > 0:
		tfkit.AddError(diags, tfkit.Textf("Fleet %s has too many members", o.Name), detail+"Apply again to destroy them.")
	case ready >= o.MinReady:
		tfkit.AddWarning(diags, tfkit.Textf("Fleet %s is not complete", o.Name),
			detail+tfkit.Textf("min_ready is %d. The next apply continues. To accept what exists, lower size.", o.MinReady))
	default:
		tfkit.AddError(diags, tfkit.Textf("Fleet %s has too few ready members", o.Name),
			detail+tfkit.Textf("min_ready is %d.", o.MinReady)+tainted(o))
	}
}

const stopPaying tfkit.Text = "To stop paying, destroy the fleet."

// readyText begins a message with the number of ready members and the price of all members.
func readyText(o outcome, ready int) tfkit.Text {
	text := tfkit.Textf("%d of %d members are ready", ready, o.Size)
	var burn int64
	for _, m := range o.Members {
		burn += m.Instance.BurnKopH()
	}
	if burn > 0 {
		text += ", and the fleet costs " + tfkit.HourlyRubles(burn)
	}
	return text + ":"
}

func rentedBefore(f fleet.Failure) bool {
	_, ok := lifecycle.RentedBefore(f.Err)
	return ok
}

// countReady counts the members that are ready, and those that a smaller size should have destroyed.
func countReady(o outcome) (ready, surplus int) {
	stays := slices.Clone(o.Members)
	for _, f := range o.Failures {
		if _, ok := errors.AsType[fleet.NotDestroyed](f.Err); ok {
			stays = slices.DeleteFunc(stays, func(m fleet.Member) bool { return m.Slot == f.Slot })
		}
	}
	return fleet.Ready(stays, o.Target.State), len(o.Members) - o.Size
}

// tainted describes what an error of a creation leads to.
func tainted(o outcome) tfkit.Text {
	if len(o.Members) == 0 {
		return " Once that is solved, apply again to continue."
	}
	if !o.created {
		return " Apply again to continue. " + stopPaying
	}
	return " The fleet is tainted, so the next apply destroys its members: to keep them, first run `terraform untaint " +
		"ADDRESS`. " + stopPaying
}

// failureLines returns a line for each reason, with the slots that it concerns and their instances.
func failureLines(failures []fleet.Failure) tfkit.Text {
	lines := make([]slotLine, len(failures))
	for i, f := range failures {
		lines[i] = slotLine{f.Slot, f.Member.Instance.ID, failureText(f)}
	}
	return slotLines(lines)
}

// failureText describes one slot in one line.
func failureText(f fleet.Failure) tfkit.Text {
	if e, ok := errors.AsType[fleet.NotDestroyed](f.Err); ok {
		if e.Accepted {
			return tfkit.Textf("Not destroyed yet, although the API accepted the request: %s", e.Err)
		}
		return tfkit.Textf("Not destroyed, and may be billed: %s", e.Err)
	}
	if _, ok := errors.AsType[fleet.NotPlanned](f.Err); ok {
		return statusText(f.Member.Instance) + " now, and the plan did not show its destruction: kept until the next apply."
	}
	if _, ok := errors.AsType[fleet.KeptOutbid](f.Err); ok {
		return "Outbid, and on_outbid is \"keep\"."
	}
	text := tfinstance.Describe(f.Err, f.Member.Instance).Reason
	if _, ok := errors.AsType[lifecycle.OutcomeUnknown](f.Err); ok {
		return text + " The next apply or destroy finds it."
	}
	switch {
	case tfinstance.NothingRented(f.Err) && !f.Member.Missing():
		text += " The existing instance stays."
	case f.Member.Missing() && f.Replaced != "":
		text += " The instance before it is destroyed."
	}
	return text
}

// explain describes which filters exclude all offers.
func (r *fleetResource) explain(ctx context.Context, o outcome) tfkit.Text {
	for _, f := range o.Failures {
		if e, ok := errors.AsType[market.NoOffer](f.Err); ok && e.Counts.Matching == 0 {
			return tfinstance.Explain(ctx, r.Meta, o.Offers.Queries)
		}
	}
	return ""
}

func rolledBackText(o outcome) tfkit.Text {
	if len(o.RolledBack) == 0 {
		return "allocation is \"all\": the apply kept no new member."
	}
	return tfkit.Textf("allocation is \"all\": the apply destroyed the members that it had created (%d). They are billed "+
		"for the time that they existed.", len(o.RolledBack))
}

func addRecovered(diags *diag.Diagnostics, o outcome) {
	var then tfkit.Text
	if o.created { // the keys are chosen
		then = "\n\nIf another state has a fleet with the same idempotency_prefix and name, both would change and destroy " +
			"the same instances: run `terraform state rm ADDRESS` here now, and choose another prefix."
	} else if len(o.Members) > o.Size {
		then = "\n\nThe next plan shows which of them are destroyed, because size is smaller."
	}
	addFound(diags, tfkit.Textf("Fleet %s contains instances that were rented before", o.Name), o.Recovered, then)
}

// addFound reports members that were found by their keys, with the times of their creation.
func addFound(diags *diag.Diagnostics, summary tfkit.Text, members []fleet.Member, then tfkit.Text) {
	lines := make([]slotLine, len(members))
	for i, m := range members {
		lines[i] = slotLine{slot: m.Slot, instance: m.Instance.ID, text: tfinstance.CreatedText(m.Instance)}
	}
	text := tfkit.Textf("These members (%d) were rented before under the keys of this fleet, and the state did not "+
		"contain them, as after an interrupted apply:", len(members))
	tfkit.AddWarning(diags, summary, text+slotLines(lines)+then)
}

// otherOwnerAdvice describes what to do about instances that were rented before under the chosen keys of a new fleet.
func otherOwnerAdvice(o outcome) tfkit.Text {
	text := tfkit.Text("None of them was changed or destroyed. If another state has them, choose another " +
		"idempotency_prefix or name. ")
	first := tfkit.Text("add ")
	if len(o.Members) > 0 {
		first = "run `terraform state rm ADDRESS`, add "
	}
	if block, ok := tfkit.ImportBlock("gpurent_fleet", o.Name); ok {
		text += "If no other state has them, " + first + "this block with the address of the resource, and plan again:\n\n" +
			block
	}
	return text
}

func addNotDestroyed(diags *diag.Diagnostics, name string, result fleet.Result, timeout time.Duration) {
	for _, f := range result.Failures {
		if inst, ok := lifecycle.RentedBefore(f.Err); ok {
			tfkit.AddError(diags, tfkit.Textf("Instance %s may belong to another state", inst.ID), tfkit.Textf("The outcome of "+
				"a create request of fleet %s is unknown, and this instance was rented under its chosen key. It was not "+
				"destroyed, because another state with the same idempotency_prefix may have rented it. If no other state has "+
				"it, import it as a gpurent_instance, destroy that, and run again. Otherwise run `terraform state rm ADDRESS` for "+
				"the fleet.", name))
		}
	}
	failures := slices.DeleteFunc(slices.Clone(result.Failures), rentedBefore)
	if len(failures) > 0 {
		tfkit.AddError(diags, tfkit.Textf("Fleet %s is not destroyed yet", name), tfkit.Textf("These members may still "+
			"exist and be billed. They stay in the state. Run again, or raise timeouts.delete (%s):", timeout)+
			failureLines(failures))
	}
}

func addNotAFleetID(diags *diag.Diagnostics) {
	tfkit.AddError(diags, "Not the id of a fleet", "The id of a fleet is its name, a slash and 16 random "+
		"characters, as in `terraform state show`. Import with the whole id, or with the name only.")
}

func addCannotImport(diags *diag.Diagnostics, name string, err error) {
	tfkit.AddError(diags, tfkit.Textf("Cannot import fleet %s", name), tfkit.Textf(
		"Two instances have the name of the same member. Import one of them as a gpurent_instance, give it another "+
			"name or destroy it by an apply, then import the fleet again: %s.", err))
}
