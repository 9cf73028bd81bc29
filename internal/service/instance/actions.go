package instance

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
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
			"places a new bid, up to `max_price_kop_h`. An instance that is outbid again is started at most three times. " +
			"The `spending` checks of the provider apply as in a plan.",
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
			"The action waits for an instance that is starting.\n\nAn on-demand instance is not stopped if the balance " +
			"does not cover two hours of it. This check is skipped if the balance cannot be read, for example without " +
			"the scope `billing:read`. An interruptible instance gives up its GPU: its start can place a new bid at a " +
			"higher price, or find no offer. With `max_price_kop_h`, an instance that already costs more is not stopped, " +
			"and one whose new bid costs more is stopped again. The `spending` checks of the provider apply as in a plan.",
	}
}

// notInConfiguration ends the description of every action.
const notInConfiguration = "\n\nAn action does not change the configuration. The next apply of a " +
	"`gpurent_instance` reverts the change: with `desired_state = \"running\"` (the default) it starts an instance " +
	"that an action has stopped, and with `\"stopped\"` it stops an instance that an action has started.\n\nIf you " +
	"interrupt the run (Ctrl-C), the action stops waiting and fails with the last status of the instance. It does " +
	"not undo what it requested: a restart can leave the instance stopped. Run the action again, or apply the " +
	"configuration that manages the instance."

// Validators of the arguments. A CLI validates only values that are known before the plan, so the provider validates
// the others at plan and at apply.
var (
	idValidator      = tfkit.NotEmpty()
	timeoutValidator = tfkit.Duration()
	capValidator     = int64validator.AtLeast(1)
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
	if a.verb != verbStop {
		resp.Schema.Attributes["max_price_kop_h"] = schema.Int64Attribute{
			Optional: true, Validators: []validator.Int64{capValidator},
			MarkdownDescription: "Maximum price of a start in kopecks per hour, without the disk. Must be at least 1. No " +
				"maximum by default: an action cannot read `max_price_kop_h` of a `gpurent_instance`. The action compares " +
				"the price of an on-demand instance before the start, and the price in the responses of the API after the " +
				"start. An instance that then costs more is stopped again, and the action fails with both prices.",
		}
	}
}

// actionArgs are the arguments of an action.
type actionArgs struct {
	id           string // empty while it is unknown
	timeout      time.Duration
	maxPriceKopH int64 // kopecks per hour, 0 for no cap
}

// args reads the arguments, and validates those that are known.
func (a *instanceAction) args(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (actionArgs, bool) {
	var id, timeout types.String
	var maxPrice types.Int64
	diags.Append(config.GetAttribute(ctx, path.Root("instance_id"), &id)...)
	diags.Append(config.GetAttribute(ctx, path.Root("timeout"), &timeout)...)
	if a.verb != verbStop {
		diags.Append(config.GetAttribute(ctx, path.Root("max_price_kop_h"), &maxPrice)...)
	}
	var texts validator.StringResponse
	validate := func(rule validator.String, argument string, value types.String) {
		rule.ValidateString(ctx, validator.StringRequest{Path: path.Root(argument), ConfigValue: value}, &texts)
	}
	validate(idValidator, "instance_id", id)
	validate(timeoutValidator, "timeout", timeout)
	var numbers validator.Int64Response
	capValidator.ValidateInt64(
		ctx, validator.Int64Request{Path: path.Root("max_price_kop_h"), ConfigValue: maxPrice}, &numbers)
	diags.Append(texts.Diagnostics...)
	diags.Append(numbers.Diagnostics...)
	args := actionArgs{id: id.ValueString(), timeout: defaultActionTimeout, maxPriceKopH: maxPrice.ValueInt64()}
	if d, err := time.ParseDuration(timeout.ValueString()); err == nil {
		args.timeout = d
	}
	return args, !diags.HasError()
}

// ModifyPlan implements action.ActionWithModifyPlan. It reports an error at plan for an
// action that cannot succeed.
func (a *instanceAction) ModifyPlan(
	ctx context.Context,
	req action.ModifyPlanRequest,
	resp *action.ModifyPlanResponse,
) {
	args, ok := a.args(ctx, req.Config, &resp.Diagnostics)
	if !ok || args.id == "" || !a.Meta.Ready() {
		return
	}
	inst, found, err := a.Meta.Cache.Instances.Find(ctx, args.id)
	switch {
	case err != nil:
		addUnreadableAtPlan(&resp.Diagnostics, args.id, err)
	case !found:
		addNotFound(&resp.Diagnostics, a.verb, args.id)
	case isFinal(inst):
		addFinal(&resp.Diagnostics, a.verb, inst, "")
	case a.requestsStart(inst):
		addSpendingProblems(&resp.Diagnostics, a.Meta.Spending.Check(ctx, spending.StartOf(inst))...)
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

// isFinal reports whether an instance is destroyed or failed.
func isFinal(inst rental.Instance) bool {
	return inst.Destroyed() || inst.Status == rental.StatusFailed
}

// Invoke implements action.Action.
func (a *instanceAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	if !a.Meta.RequireConfig(&resp.Diagnostics) {
		return
	}
	args, ok := a.args(ctx, req.Config, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, args.timeout)
	defer cancel()
	progress := newProgressReporter(args.id, func(event action.InvokeProgressEvent) {
		if ctx.Err() == nil { // Terraform 1.15 crashes at a progress message after an interruption
			resp.SendProgress(event)
		}
	})
	defer progress.stop()
	run := &actionRun{instanceAction: a, actionArgs: args, progress: progress, diags: &resp.Diagnostics}
	inst, err := a.Meta.Lifecycle.Get(ctx, args.id)
	if err != nil {
		run.addError(ctx, rental.Instance{ID: args.id}, err)
		return
	}
	if isFinal(inst) {
		addFinal(run.diags, a.verb, inst, "\n\n"+tfinstance.LastSeen(ctx, a.Meta.Client, inst))
		return
	}
	progress.Observed(inst)
	run.change(ctx, inst)
}

// actionRun is an action in progress.
type actionRun struct {
	*instanceAction
	actionArgs
	progress  *progressReporter
	diags     *diag.Diagnostics
	requested bool // a start or stop was requested, with any outcome
	stopped   bool // a restart has stopped the instance, and has not started it yet
}

// change changes the state of the instance.
func (run *actionRun) change(ctx context.Context, inst rental.Instance) {
	switch {
	case run.verb == verbStop:
		run.converge(ctx, inst, rental.DesiredStopped)
		return
	case run.stopsFirst(inst):
		if !run.canStartAgain(ctx, inst) {
			return
		}
		if inst, run.stopped = run.converge(ctx, inst, rental.DesiredStopped); !run.stopped {
			return
		}
	case run.verb == verbRestart && (inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid):
		run.progress.Report("does not run, so it is only started")
	case run.verb == verbRestart:
		run.progress.Report("is already changing its state, so it is not stopped first")
	}
	run.converge(ctx, inst, rental.DesiredRunning)
}

// canStartAgain is false, with an error, if the current price exceeds the cap or the burn limit, or if the balance does
// not cover a start at the current price.
func (run *actionRun) canStartAgain(ctx context.Context, inst rental.Instance) bool {
	if price := inst.PriceWithoutDisk(inst.Price.StoppedKopH); run.maxPriceKopH > 0 && price > run.maxPriceKopH {
		addAboveLimit(run.diags, inst.ID, failure.Error{PriceKopH: price, LimitKopH: run.maxPriceKopH}, "It was not "+
			"stopped, because it might not be started again. Raise max_price_kop_h, or remove it.")
		return false
	}
	if hold := run.Meta.Spending.Hold(); hold != nil {
		held, err := hold(ctx, inst.ID, inst.Price.RunningKopH)
		if err != nil {
			run.addError(ctx, inst, err)
			return false
		}
		held.Release() // the start compares again
	}
	if inst.Type == rental.Interruptible {
		return true // its new bid may cost less
	}
	balance, err := run.Meta.Client.GetBalance(ctx)
	if err != nil {
		tflog.Debug(ctx, "Cannot read the balance before a restart", map[string]any{"error": err.Error()})
		return true
	}
	if missing := spending.MissingFunds(balance, inst.Price.RunningKopH); missing != nil {
		tfinstance.AddSpendingProblems(run.diags, []*failure.Error{missing}, "The instance was not stopped.")
		return false
	}
	return true
}

// converge moves the instance to a state, and reports the result.
func (run *actionRun) converge(
	ctx context.Context, inst rental.Instance, wanted rental.DesiredState,
) (now rental.Instance, ok bool) {
	now, outcome, err := run.Meta.Lifecycle.Converge(ctx, inst, lifecycle.Target{
		State: wanted, OnOutbid: lifecycle.OutbidRestart, MaxPriceKopH: run.maxPriceKopH,
		Hold: run.Meta.Spending.Hold(), Requesting: run.progress.Requesting, Observed: run.progress.Observed,
	})
	run.requested = run.requested || outcome.Requested
	if err != nil {
		run.addError(ctx, now, err)
		return now, false
	}
	unchanged := !outcome.Requested && now.Status == inst.Status && (now.SSH == nil) == (inst.SSH == nil)
	run.progress.Report(resultText(now, unchanged))
	addMissingAddresses(run.diags, now, outcome, run.Meta.Lifecycle.SSHTimeout())
	return now, true
}

// resultText describes the state of an instance after an action.
func resultText(inst rental.Instance, unchanged bool) tfkit.Text {
	already := tfkit.Text("")
	if unchanged {
		already = " already, so nothing was requested"
	}
	if inst.Status != rental.StatusRunning {
		return tfkit.Textf("is %s%s: only its disk is billed, %s per hour",
			inst.Status, already, tfkit.Rubles(inst.Price.StoppedKopH))
	}
	if inst.SSH != nil {
		if command := tfinstance.SSHCommand(*inst.SSH); !command.IsNull() {
			return tfkit.Textf("runs%s: %s", already, command.ValueString())
		}
	}
	return tfkit.Textf("runs%s", already)
}
