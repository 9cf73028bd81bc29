package instance

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryReverted           = "Instance %s returned to its previous state"
	summaryInterruptedStart   = "Interrupted while instance %s was starting"
	summaryNotReady           = "Instance %s is not ready yet"
	summaryTainted            = "Instance %s is marked tainted"
	summaryInterruptedUpdate  = "Interrupted while instance %s was changing"
	summaryNotConverged       = "Instance %s is not in its desired state"
	summaryGone               = "Instance %s no longer exists"
	summaryOutbid             = "Instance %s was outbid"
	summaryUnusable           = "Instance %s cannot be used"
	summaryOutbidAgain        = "Instance %s was outbid again"
	summaryStillRunsAboveCap  = "Instance %s runs above the price cap and could not be stopped"
	summaryStoppedAboveCap    = "Instance %s was stopped again: price above the cap"
	summaryNotStarted         = "Instance %s was not started: price above the cap"
	summaryNoSSH              = "Instance %s has no SSH address"
	summaryNoURLs             = "Instance %s has web pages without an address"
	summaryInterruptedDestroy = "Interrupted while instance %s was being destroyed"
	summaryNotDestroyed       = "Instance %s is not destroyed yet"
)

// addCreateWaitError reports why a new instance is not ready. An error taints the instance, so that the next apply
// replaces it. That is right for a failed instance, but wrong after an interruption, which is therefore a warning.
func addCreateWaitError(
	ctx context.Context, client *rental.Client, diags *diag.Diagnostics, inst rental.Instance, keepOnTimeout bool,
	timeout time.Duration, err error,
) {
	interrupted := lifecycle.KindOf(err) == lifecycle.Interrupted
	kind := lifecycle.KindOf(err)
	switch {
	case interrupted && ctx.Err() != nil:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryInterruptedStart, inst.ID),
			"It is rented and in the state. The next apply continues to wait for it."+tfinstance.CauseText(err)+"\n\n"+
				tfinstance.LastSeen(ctx, client, inst))
	case interrupted && keepOnTimeout:
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNotReady, inst.ID), tfkit.Textf(
			"It is rented and in the state, but was not ready within %s (timeouts.create). The next apply continues to "+
				"wait.%s\n\n%s", timeout, tfinstance.CauseText(err), tfinstance.LastSeen(ctx, client, inst)))
	case interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotReady, inst.ID), tfkit.Textf(
			"It was not ready within %s (timeouts.create), and is now marked tainted: the next apply replaces "+
				"it.%s\n\n%s\n\n%s With keep_on_timeout = true every timeout is only a warning.",
			timeout, tfinstance.CauseText(err), tfinstance.LastSeen(ctx, client, inst), tfkit.Text(untaint)))
	default:
		addWaitError(ctx, client, diags, inst, err)
		if kind != lifecycle.Gone && kind != lifecycle.NeedsReplacement {
			tfkit.AddWarning(diags, tfkit.Summaryf(summaryTainted, inst.ID), "It exists and is billed. The next apply replaces "+
				"it. "+untaint)
		}
	}
}

// addUpdateWaitError reports why an existing instance is not in its desired state. The error does not taint the
// instance: the next apply continues.
func addUpdateWaitError(
	ctx context.Context,
	client *rental.Client,
	diags *diag.Diagnostics,
	inst rental.Instance,
	timeout time.Duration,
	err error,
) {
	interrupted := lifecycle.KindOf(err) == lifecycle.Interrupted
	switch {
	case interrupted && ctx.Err() != nil:
		tfkit.AddError(
			diags,
			tfkit.Summaryf(summaryInterruptedUpdate, inst.ID),
			"The next apply continues."+tfinstance.CauseText(err)+"\n\n"+tfinstance.LastSeen(ctx, client, inst),
		)
	case interrupted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotConverged, inst.ID), tfkit.Textf(
			"It did not reach the desired state within %s (timeouts.update). The next apply continues to wait.%s\n\n%s",
			timeout,
			tfinstance.CauseText(err),
			tfinstance.LastSeen(ctx, client, inst),
		))
	default:
		addWaitError(ctx, client, diags, inst, err)
	}
}

// addUpdateReadError reports that an instance could not be read before it was changed.
func addUpdateReadError(
	ctx, waitCtx context.Context,
	diags *diag.Diagnostics,
	id string,
	timeout time.Duration,
	err error,
) {
	switch {
	case ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterruptedUpdate, id),
			"Nothing was requested. The next apply continues.")
	case waitCtx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotConverged, id), tfkit.Textf(
			"The API did not return it within %s (timeouts.update), so nothing was requested. Apply again.", timeout))
	case rental.IsNotFound(err):
		addGone(diags, id)
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("read instance %s", id), err)
	}
}

const goneText = "It was destroyed outside Terraform during this run, or the API does not find it. If the next plan " +
	"does not find it either, the apply creates another."

func addGone(diags *diag.Diagnostics, id string) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryGone, id), goneText)
}

// addWaitError reports an error other than an interruption or a timeout.
func addWaitError(
	ctx context.Context,
	client *rental.Client,
	diags *diag.Diagnostics,
	inst rental.Instance,
	err error,
) {
	if e, ok := errors.AsType[*spending.Error](err); ok {
		addSpendingProblems(diags, spending.Problems{e})
		return
	}
	e, ok := errors.AsType[*lifecycle.Error](err)
	if !ok {
		tfkit.AddAPIError(diags, tfkit.Textf("change the state of instance %s", inst.ID), err)
		return
	}
	switch e.Kind {
	case lifecycle.Gone:
		tfkit.AddError(diags, tfkit.Summaryf(summaryGone, inst.ID),
			goneText+"\n\n"+tfinstance.LastSeen(ctx, client, inst))
	case lifecycle.NeedsReplacement:
		if inst.Status == rental.StatusOutbid {
			tfkit.AddError(diags, tfkit.Summaryf(summaryOutbid, inst.ID),
				"With on_outbid = \"replace\" the next apply replaces "+
					"it. Until then only its disk is billed.\n\n"+tfinstance.LastSeen(ctx, client, inst))
			return
		}
		tfkit.AddError(diags, tfkit.Summaryf(summaryUnusable, inst.ID), "It failed and cannot be started. The next apply "+
			"replaces it. If that one fails, too, add its rented_offer_id to exclude_offer_ids.\n\n"+
			tfinstance.LastSeen(ctx, client, inst))
	case lifecycle.Reverted:
		tfkit.AddError(diags, tfkit.Summaryf(summaryReverted, inst.ID),
			"The API accepted the request, and the instance then "+
				"went back. The next apply requests it again.\n\n"+tfinstance.LastSeen(ctx, client, inst))
	case lifecycle.OutbidAgain:
		addOutbidAgain(diags, inst, e, "Apply again later, set on_outbid = \"keep\" to leave it outbid, or \"replace\" to "+
			"create another instance.")
	case lifecycle.NotStarted, lifecycle.StoppedAboveCap, lifecycle.RunsAboveCap:
		addStartAboveCap(diags, inst, e, "Raise max_price_kop_h or apply again later. For an interruptible instance, "+
			"on_outbid = \"keep\" waits for a lower price and \"replace\" creates another instance.")
	case lifecycle.Refused:
		addRefused(ctx, client, diags, inst, e)
	case lifecycle.Interrupted, lifecycle.Rejected: // the callers report them
	}
}

// addOutbidAgain reports that an instance was outbid after each start. nextStep ends the detail.
func addOutbidAgain(diags *diag.Diagnostics, inst rental.Instance, e *lifecycle.Error, nextStep tfkit.Text) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryOutbidAgain, inst.ID), tfkit.Textf(
		"This run started it %d times, and each time the market price rose above its bid. No further bid was placed. Only "+
			"its disk is billed. %s", e.Starts, nextStep))
}

// addStartAboveCap reports that the start of an instance costs more than the cap. nextStep ends the detail.
func addStartAboveCap(diags *diag.Diagnostics, inst rental.Instance, e *lifecycle.Error, nextStep tfkit.Text) {
	price, limit := tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH)
	reason := tfkit.Textf("max_price_kop_h is %s.", limit)
	if e.Burn != nil {
		reason = tfinstance.SpendingErrorText(e.Burn)
	}
	switch e.Kind {
	case lifecycle.RunsAboveCap:
		tfkit.AddError(diags, tfkit.Summaryf(summaryStillRunsAboveCap, inst.ID), tfkit.Textf(
			"The API started it at %s. %s Stopping it again failed: it most likely runs and is billed at %s. Stop it in the "+
				"service's console now.\n\n%s",
			price, reason, price, e.Err))
	case lifecycle.StoppedAboveCap:
		tfkit.AddError(diags, tfkit.Summaryf(summaryStoppedAboveCap, inst.ID), tfkit.Textf(
			"The API started it at %s. %s The API accepted its stop: only its disk is billed after that. %s",
			price, reason, nextStep))
	default:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotStarted, inst.ID), tfkit.Textf(
			"A start costs %s now, and max_price_kop_h is %s. No start was requested: only its disk is billed. %s",
			price,
			limit,
			nextStep,
		))
	}
}

// addRefused reports a start or stop that the API rejected.
func addRefused(
	ctx context.Context,
	client *rental.Client,
	diags *diag.Diagnostics,
	inst rental.Instance,
	e *lifecycle.Error,
) {
	tfkit.AddAPIErrorAdvising(
		diags,
		tfkit.Textf("%s instance %s", verbFor(e.Wanted), inst.ID),
		tfinstance.LastSeen(ctx, client, inst)+
			"\n\nIts state was not changed, and nothing else was tried. Run again when the message of the API, or the "+
			"status, allows it.",
		e.Err,
	)
}

// addMissingAddresses warns that a running instance has no SSH address, or has web pages without an address.
func addMissingAddresses(
	diags *diag.Diagnostics,
	inst rental.Instance,
	outcome lifecycle.Outcome,
	sshTimeout time.Duration,
) {
	if outcome.NoSSH {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNoSSH, inst.ID), tfkit.Textf(
			"The API returned none within %s after the instance was running, although its template has SSH. The instance is "+
				"in the state and is billed. When the API returns the address, the next refresh reads it.", sshTimeout))
	}
	if missing := lifecycle.MissingURLs(inst); len(missing) > 0 && inst.Status == rental.StatusRunning {
		tfkit.AddWarning(diags, tfkit.Summaryf(summaryNoURLs, inst.ID), tfkit.Textf(
			"Without an address so far: %s. When the API returns the addresses, the next refresh reads them.", missing))
	}
}

// addDestroyError reports that an instance may still exist. confirmed reports whether the API accepted its destruction.
func addDestroyError(
	ctx, waitCtx context.Context, diags *diag.Diagnostics, id string, confirmed bool, timeout time.Duration, err error,
) {
	switch {
	case ctx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryInterruptedDestroy, id), "It stays in the state until the API confirms "+
			"that it is gone. Run again.")
	case waitCtx.Err() != nil && confirmed:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, id), tfkit.Textf(
			"The API accepted the request, but did not finish within %s (timeouts.delete). Run again.", timeout))
	case waitCtx.Err() != nil:
		tfkit.AddError(diags, tfkit.Summaryf(summaryNotDestroyed, id), tfkit.Textf(
			"The API did not confirm the request within %s (timeouts.delete), so the instance may still run and be billed. "+
				"Run again.", timeout))
	default:
		tfkit.AddAPIError(diags, tfkit.Textf("destroy instance %s", id), err)
	}
}
