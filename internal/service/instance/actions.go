package instance

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	_ action.ActionWithConfigure  = (*instanceAction)(nil)
	_ action.ActionWithModifyPlan = (*instanceAction)(nil)
)

// actionTimeout is how long an action may take where timeout does not say.
const actionTimeout = 30 * time.Minute

// instanceAction is one of the things that can be done to a server without its
// configuration.
type instanceAction struct {
	tfkit.Action
	about string // what it does, in Markdown
	// verb is what it does to a server: "start".
	verb string
	// starts: the server may run afterwards and did not before, which costs money.
	starts bool
	// costs is what it does to the money.
	costs func(rental.Instance) change
	// do is the action itself.
	do func(context.Context, *invocation, rental.Instance)
}

func newStart() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_start"}, verb: "start", starts: true, costs: costsOfStart, do: start,
		about: "Starts a server that is stopped or outbid, and waits until it is ready: running, with its SSH address assigned unless its template has none. " +
			"One that is starting is only waited for, one that is stopping is started after that, and for one that runs there is nothing to do. " +
			"For an interruptible server a start can place a new bid: `max_price_kop_h` caps it. A server that is outbid again is started at most three times. The provider's `spending` holds as for a plan.",
	}
}

func newStop() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_stop"}, verb: "stop", costs: func(rental.Instance) change { return change{} }, do: stop,
		about: "Stops a server, and waits until it is stopped: it keeps its disk, and only the disk is billed. " +
			"One that is starting is stopped when it runs, one that was outbid is not started again, and for one that is stopped there is nothing to do.",
	}
}

func newRestart() action.Action {
	return &instanceAction{
		Action: tfkit.Action{Name: "instance_restart"}, verb: "restart", starts: true, costs: costsOfRestart, do: restart,
		about: "Stops a server that runs, starts it again, and waits until it is ready: running, with its SSH address assigned unless its template has none. " +
			"One that is stopped or outbid is only started, and one that is starting is only waited for.\n\n" +
			"It is not stopped when it could not be started again: the account must cover two hours of an on-demand server, as far as the key may read the balance (scope `billing:read`). " +
			"An interruptible server gives up its place, and its start can place a new bid at a higher price, or find none: with `max_price_kop_h` a server that costs more already is not stopped, " +
			"and one whose new bid would cost more stays stopped. The provider's `spending` holds as for a plan.",
	}
}

// costsOfStart: what runs, or is about to, costs nothing more.
func costsOfStart(inst rental.Instance) change {
	if inst.DesiredState == rental.DesiredStopped || judge(sightingOf(inst), rental.DesiredRunning, outbidRestart) == stepStart {
		return startOf(inst)
	}
	return change{}
}

// costsOfRestart: what runs is started all the same.
func costsOfRestart(inst rental.Instance) change {
	if stopsFirst(inst) {
		return startOf(inst)
	}
	return costsOfStart(inst)
}

// notInConfiguration ends the description of every action.
const notInConfiguration = "\n\nAn action changes the server and not its configuration. A `gpurent_instance` that manages the server shows the change as a difference, and the next apply reverts it: " +
	"with `desired_state = \"running\"` (the default) it starts a server that an action has stopped, with `\"stopped\"` it stops one that an action has started.\n\n" +
	"If you interrupt the run (Ctrl-C), the action stops waiting and fails with the server's last status. It does not undo what it requested: a restart can leave the server stopped. " +
	"Run the action again, or apply the configuration that manages the server."

// What the arguments may be. A CLI validates only what it knows before the plan, so
// that the rest is checked when it is known.
var (
	idRules      = []validator.String{stringvalidator.LengthAtLeast(1)}
	timeoutRules = []validator.String{tfkit.Duration()}
	capRules     = []validator.Int64{int64validator.AtLeast(1)}
)

// Schema implements action.Action.
func (a *instanceAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"instance_id": schema.StringAttribute{
			Required: true, Validators: idRules,
			MarkdownDescription: "Id of the server, such as `gpurent_instance.trainer.id`.",
		},
		"timeout": schema.StringAttribute{
			Optional: true, Validators: timeoutRules,
			MarkdownDescription: "How long the whole may take, for example `30m` (the default). When it is over the action fails, and says where the server stands.",
		},
	}
	if a.starts {
		attributes["max_price_kop_h"] = schema.Int64Attribute{
			Optional: true, Validators: capRules,
			MarkdownDescription: "Maximum price of a start in kopecks per hour, without the disk. The price of an on-demand server is compared before the start, the price in the service's answers after it: " +
				"a server that turns out more expensive is stopped again, and the action fails with both prices. " +
				"No cap by default: an action cannot read `max_price_kop_h` of the `gpurent_instance`.",
		}
	}
	resp.Schema = schema.Schema{MarkdownDescription: a.about + notInConfiguration, Attributes: attributes}
}

// errand is what the arguments ask for.
type errand struct {
	id       string // empty while it is not known
	timeout  time.Duration
	maxPrice int64 // kopecks per hour, 0 for no cap
}

// errand reads the arguments, and checks those that are known.
func (a *instanceAction) errand(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) (errand, bool) {
	var id, timeout types.String
	var maxPrice types.Int64
	diags.Append(config.GetAttribute(ctx, path.Root("instance_id"), &id)...)
	diags.Append(config.GetAttribute(ctx, path.Root("timeout"), &timeout)...)
	if a.starts {
		diags.Append(config.GetAttribute(ctx, path.Root("max_price_kop_h"), &maxPrice)...)
	}
	checkString(ctx, path.Root("instance_id"), id, idRules, diags)
	checkString(ctx, path.Root("timeout"), timeout, timeoutRules, diags)
	for _, rule := range capRules {
		var resp validator.Int64Response
		rule.ValidateInt64(ctx, validator.Int64Request{Path: path.Root("max_price_kop_h"), ConfigValue: maxPrice}, &resp)
		diags.Append(resp.Diagnostics...)
	}
	e := errand{id: id.ValueString(), timeout: actionTimeout, maxPrice: maxPrice.ValueInt64()}
	if d, err := time.ParseDuration(timeout.ValueString()); err == nil {
		e.timeout = d
	}
	return e, !diags.HasError()
}

func checkString(ctx context.Context, at path.Path, value types.String, rules []validator.String, diags *diag.Diagnostics) {
	for _, rule := range rules {
		var resp validator.StringResponse
		rule.ValidateString(ctx, validator.StringRequest{Path: at, ConfigValue: value}, &resp)
		diags.Append(resp.Diagnostics...)
	}
}

// ModifyPlan implements action.ActionWithModifyPlan. It changes nothing, and refuses
// what cannot work before anything else of the plan is done.
func (a *instanceAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	errand, ok := a.errand(ctx, req.Config, &resp.Diagnostics)
	if !ok || errand.id == "" || !a.Meta.Ready() {
		return
	}
	inst, found, err := fleetOf(a.Meta).find(ctx, a.Meta, errand.id)
	switch {
	case err != nil:
		resp.Diagnostics.AddWarning("Instance "+tfkit.OneLine(errand.id)+" was not looked at", "The action looks again before it does anything. "+err.Error())
	case !found:
		addNotFound(&resp.Diagnostics, a.verb, errand.id)
	case hopeless(inst) != nil:
		addHopeless(&resp.Diagnostics, a.verb, inst, hopeless(inst), "")
	default:
		checkMoney(ctx, a.Meta, a.costs(inst), &resp.Diagnostics)
	}
}

// Invoke implements action.Action.
func (a *instanceAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	if !a.CanInvoke(&resp.Diagnostics) {
		return
	}
	errand, ok := a.errand(ctx, req.Config, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, errand.timeout)
	defer cancel()
	v := &invocation{errand: errand, action: a, teller: newTeller(errand.id, resp.SendProgress), diags: &resp.Diagnostics}
	defer v.teller.end()
	v.run(ctx)
}
