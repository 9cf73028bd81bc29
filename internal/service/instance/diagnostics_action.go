package instance

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryCannotAct = "Cannot %s instance %s"

// addNotFound reports that an action has no instance.
func addNotFound(diags *diag.Diagnostics, verb tfkit.Text, id string) {
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Textf(summaryCannotAct, verb, id),
		"The API has no such instance, or it belongs to another account. Check instance_id, and that the API key belongs "+
			"to the right account.")
}

// addFinal reports that an action cannot change an instance that is destroyed or failed. It appends details, if any.
func addFinal(diags *diag.Diagnostics, verb tfkit.Text, inst rental.Instance, details tfkit.Text) {
	text := tfkit.Text("It failed and cannot be started.")
	if inst.Destroyed() {
		text = "It is destroyed, or about to be."
	}
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Textf(summaryCannotAct, verb, inst.ID), tfkit.Textf(
		"Its status is %q. %s If a gpurent_instance manages it, the next apply creates another.%s",
		inst.Status, text, details))
}

func addUnreadableAtPlan(diags *diag.Diagnostics, id string, err error) {
	tfkit.AddWarning(diags, tfkit.Textf("Instance %s could not be read", id), tfkit.Textf(
		"The action reads it again before it changes anything. %s", err))
}

// addStoppedByRestart reports that a restart has left an instance stopped.
func addStoppedByRestart(diags *diag.Diagnostics, inst rental.Instance) {
	tfkit.AddError(diags, tfkit.Textf("Instance %s is now stopped", inst.ID), tfkit.Textf(
		"The restart stopped it, and could not start it again: see the next error. Its status is %q, and only its disk is "+
			"billed. To start it, run this action or gpurent_instance_start again, or apply, if a gpurent_instance with "+
			"desired_state = \"running\" manages it.", inst.Status))
}

// addError reports why the action failed, the last state of the instance, and what to do next.
func (run *actionRun) addError(ctx context.Context, inst rental.Instance, err error) {
	if run.stopped && (inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid) {
		addStoppedByRestart(run.diags, inst)
	}
	if inst.StopReason != nil && *inst.StopReason == rental.StopReasonUser {
		inst.StopReason = nil // most likely the action requested the stop
	}
	goal, again := ready, tfkit.Text("Run the action again: it continues.")
	switch run.verb {
	case verbStop:
		goal = "stopped"
	case verbRestart:
		again = "Run the action again: it starts a stopped instance and waits for a starting one, but it stops a running " +
			"one once more."
	}
	requested := tfkit.Text("Before that, the action requested no start or stop.")
	if run.requested {
		requested = "Before that, the action requested a start or stop, which may still be carried out."
	}
	lastSeen := func() tfkit.Text { return tfinstance.LastSeen(ctx, run.Meta.Client, inst) }
	e := failure.As(err)
	interrupted := e.Kind == failure.Interrupted || e.Kind == "" && ctx.Err() != nil
	switch {
	case interrupted && errors.Is(ctx.Err(), context.Canceled):
		tfkit.AddError(run.diags, tfkit.Textf(summaryInterrupted, inst.ID),
			requested+" "+again+"\n\n"+lastSeen())
	case interrupted:
		tfkit.AddError(run.diags, tfkit.Textf(summaryNotYet, inst.ID, goal), tfkit.Textf(
			"The action took longer than %s (timeout). %s%s %s\n\n%s",
			run.timeout, requested, tfinstance.CauseText(err), again, lastSeen()))
	case rental.IsNotFound(err):
		addNotFound(run.diags, run.verb, inst.ID)
	case e.Kind == failure.Gone || e.Kind == failure.NeedsReplacement:
		addFinal(run.diags, run.verb, inst, "\n\n"+lastSeen())
	case e.Kind == "":
		tfkit.AddAPIError(run.diags, tfkit.Textf("%s instance %s", run.verb, inst.ID), err)
	default:
		addNotConverged(ctx, run.Meta.Client, run.diags, inst, err)
	}
}
