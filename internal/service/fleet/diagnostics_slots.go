package fleet

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// failureLines returns a line for each slot that is not as described.
func failureLines(o outcome) tfkit.Text {
	var text tfkit.Text
	for _, failure := range o.Failures[:min(len(o.Failures), maxLines)] {
		text += "\n  " + slotText(failure.Slot) + ": " + failureText(o, failure)
	}
	if more := len(o.Failures) - maxLines; more > 0 {
		text += tfkit.Textf("\n  … and %d more", more)
	}
	return text
}

// failureText describes one slot in one line.
func failureText(o outcome, failure reconcile.Failure) tfkit.Text {
	var id, stays tfkit.Text
	if failure.Member != nil {
		id = tfkit.Textf("instance %s", failure.Member.Instance.ID)
		stays = "; " + id + " stays"
	}
	if e, ok := errors.AsType[*reconcile.Error](failure.Err); ok {
		if notRented := e.Kind <= reconcile.NotTried; notRented {
			return fleetErrorText(o, failure, e) + stays
		}
		return id + " " + fleetErrorText(o, failure, e)
	}
	if e, ok := errors.AsType[*lifecycle.Error](failure.Err); ok {
		return id + " " + waitErrorText(o, failure, e)
	}
	return requestErrorText(failure.Err) + stays
}

// requestErrorText describes why nothing was rented, or a request failed.
func requestErrorText(err error) tfkit.Text {
	if e, ok := errors.AsType[*placement.Error](err); ok {
		return placementErrorText(e)
	}
	if e, ok := errors.AsType[*spending.Error](err); ok {
		return "a spending limit prevents it: " + tfinstance.SpendingErrorText(e)
	}
	return tfkit.Textf("%s", err) + tfkit.FieldErrors(err)
}

func fleetErrorText(o outcome, failure reconcile.Failure, e *reconcile.Error) tfkit.Text {
	price, limit := tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH)
	var text tfkit.Text
	switch e.Kind {
	case reconcile.NoOffer:
		if refusal, ok := errors.AsType[*placement.Error](e.Err); ok {
			return "no offer could be rented; the last refusal: " + placementErrorText(refusal)
		}
		if o.All {
			return "not rented, because there are too few offers"
		}
		return "no offer is left"
	case reconcile.OverBudget:
		return tfkit.Textf("max_total_kop_h, %s, does not allow another member at the current prices", limit)
	case reconcile.NotTried:
		return "not tried, because another member failed: " + requestErrorText(e.Err)
	case reconcile.NotPlanned:
		return "is " + statusText(failure.Member.Instance) + " now, and the plan did not show that it is destroyed: it " +
			"stays until the next apply"
	case reconcile.NotDestroyed:
		if e.Confirmed {
			return tfkit.Textf("is not destroyed yet, but the API accepted the request: %s", e.Err)
		}
		if errors.Is(e.Err, context.Canceled) {
			return "was not destroyed before the interruption and may be billed"
		}
		return tfkit.Textf("could not be destroyed and may be billed: %s", e.Err)
	case reconcile.KeptOutbid:
		return "is outbid, and on_outbid is \"keep\""
	case reconcile.AboveCap:
		text = tfkit.Textf("cost %s, above max_price_kop_h, %s", price, limit)
	case reconcile.AboveTotal:
		text = tfkit.Textf("raised the price of the fleet to %s, above max_total_kop_h, %s", price, limit)
	case reconcile.NotAsRequested:
		text = "was not as requested: "
		for i, d := range e.Differences {
			if i > 0 {
				text += "; "
			}
			text += tfinstance.DifferenceText(d)
		}
	}
	switch {
	case e.Err != nil:
		return text + tfkit.Textf("; it could not be removed and is billed: %s", e.Err)
	case e.Stopped:
		return text + "; it was stopped"
	}
	return text + "; it was destroyed"
}

func placementErrorText(e *placement.Error) tfkit.Text {
	switch e.Kind {
	case placement.Interrupted:
		if errors.Is(e.Err, context.DeadlineExceeded) {
			return "nothing was rented before the timeout"
		}
		return "interrupted, nothing was rented"
	case placement.OutcomeUnknown:
		return tfkit.Textf("the outcome of the create request is unknown: the next apply receives the instance if there is "+
			"one: %s", e.Err)
	case placement.OtherArguments:
		return tfkit.Textf("instance %s of an earlier run or another state differs: its %s; it stays and is billed; restore "+
			"the arguments, choose a different name for the fleet, or destroy it in the service's console", e.Instance.ID,
			tfinstance.DifferenceText(e.Difference))
	case placement.NotLost:
		return tfinstance.NotLostText(e)
	case placement.InUse:
		return tfkit.Textf("another resource of this run has instance %s", e.Instance.ID)
	case placement.OffersUnreadable:
		return tfkit.Textf("the offers could not be read: %s", e.Err)
	case placement.OfferRefused:
		return tfkit.Textf("the API refused offer %s: %s", e.OfferID, e.Err)
	default:
		return tfkit.Textf("%s", e)
	}
}

func waitErrorText(o outcome, failure reconcile.Failure, e *lifecycle.Error) tfkit.Text {
	var status tfkit.Text
	if failure.Member != nil {
		status = statusText(failure.Member.Instance)
	}
	switch e.Kind {
	case lifecycle.Interrupted:
		if o.Interrupted {
			return "is not ready yet, status " + status + missingText(e)
		}
		return tfkit.Textf("is not ready within %s, status ", o.timeout) + status + missingText(e)
	case lifecycle.Gone:
		return "was destroyed outside Terraform, or the API does not find it"
	case lifecycle.NeedsReplacement:
		return "is " + status + ": the next apply replaces it"
	case lifecycle.NotStarted, lifecycle.StoppedAboveCap:
		if e.Burn != nil {
			return "was stopped again: " + tfinstance.SpendingErrorText(e.Burn)
		}
		return tfkit.Textf("is not started: it costs %s, and its limit (max_price_kop_h, or what max_total_kop_h leaves) is "+
			"%s", tfkit.HourlyRubles(e.PriceKopH), tfkit.HourlyRubles(e.LimitKopH))
	case lifecycle.RunsAboveCap:
		return tfkit.Textf("runs at %s, above its limit %s, and could not be stopped: %s", tfkit.HourlyRubles(e.PriceKopH),
			tfkit.HourlyRubles(e.LimitKopH), e.Err)
	case lifecycle.OutbidAgain:
		return tfkit.Textf("was outbid after each of %d starts", e.Starts)
	case lifecycle.Reverted, lifecycle.Refused, lifecycle.Rejected:
	}
	return tfkit.Textf("%s", e)
}

// missingText describes what a wait lacked at its end.
func missingText(e *lifecycle.Error) (text tfkit.Text) {
	if e.Cause != nil {
		text = tfkit.Textf("; the last request failed: %s", e.Cause)
	}
	for _, missing := range e.Missing {
		text += tfkit.Textf("; ready_when.%s is not met: %s", missing.Condition, missing.Err)
	}
	return text
}
