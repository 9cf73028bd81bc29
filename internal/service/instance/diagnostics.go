package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryCannotAct = "Cannot %s instance %s"

// createArguments are the arguments that an error of the API about a creation can concern.
var createArguments = []string{argOfferID, "template", "disk_gb", "name", argSSHKeyIDs, "type", "image"}

// addNotCreated reports why no instance was created, or that the outcome is unknown.
func (r *instanceResource) addNotCreated(
	ctx context.Context, diags *diag.Diagnostics, queries []rental.OfferQuery, err error,
) {
	var explanation tfkit.Text
	if e, ok := errors.AsType[market.NoOffer](err); ok && e.Counts.Matching == 0 {
		explanation = tfinstance.Explain(ctx, r.Meta, queries)
	}
	tfinstance.AddFailure(diags, err, rental.Instance{}, explanation, createArguments...)
}

// addRented reports that a new instance was rented before, or how it differs from its order.
func addRented(diags *diag.Diagnostics, rented lifecycle.Rented) {
	differences := rented.Differences()
	switch {
	case rented.Recovered:
		tfkit.AddWarning(diags, tfkit.Textf("Recovered instance %s", rented.ID), tfkit.Textf(
			"It was %s under the key of this resource, most likely by an interrupted apply, and costs %s. No other one was "+
				"created, and a warning that an instance already has this name is about this one.\n\nIf another state or "+
				"resource has it, both would change and destroy it: run `terraform state rm ADDRESS` here now, and set another "+
				"idempotency_key. With create_before_destroy, nothing was replaced: keep it, and change the key for a "+
				"replacement.",
			tfinstance.CreatedText(rented.Instance), tfkit.PerHour(rented.BurnKopH())))
	case len(differences) > 0:
		tfkit.AddWarning(diags, tfkit.Textf("Instance %s differs from its offer", rented.ID), tfkit.Textf(
			"In the response to the create request, %s. The instance is kept.", tfinstance.DifferencesText(differences)))
	}
}

// endedText returns the summary and the beginning of a message about a wait that ended too early: with the run, or
// after a timeout, the value of an argument.
func endedText(
	ctx context.Context, id string, goal, argument tfkit.Text, timeout time.Duration,
) (summary, text tfkit.Text) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return tfkit.Textf("Interrupted while instance %s was changing", id), ""
	}
	text = tfkit.Textf("It took longer than %s (%s). ", timeout, argument)
	return tfkit.Textf("Instance %s is not %s yet", id, goal), text
}

// addCreatedNotReady reports why a new instance is not ready. An error taints the instance, so that the next apply
// replaces it. That is right for a failed instance, but wrong after an interruption, which is therefore a warning.
func (r *instanceResource) addCreatedNotReady(
	ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, keepOnTimeout bool, timeout time.Duration,
	err error,
) {
	if _, ended := errors.AsType[lifecycle.NotReady](err); !ended {
		addNotConverged(ctx, r.Meta.Client, diags, inst, err, taintedText(inst, err))
		return
	}
	summary, text := endedText(ctx, inst.ID, "ready", "timeouts.create", timeout)
	lastSeen := tfinstance.CauseText(err) + "\n\n" + tfinstance.LastSeen(ctx, r.Meta.Client, inst)
	if ctx.Err() != nil || keepOnTimeout {
		tfkit.AddWarning(diags, summary, text+"It is rented and in the state. The next apply continues to wait for it."+
			lastSeen)
		return
	}
	tfkit.AddError(diags, summary, text+"With keep_on_timeout = true, a timeout is only a warning."+
		taintedText(inst, err)+lastSeen)
}

// taintedText describes that an error of a creation taints an instance that can be used.
func taintedText(inst rental.Instance, err error) tfkit.Text {
	_, rejected := errors.AsType[lifecycle.Rejected](err)
	_, missing := errors.AsType[lifecycle.Missing](err)
	_, failed := errors.AsType[lifecycle.NeedsReplacement](err)
	if rejected || missing || failed {
		return ""
	}
	return tfkit.Textf(" The instance costs %s and is tainted: the next apply replaces it. To keep it and wait, "+
		"run `terraform untaint ADDRESS`, and apply again.", tfkit.PerHour(inst.BurnKopH()))
}

// addUpdateFailed reports why an existing instance is not in its desired state. The error does not taint the instance:
// the next apply continues. inst has only an id if the instance could not be read.
func (r *instanceResource) addUpdateFailed(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, inst rental.Instance, timeout time.Duration, err error,
) {
	if !isEnded(waitCtx, err) {
		addNotConverged(ctx, r.Meta.Client, diags, inst, err, "")
		return
	}
	summary, text := endedText(ctx, inst.ID, "in its desired state", "timeouts.update", timeout)
	tfkit.AddError(diags, summary, text+"The next apply continues to wait."+tfinstance.CauseText(err)+"\n\n"+
		tfinstance.LastSeen(ctx, r.Meta.Client, inst))
}

// isEnded reports whether a wait or a read failed because its context ended.
func isEnded(ctx context.Context, err error) bool {
	_, notReady := errors.AsType[lifecycle.NotReady](err)
	return notReady || ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// addNotConverged reports why a wait failed, other than an interruption or a timeout, with more details.
func addNotConverged(
	ctx context.Context, client *rental.Client, diags *diag.Diagnostics, inst rental.Instance, err error,
	details tfkit.Text,
) {
	if rental.IsNotFound(err) {
		err = lifecycle.Missing{}
	}
	var lastSeen tfkit.Text
	_, failed := errors.AsType[lifecycle.NeedsReplacement](err)
	_, reverted := errors.AsType[lifecycle.Reverted](err)
	_, refused := errors.AsType[lifecycle.StateRefused](err)
	if failed || reverted || refused {
		lastSeen = "\n\n" + tfinstance.LastSeen(ctx, client, inst)
	}
	tfinstance.AddFailure(diags, err, inst, details+lastSeen)
}

// addMissingAddress warns that a running instance has no SSH address.
func addMissingAddress(diags *diag.Diagnostics, now lifecycle.Converged, sshTimeout time.Duration) {
	if now.NoSSH {
		tfkit.AddWarning(diags, tfkit.Textf("Instance %s has no SSH address", now.ID), tfkit.Textf(
			"The API returned none within %s after the instance was running, although its template has SSH. The instance is "+
				"in the state and is billed. When the API returns the address, the next refresh reads it.", sshTimeout))
	}
}

// addDestroyError reports that an instance may still exist. accepted reports whether the API accepted its destruction.
func addDestroyError(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, id string, accepted bool, timeout time.Duration, err error,
) {
	summary, text := endedText(ctx, id, "destroyed", "timeouts.delete", timeout)
	switch {
	case waitCtx.Err() == nil:
		tfkit.AddAPIError(diags, tfkit.Textf("destroy instance %s", id), err)
	case accepted:
		tfkit.AddError(diags, summary, text+"The API accepted the request. The instance stays in the state until the API "+
			"confirms that it is destroyed. Run again.")
	default:
		tfkit.AddError(diags, summary, text+tfkit.Textf("The API did not accept the request, so that the instance may still "+
			"run and is billed. Run again.\n\n%s", err))
	}
}

// addNotFound reports that an action has no instance.
func addNotFound(diags *diag.Diagnostics, verb tfkit.Text, id string) {
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Textf(summaryCannotAct, verb, id),
		"The API has no such instance, or it belongs to another account. Check instance_id, and that the API key belongs "+
			"to the right account.")
}

// addFinal reports that an action cannot change an instance that is destroyed or failed.
func addFinal(diags *diag.Diagnostics, verb tfkit.Text, inst rental.Instance) {
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Textf(summaryCannotAct, verb, inst.ID), tfkit.Textf(
		"Its status is %q, which is final. If a gpurent_instance manages it, the next apply creates another.", inst.Status))
}

// addError reports why the action failed, the last state of the instance, and what to do next.
func (run *actionRun) addError(ctx context.Context, inst rental.Instance, err error) {
	if inst.StopReason != nil && *inst.StopReason == rental.StopReasonUser {
		inst.StopReason = nil // most likely the action requested the stop
	}
	goal := tfkit.Text("ready")
	if run.verb == verbStop {
		goal = "stopped"
	}
	switch {
	case isEnded(ctx, err):
		summary, text := endedText(ctx, inst.ID, goal, "timeout", run.timeout)
		tfkit.AddError(run.diags, summary, text+"A start or stop that it requested may still be carried out. Run the action "+
			"again: it continues, but a restart stops a running instance once more."+tfinstance.CauseText(err)+"\n\n"+
			tfinstance.LastSeen(ctx, run.Meta.Client, inst))
	case rental.IsNotFound(err):
		addNotFound(run.diags, run.verb, inst.ID)
	default:
		addNotConverged(ctx, run.Meta.Client, run.diags, inst, err, "")
	}
	if run.stopped && (inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid) {
		tfkit.AddError(run.diags, tfkit.Textf("Instance %s is now stopped", inst.ID), "The restart stopped it, and did not "+
			"start it again. Only its disk is billed. Run this action or gpurent_instance_start again, or apply.")
	}
}
