package instance

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ action.ActionWithConfigure  = (*instanceAction)(nil)
	_ action.ActionWithModifyPlan = (*instanceAction)(nil)
)

const defaultActionTimeout = 30 * time.Minute

// instanceAction starts, stops or restarts an instance, whether or not a resource manages it.
type instanceAction struct {
	tfkit.Action
	verb        tfkit.Text
	description string // Markdown
}

// The values of verb.
const (
	verbStart   tfkit.Text = "start"
	verbStop    tfkit.Text = "stop"
	verbRestart tfkit.Text = "restart"
)

// NewStart returns the action gpurent_instance_start.
func NewStart() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_start"}, verb: verbStart,
		description: "Starts an instance that is stopped or outbid, and waits until it is ready: running, with its SSH " +
			"address assigned, unless its template has no SSH.\n\nA starting instance is not started again, a stopping " +
			"one is started after it has stopped, and a running one is not changed. The start of an outbid instance " +
			"places a new bid. An instance that is outbid again is started at most three times." + startLimits,
	}
}

// NewStop returns the action gpurent_instance_stop.
func NewStop() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_stop"}, verb: verbStop,
		description: "Stops an instance, and waits until it is stopped. Only the disk of a stopped instance is " +
			"billed.\n\nA starting instance is stopped when it runs, an outbid one is not started again, and a stopped " +
			"one is not changed.",
	}
}

// NewRestart returns the action gpurent_instance_restart.
func NewRestart() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_restart"}, verb: verbRestart,
		description: "Stops a running instance, starts it again, and waits until it is ready: running, with its SSH " +
			"address assigned, unless its template has no SSH.\n\nAn instance that is stopped or outbid is only started. " +
			"The action waits for an instance that is starting.\n\nIf the start fails, for example because the balance is " +
			"too low, or the run is interrupted before it, the instance stays stopped. An interruptible instance gives up " +
			"its GPU: its start can place a new bid at a higher price, or find no offer." + startLimits,
	}
}

// startLimits describes the limits of a start.
const startLimits = "\n\nThe `spending` limits of the provider apply: they are checked in the plan, and " +
	"`max_burn_kop_h` again right before the start. `max_price_kop_h` of a `gpurent_instance` does not apply to an action."

// notInConfiguration ends the description of every action.
const notInConfiguration = "\n\nAn action does not change the configuration. The next apply of a " +
	"`gpurent_instance` reverts the change: with `desired_state = \"running\"` (the default) it starts an instance " +
	"that an action has stopped, and with `\"stopped\"` it stops an instance that an action has started.\n\nIf you " +
	"interrupt the run (Ctrl-C), the action stops waiting and fails with the last status of the instance. It does " +
	"not undo what it requested. Run the action again, or apply the configuration that manages the instance."

// Validators of the arguments. A CLI validates only values that are known before the plan, so the provider validates
// the others at plan and at apply.
var (
	idValidator      = tfkit.NotEmpty()
	timeoutValidator = tfkit.Duration()
)

// Schema implements action.Action.
func (a *instanceAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: a.description + notInConfiguration,
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{
				Required: true, Validators: []validator.String{idValidator},
				MarkdownDescription: "Id of the instance, such as `gpurent_instance.trainer.id`. Must not be empty.",
			},
			"timeout": schema.StringAttribute{
				Optional: true, Validators: []validator.String{timeoutValidator},
				MarkdownDescription: "Timeout of the action, as a Go duration such as `45m` or `1h30m`. Must be above " +
					"zero. After the timeout, the action fails with the last status of the instance. Defaults to `30m`.",
			},
		},
	}
}

// actionArguments returns the arguments, and validates those that are known. The id is empty while it is unknown.
func actionArguments(
	ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics,
) (id string, timeout time.Duration) {
	validated := func(argument string, rule validator.String) string {
		var value types.String
		diags.Append(config.GetAttribute(ctx, path.Root(argument), &value)...)
		var resp validator.StringResponse
		rule.ValidateString(ctx, validator.StringRequest{Path: path.Root(argument), ConfigValue: value}, &resp)
		diags.Append(resp.Diagnostics...)
		return value.ValueString()
	}
	id = validated("instance_id", idValidator)
	timeout, err := time.ParseDuration(validated("timeout", timeoutValidator))
	if err != nil {
		timeout = defaultActionTimeout
	}
	return id, timeout
}

// ModifyPlan implements action.ActionWithModifyPlan. It reports an error at plan for an action that cannot succeed.
func (a *instanceAction) ModifyPlan(
	ctx context.Context,
	req action.ModifyPlanRequest,
	resp *action.ModifyPlanResponse,
) {
	id, _ := actionArguments(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || id == "" || !a.Meta.Ready() {
		return
	}
	inst, found, err := a.Meta.Cache.Instances.Find(ctx, id)
	switch {
	case err != nil:
		tfkit.WarnUnchecked(&resp.Diagnostics, err) // Invoke reads it again
	case !found:
		addNotFound(&resp.Diagnostics, a.verb, id)
	case inst.Destroyed() || inst.Status == rental.StatusFailed:
		addFinal(&resp.Diagnostics, a.verb, inst)
	case a.requestsStart(inst):
		tfinstance.AddSpendingProblems(&resp.Diagnostics, a.Meta.Spending.Check(ctx, spending.StartOf(inst)))
	}
}

// requestsStart reports whether the action requests a start of the instance.
func (a *instanceAction) requestsStart(inst rental.Instance) bool {
	next := lifecycle.NextAction(inst, rental.DesiredRunning, lifecycle.OutbidRestart)
	starts := inst.DesiredState == rental.DesiredStopped || next == lifecycle.ActionStart
	return a.verb != verbStop && starts || a.stopsFirst(inst)
}

// stopsFirst reports whether the action is a restart that has to stop the instance: not if it is already stopping or
// starting.
func (a *instanceAction) stopsFirst(inst rental.Instance) bool {
	return a.verb == verbRestart && inst.Status == rental.StatusRunning &&
		lifecycle.NextAction(inst, rental.DesiredStopped, lifecycle.OutbidRestart) == lifecycle.ActionStop
}

// Invoke implements action.Action.
func (a *instanceAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	if a.Meta.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	id, timeout := actionArguments(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	run := &actionRun{
		instanceAction: a, timeout: timeout, sendProgress: resp.SendProgress, diags: &resp.Diagnostics,
	}
	inst, err := a.Meta.Lifecycle.Get(ctx, id)
	if err != nil {
		run.addError(ctx, rental.Instance{ID: id}, err)
		return
	}
	run.report(ctx, inst)
	run.change(ctx, inst)
}

// actionRun is an action in progress.
type actionRun struct {
	*instanceAction
	timeout      time.Duration
	sendProgress func(action.InvokeProgressEvent)
	diags        *diag.Diagnostics
	reported     rental.InstanceStatus // the status of the last progress message
	stopped      bool                  // a restart has stopped the instance, and has not started it yet
}

// change changes the state of the instance.
func (run *actionRun) change(ctx context.Context, inst rental.Instance) {
	if run.verb == verbStop {
		run.converge(ctx, inst, rental.DesiredStopped)
		return
	}
	if run.stopsFirst(inst) {
		if inst, run.stopped = run.converge(ctx, inst, rental.DesiredStopped); !run.stopped {
			return
		}
	}
	run.converge(ctx, inst, rental.DesiredRunning)
}

// converge moves the instance to a state.
func (run *actionRun) converge(
	ctx context.Context, inst rental.Instance, wanted rental.DesiredState,
) (now rental.Instance, ok bool) {
	converged, err := run.Meta.Lifecycle.Converge(ctx, inst, lifecycle.Target{
		State: wanted, OnOutbid: lifecycle.OutbidRestart,
		Progress: func(inst rental.Instance) { run.report(ctx, inst) },
	})
	if err != nil {
		run.addError(ctx, converged.Instance, err)
		return converged.Instance, false
	}
	run.report(ctx, converged.Instance)
	addMissingAddress(run.diags, converged, run.Meta.Lifecycle.SSHTimeout())
	return converged.Instance, true
}

// report sends a progress message if the status of the instance has changed.
func (run *actionRun) report(ctx context.Context, inst rental.Instance) {
	if inst.Status == run.reported || ctx.Err() != nil { // Terraform 1.15 crashes at a message after an interruption
		return
	}
	run.reported = inst.Status
	run.sendProgress(action.InvokeProgressEvent{Message: string(tfkit.Textf("Instance %s is %s", inst.ID, inst.Status))})
}
