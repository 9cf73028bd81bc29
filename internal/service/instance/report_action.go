package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// report says why an action came to nothing, where the server stands, and what to do.
func (v *invocation) report(ctx context.Context, inst rental.Instance, err error) {
	client := v.action.Meta.Client
	if v.halted && (inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid) {
		addHalted(v.diags, inst)
	}
	var price *priceError
	var refused *refusal
	var outbid *outbidAgainError
	switch {
	case errors.Is(err, reportedError{}):
	case interrupted(ctx, err) && errors.Is(ctx.Err(), context.Canceled):
		v.diags.AddError("Interrupted before instance "+tfkit.OneLine(inst.ID)+" was "+v.goal(),
			v.requests()+" "+v.again()+"\n\n"+v.story(ctx, inst))
	case interrupted(ctx, err):
		v.diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is not "+v.goal()+" yet",
			fmt.Sprintf("That took longer than %s (timeout). %s%s %s\n\n%s", v.timeout, v.requests(), cause(err), v.again(), v.story(ctx, inst)))
	case rental.IsNotFound(err):
		addNotFound(v.diags, v.action.verb, inst.ID)
	case errors.Is(err, errGone), errors.Is(err, errNeedsReplacement):
		addHopeless(v.diags, v.action.verb, inst, err, "\n\n"+v.story(ctx, inst))
	case errors.Is(err, errTurnedBack):
		v.diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" did not stay where it was put", "The service began what was asked for and then turned back. "+v.again()+"\n\n"+v.story(ctx, inst))
	case errors.As(err, &outbid):
		addOutbidAgain(v.diags, inst, outbid, "Run the action again later.")
	case errors.As(err, &price):
		addAboveCap(v.diags, inst, price, "Raise max_price_kop_h, or run the action again later.")
	case errors.As(err, &refused):
		addRefusal(ctx, client, v.diags, inst, refused)
	default:
		tfkit.AddError(v.diags, v.action.verb+" instance "+inst.ID, err)
	}
}

// story tells where the server stands, as far as anybody looked.
func (v *invocation) story(ctx context.Context, inst rental.Instance) string {
	if inst.Status == "" {
		return "The service did not return the server before that."
	}
	if inst.StopReason != nil && *inst.StopReason == rental.StopReasonUser {
		inst.StopReason = nil // most likely by an action: there is nothing to advise
	}
	return story(ctx, v.action.Meta.Client, inst)
}

// requests says what the action requested before it ended early.
func (v *invocation) requests() string {
	if v.teller.requested() {
		return "The action requested a start or stop before that, which the service may still carry out."
	}
	return "The action requested no start or stop before that."
}

// goal is where the action wants a server.
func (v *invocation) goal() string {
	if v.action.starts {
		return "ready"
	}
	return "stopped"
}

// again says what another run of the action does.
func (v *invocation) again() string {
	if v.action.verb == "restart" {
		return "Run the action again: it starts a server that is stopped and waits for one that is starting, but one that runs by then it stops once more."
	}
	return "Run the action again: it takes up where this run ended."
}

// addHalted says loudly that a restart has left a server stopped.
func addHalted(diags *diag.Diagnostics, inst rental.Instance) {
	diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is now stopped",
		fmt.Sprintf("The restart stopped it, and could not start it again: the next error says why. Its status is %q, and only its disk is billed. "+
			"To start it, run this action again, which then only starts it, or a gpurent_instance_start; or apply, where a gpurent_instance with desired_state = \"running\" manages it.", tfkit.OneLine(inst.Status)))
}

func addNotFound(diags *diag.Diagnostics, verb, id string) {
	diags.AddAttributeError(path.Root("instance_id"), "Cannot "+verb+" instance "+tfkit.OneLine(id),
		"The service has no such server, or it belongs to another account. Check instance_id, and that the API key is the right one.")
}

// addHopeless tells of a server that is destroyed or failed.
func addHopeless(diags *diag.Diagnostics, verb string, inst rental.Instance, why error, story string) {
	text := "Nothing brings it back: only another server helps."
	if errors.Is(why, errGone) {
		text = "It is destroyed, or about to be, and does not come back."
	}
	diags.AddAttributeError(path.Root("instance_id"), "Cannot "+verb+" instance "+tfkit.OneLine(inst.ID),
		fmt.Sprintf("Its status is %q. %s Where a gpurent_instance manages it, the next apply rents another.%s", tfkit.OneLine(inst.Status), text, story))
}

func addAboveCapToRestart(diags *diag.Diagnostics, inst rental.Instance, price *priceError) {
	diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was not restarted: price above the cap",
		fmt.Sprintf("It was not stopped, because it might not be started again: %s. It runs as before. Raise max_price_kop_h, or leave it out.", price))
}

func addNoFundsToRestart(diags *diag.Diagnostics, inst rental.Instance, short string) {
	diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was not restarted: the balance does not cover its start", "It was not stopped, and runs as before. "+short)
}
