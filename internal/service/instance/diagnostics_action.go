package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryActionInterrupted     = "Interrupted before instance %s was %s"
	summaryActionTimeout         = "Instance %s is not %s yet"
	summaryStoppedByRestart      = "Instance %s is now stopped"
	summaryCannotAct             = "Cannot %s instance %s"
	summaryNotRestartedAboveCap  = "Instance %s was not restarted: price above the cap"
	summaryNotRestartedNoBalance = "Instance %s was not restarted: insufficient balance"
	summaryUnreadable            = "Instance %s could not be read"
)

// addNotFound reports that an action has no instance.
func addNotFound(diags *diag.Diagnostics, verb tfkit.Text, id string) {
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Summaryf(summaryCannotAct, verb, id),
		"The API has no such instance, or it belongs to another account. Check instance_id, and that the API key belongs "+
			"to the right account.")
}

// addFinal reports that an action cannot change an instance that is destroyed or failed. It appends details, if any.
func addFinal(diags *diag.Diagnostics, verb tfkit.Text, inst rental.Instance, details tfkit.Text) {
	text := tfkit.Text("It failed and cannot be started.")
	if inst.Destroyed() {
		text = "It is destroyed, or about to be."
	}
	if details != "" {
		details = "\n\n" + details
	}
	tfkit.AddAttributeError(diags, path.Root("instance_id"), tfkit.Summaryf(summaryCannotAct, verb, inst.ID), tfkit.Textf(
		"Its status is %q. %s If a gpurent_instance manages it, the next apply creates another.%s",
		inst.Status,
		text,
		details,
	))
}

func addUnreadableAtPlan(diags *diag.Diagnostics, id string, err error) {
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryUnreadable, id), tfkit.Textf(
		"The action reads it again before it changes anything. %s", err))
}

// addStoppedByRestart reports that a restart has left an instance stopped.
func addStoppedByRestart(diags *diag.Diagnostics, inst rental.Instance) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryStoppedByRestart, inst.ID), tfkit.Textf(
		"The restart stopped it, and could not start it again: see the next error. Its status is %q, and only its disk is "+
			"billed. To start it, run this action or gpurent_instance_start again, or apply, if a gpurent_instance with "+
			"desired_state = \"running\" manages it.", inst.Status))
}

func addNotRestartedAboveCap(diags *diag.Diagnostics, inst rental.Instance, price, limit int64) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryNotRestartedAboveCap, inst.ID), tfkit.Textf(
		"It costs %s now, and max_price_kop_h is %s. It was not stopped, because it might not be started again. Raise "+
			"max_price_kop_h, or remove it.", tfkit.HourlyRubles(price), tfkit.HourlyRubles(limit)))
}

func addNotRestartedNoBalance(diags *diag.Diagnostics, inst rental.Instance, missing *failure.Error) {
	tfkit.AddError(
		diags,
		tfkit.Summaryf(summaryNotRestartedNoBalance, inst.ID),
		"It was not stopped. "+tfinstance.MissingFundsText(missing),
	)
}

// actionFailure contains the data for the message of a failed action.
type actionFailure struct {
	client    *rental.Client
	inst      rental.Instance // as last read; only the id if it was not read
	verb      tfkit.Text      // "start"
	starts    bool            // the action starts the instance
	restarts  bool            // the action stops a running instance first
	stopped   bool            // a restart has stopped the instance, and has not started it yet
	requested bool            // a start or stop was requested
	timeout   time.Duration
	err       error
}

// addActionError reports why an action failed, the last state of the instance, and what to do next.
func addActionError(ctx context.Context, diags *diag.Diagnostics, f actionFailure) {
	inst := f.inst
	if f.stopped && (inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid) {
		addStoppedByRestart(diags, inst)
	}
	goal := tfkit.Text("stopped")
	if f.starts {
		goal = "ready"
	}
	e := failure.As(f.err)
	interrupted := e.Kind == failure.Interrupted || e.Kind == 0 && ctx.Err() != nil
	switch {
	case interrupted && errors.Is(ctx.Err(), context.Canceled):
		tfkit.AddError(diags, tfkit.Summaryf(summaryActionInterrupted, inst.ID, goal),
			f.requestsText()+" "+f.againText()+"\n\n"+f.lastSeen(ctx))
	case interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryActionTimeout, inst.ID, goal), tfkit.Textf(
			"The action took longer than %s (timeout). %s%s %s\n\n%s",
			f.timeout, f.requestsText(), tfinstance.CauseText(f.err), f.againText(), f.lastSeen(ctx)))
	case rental.IsNotFound(f.err):
		addNotFound(diags, f.verb, inst.ID)
	case e.Kind == failure.Gone || e.Kind == failure.NeedsReplacement:
		addFinal(diags, f.verb, inst, f.lastSeen(ctx))
	case e.Kind == failure.Reverted:
		addReverted(diags, inst.ID, f.againText()+"\n\n"+f.lastSeen(ctx))
	case e.Kind == failure.OutbidAgain:
		addOutbidAgain(diags, inst.ID, e, "Run the action again later.")
	case e.Kind == failure.AboveLimit:
		addStartAboveLimit(diags, inst.ID, e, "Raise max_price_kop_h, or run the action again later.")
	case e.Kind == 0:
		tfkit.AddAPIError(diags, tfkit.Textf("%s instance %s", f.verb, inst.ID), f.err)
	default:
		addStateRefused(diags, inst.ID, e, f.err, f.lastSeen(ctx))
	}
}

// requestsText describes what the action requested before it ended early.
func (f actionFailure) requestsText() tfkit.Text {
	if f.requested {
		return "Before that, the action requested a start or stop, which may still be carried out."
	}
	return "Before that, the action requested no start or stop."
}

// againText describes what another run of the action does.
func (f actionFailure) againText() tfkit.Text {
	if f.restarts {
		return "Run the action again: it starts a stopped instance and waits for a starting one, but it stops a running " +
			"one once more."
	}
	return "Run the action again: it continues."
}

// lastSeen is lastSeenByAction of the instance, if that was read.
func (f actionFailure) lastSeen(ctx context.Context) tfkit.Text {
	if f.inst.Status == "" {
		return "The API did not return the instance before that."
	}
	return lastSeenByAction(ctx, f.client, f.inst)
}

// lastSeenByAction is tfinstance.LastSeen without the advice for a stop that an action most likely requested.
func lastSeenByAction(ctx context.Context, client *rental.Client, inst rental.Instance) tfkit.Text {
	if inst.StopReason != nil && *inst.StopReason == rental.StopReasonUser {
		inst.StopReason = nil
	}
	return tfinstance.LastSeen(ctx, client, inst)
}
