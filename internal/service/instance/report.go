package instance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// reportCreateWait decides what a wait that ended badly means for a new server.
// An error taints it, so that the next apply destroys it and rents another: right
// for one that failed, wrong for one that was only interrupted.
func (r *instanceResource) reportCreateWait(ctx context.Context, diags *diag.Diagnostics, plan model, inst rental.Instance, timeout time.Duration, err error) {
	switch {
	case interrupted(ctx, err):
		diags.AddWarning("Interrupted while instance "+tfkit.OneLine(inst.ID)+" was starting",
			"It is rented and in the state. The next apply goes on waiting for it.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.Is(err, context.DeadlineExceeded) && plan.KeepOnTimeout.ValueBool():
		diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" is not ready yet",
			fmt.Sprintf("It is rented and in the state, but did not get ready within %s (timeouts.create). The next apply goes on waiting.\n\n%s", timeout, story(ctx, r.Meta.Client, inst)))
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is not ready yet",
			fmt.Sprintf("It did not get ready within %s (timeouts.create), and is now marked tainted: the next apply would replace it.%s\n\n"+
				"%s\n\n%s To let every time-out only warn, set keep_on_timeout = true.", timeout, cause(err), story(ctx, r.Meta.Client, inst), untaint))
	default:
		r.addWaitError(ctx, diags, inst, err)
		if !errors.Is(err, errGone) && !errors.Is(err, errNeedsReplacement) {
			diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" is marked tainted", "It exists and is billed; the next apply would replace it. "+untaint)
		}
	}
}

const untaint = "To keep this server and go on waiting for it, run `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`) " +
	"with the address of this resource, as the message above names it, and apply again."

// reportUpdateWait does the same for a server that existed before. Nothing
// taints it: the next apply takes up where this one ended.
func (r *instanceResource) reportUpdateWait(ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, timeout time.Duration, err error) {
	switch {
	case errors.Is(err, reportedError{}):
	case interrupted(ctx, err):
		diags.AddError("Interrupted while instance "+tfkit.OneLine(inst.ID)+" was changing", "The next apply goes on.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is not where it should be yet",
			fmt.Sprintf("It did not get there within %s (timeouts.update). The next apply goes on waiting.%s\n\n%s", timeout, cause(err), story(ctx, r.Meta.Client, inst)))
	default:
		r.addWaitError(ctx, diags, inst, err)
	}
}

// reportUnread reports that a server could not be read before it was changed.
func (r *instanceResource) reportUnread(ctx, waitCtx context.Context, diags *diag.Diagnostics, id string, timeout time.Duration, err error) {
	switch {
	case ctx.Err() != nil:
		diags.AddError("Interrupted while instance "+tfkit.OneLine(id)+" was changing", "Nothing was requested yet. The next apply goes on.")
	case waitCtx.Err() != nil:
		diags.AddError("Instance "+tfkit.OneLine(id)+" is not where it should be yet",
			fmt.Sprintf("The service did not return it within %s (timeouts.update), so nothing was requested. Apply again.", timeout))
	case rental.IsNotFound(err):
		addGone(diags, id)
	default:
		tfkit.AddError(diags, "read instance "+id, err)
	}
}

func addGone(diags *diag.Diagnostics, id string) {
	diags.AddError("Instance "+tfkit.OneLine(id)+" is gone", "It was destroyed outside Terraform. The next apply rents another.")
}

// addWaitError reports what is neither an interruption nor a time-out.
func (r *instanceResource) addWaitError(ctx context.Context, diags *diag.Diagnostics, inst rental.Instance, err error) {
	var price *priceError
	var refused *refusal
	var outbid *outbidAgainError
	switch {
	case errors.Is(err, errGone):
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" is gone", "It was destroyed outside Terraform while this run waited for it. The next apply rents another.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.Is(err, errNeedsReplacement) && inst.Status == rental.StatusOutbid:
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was outbid",
			"With on_outbid = \"replace\" the next apply replaces it. Until then only its disk is billed.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.Is(err, errNeedsReplacement):
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" cannot be used", "Nothing brings this server back. The next apply replaces it.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.Is(err, errTurnedBack):
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" did not stay where it was put",
			"The service began what was asked for and then turned back. The next apply asks again.\n\n"+story(ctx, r.Meta.Client, inst))
	case errors.As(err, &outbid):
		addOutbidAgain(diags, inst, outbid, "Apply again later, set on_outbid = \"keep\" to leave it outbid, or \"replace\" to rent another server.")
	case errors.As(err, &price):
		addAboveCap(diags, inst, price, "Raise max_price_kop_h or apply again later; for an interruptible server "+
			"on_outbid = \"keep\" waits for a better price and \"replace\" rents another.")
	case errors.As(err, &refused):
		addRefusal(ctx, r.Meta.Client, diags, inst, refused)
	default:
		tfkit.AddError(diags, "bring instance "+inst.ID+" to where it should be", err)
	}
}

// addOutbidAgain ends with what to do about it.
func addOutbidAgain(diags *diag.Diagnostics, inst rental.Instance, outbid *outbidAgainError, advice string) {
	diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was outbid again",
		fmt.Sprintf("This run started it %d times, and each time the market price rose above its bid. No further bid was placed. "+
			"Only its disk is billed. %s", outbid.starts, advice))
}

// addAboveCap ends with what to do about it.
func addAboveCap(diags *diag.Diagnostics, inst rental.Instance, err *priceError, advice string) {
	price, limit := tfkit.HourlyRubles(err.price), tfkit.HourlyRubles(err.limit)
	switch {
	case err.stuck != nil:
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" runs above the cap",
			fmt.Sprintf("The service started it at %s, and max_price_kop_h allows %s. Stopping it again failed: it most likely runs and is billed at %s. "+
				"Stop it in the service's console now.\n\n%s", price, limit, price, err.stuck))
	case err.started:
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was stopped again: price above the cap",
			fmt.Sprintf("The service started it at %s, and max_price_kop_h allows %s. The service accepted its stop: only its disk is billed after that. %s",
				price, limit, advice))
	default:
		diags.AddError("Instance "+tfkit.OneLine(inst.ID)+" was not started: price above the cap",
			fmt.Sprintf("A start costs %s now, and max_price_kop_h allows %s. No start was requested: only its disk is billed. %s", price, limit, advice))
	}
}

// addRefusal tells of a start or stop that the service did not take.
func addRefusal(ctx context.Context, client *rental.Client, diags *diag.Diagnostics, inst rental.Instance, refused *refusal) {
	tfkit.AddErrorAdvising(diags, verb(refused.wanted)+" instance "+inst.ID, story(ctx, client, inst)+"\n\nIt stays as it is, and nothing else was tried. Run again when the service's message, or the status, no longer stands in the way.", refused.err)
}

// warnOfMissing warns of an SSH address and of web pages that a running server does not have yet.
func (s *settler) warnOfMissing(diags *diag.Diagnostics, inst rental.Instance) {
	if s.lacksSSH {
		diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" runs, but has no SSH address",
			fmt.Sprintf("The service returned none within %s after the server was running, although its template has SSH. "+
				"The server is in the state and is billed. When the service returns the address, the next refresh reads it into ssh.", sshIntervals*s.interval))
	}
	closed := closedPages(inst)
	if len(closed) == 0 || inst.Status != rental.StatusRunning {
		return
	}
	diags.AddWarning("Instance "+tfkit.OneLine(inst.ID)+" runs, but not all of its web pages are open yet",
		"Without an address so far: "+tfkit.OneLines(closed)+". The next refresh brings it into urls.")
}

// cause names trouble with the service that lay behind a time-out.
func cause(err error) string {
	var stopped *stoppedWaiting
	if errors.As(err, &stopped) && stopped.trouble != nil {
		return " The service could not be asked at the end: " + stopped.trouble.Error() + "."
	}
	return ""
}

// stopAdvice is what to do about each reason the service gives for a stop.
func stopAdvice(reason string) string {
	switch reason {
	case rental.StopReasonUser:
		return "It was stopped by hand, in the console or by another client. To keep it stopped, set desired_state = \"stopped\"; otherwise apply again."
	case rental.StopReasonLowBalance:
		return "It was stopped because the money ran out. Top up in the service's console, then apply again."
	case rental.StopReasonAdmin:
		return "It was stopped by the service's staff. Ask their support, with the id of the server."
	case rental.StopReasonProvider:
		return "Its host went away. Apply again later; if it does not come back, replace it with -replace."
	}
	return fmt.Sprintf("It was stopped for a reason that this version of the provider does not know: %q. Look in the service's console, then apply again.", tfkit.OneLine(reason))
}

// storyLines is how much of the startup log goes into a message.
const storyLines = 10

// maxLogLine is how many characters of a line of the log go into a message.
const maxLogLine = 300

// story tells where the server was last seen: its status, why it stopped, and
// the end of its log. What cannot be had is left out.
func story(ctx context.Context, client *rental.Client, inst rental.Instance) string {
	parts := []string{fmt.Sprintf("Last seen: status %q, heading for %q.%s", tfkit.OneLine(inst.Status), tfkit.OneLine(inst.DesiredState), missing(inst))}
	if inst.StopReason != nil {
		parts = append(parts, stopAdvice(*inst.StopReason))
	}
	logCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storyTimeout)
	defer cancel()
	lines, err := client.GetInstanceLogs(logCtx, inst.ID, storyLines)
	if err == nil && len(lines) > 0 {
		parts = append(parts, "The end of its log:")
		for _, line := range lines[max(0, len(lines)-storyLines):] {
			parts = append(parts, "  "+rental.Printable(line, maxLogLine))
		}
	}
	return strings.Join(parts, "\n")
}

// missing names what a running server lacks.
func missing(inst rental.Instance) string {
	if inst.Status != rental.StatusRunning || inst.DesiredState == rental.DesiredStopped {
		return ""
	}
	text := ""
	if inst.SSH == nil {
		text = " It has no SSH address."
	}
	if closed := closedPages(inst); len(closed) > 0 {
		text += " Web pages without an address: " + tfkit.OneLines(closed) + "."
	}
	return text
}

// storyTimeout bounds the look at the log: an interrupted run must end soon.
const storyTimeout = 3 * time.Second
