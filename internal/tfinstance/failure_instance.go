package tfinstance

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// describeKey describes an instance that was, or may have been, rented under the key.
func describeKey(err error, _ rental.Instance) (f Failure, ok bool) {
	switch e := err.(type) { //nolint:errorlint // an error that contains one of these is another one
	case lifecycle.OutcomeUnknown:
		f = Failure{Summary: "Cannot determine whether the instance was created"}
		f.Reason = tfkit.Textf("An instance may have been rented under the idempotency key %s: %s.", e.Key, e.Err)
		f.Advice = unknownAdvice(e)
		return f, true
	case lifecycle.NotRecent:
		f.Summary = tfkit.Textf("Instance %s has the idempotency key of this resource", e.Instance.ID)
		f.Reason = tfkit.Textf("Instance %s (%s, %s) was %s, recover_within is %s, and another state may have it.",
			e.Instance.ID, e.Instance.Status, tfkit.PerHour(e.Instance.BurnKopH()), CreatedText(e.Instance),
			e.RecoverWithin)
		f.Advice = ImportAdvice("gpurent_instance", e.Instance.ID) + "\n\n" + ownershipCauses
	case lifecycle.ReplayDiffers:
		f.Summary = "The instance of idempotency_key differs from the configuration"
		f.Reason = tfkit.Textf("Instance %s (%s, %s) was rented before under this key, and differs: %s.", e.Instance.ID,
			e.Instance.Status, tfkit.PerHour(e.Instance.BurnKopH()), DifferencesText(e.Differences))
		f.Advice = "To keep it here, restore its arguments and apply again, or import it.\n\n" + ownershipCauses
	case lifecycle.InUse:
		f.Summary = tfkit.Textf("Another resource has instance %s", e.Instance.ID)
		f.Reason = tfkit.Textf("Another resource of this run has instance %s, most likely because both have the same key.",
			e.Instance.ID)
		f.Advice = ownershipCauses
	default:
		return Failure{}, false
	}
	f.Argument = "idempotency_key"
	return f, true
}

// ownershipCauses are the usual causes of an instance that was rented before under a key and that is not taken, and
// what to do.
const ownershipCauses tfkit.Text = "Usual causes: a copied resource or a second state (set another idempotency_key, " +
	"or with idempotency_prefix, another name), a rename (add a moved block), create_before_destroy (change the key " +
	"with each replacement)."

// ImportAdvice describes how to import an object that no other state has.
func ImportAdvice(resourceType, id string) tfkit.Text {
	if block, ok := tfkit.ImportBlock(resourceType, id); ok {
		return "If no other state has it, add this block with the address of this resource, and plan again:\n\n" + block
	}
	return "If no other state has it, import it. " + noImportBlock
}

// noImportBlock replaces an import block for an id that is not safe to copy into a configuration.
const noImportBlock = "There is no import block to copy, because the id has unusual characters or is very long. " +
	"`terraform-provider-gpurent unmanaged` lists the instance."

func unknownAdvice(e lifecycle.OutcomeUnknown) (text tfkit.Text) {
	if key, ok := e.Seed.Configurable(); ok {
		text = tfkit.Textf("Set idempotency_key = %q in this resource. ", key)
	}
	return text + "Apply again within recover_within: the apply recovers the instance, or creates it. Before you " +
		"destroy or remove this resource instead, run `terraform-provider-gpurent unmanaged`, which lists it."
}

// describeWait describes why an existing instance is not in its desired state.
func describeWait(err error, inst rental.Instance) (f Failure, ok bool) {
	status := tfkit.Textf("%s", inst.Status)
	switch e := err.(type) { //nolint:errorlint // an error that contains one of these is another one
	case lifecycle.NotReady:
		f = Failure{Summary: tfkit.Textf("Instance %s is not ready yet", inst.ID)}
		f.Reason = "Not ready in time, status " + status + "." + CauseText(e)
		if errors.Is(e.Err, context.Canceled) {
			f.Reason = "Interrupted, status " + status + "." + CauseText(e)
		}
		f.Advice = "The next apply continues to wait."
	case lifecycle.Missing:
		f = Failure{Summary: tfkit.Textf("Instance %s no longer exists", inst.ID)}
		f.Reason = "It was destroyed outside Terraform during this run, or the API does not find it."
		f.Advice = "If the next plan does not find it either, the apply creates another."
	case lifecycle.NeedsReplacement:
		f = Failure{Summary: tfkit.Textf("Instance %s cannot be used", inst.ID), Advice: "The next apply replaces it."}
		f.Reason = "It failed, and cannot be started."
		if inst.Status == rental.StatusOutbid {
			f.Summary = tfkit.Textf("Instance %s was outbid", inst.ID)
			f.Reason = "It was outbid, and on_outbid is \"replace\". Until then, only its disk is billed."
		}
	case lifecycle.Reverted:
		f = Failure{Summary: tfkit.Textf("Instance %s returned to its previous state", inst.ID), Advice: "Run again."}
		f.Reason = "The API accepted the request, and the instance then returned to the status " + status + "."
	case lifecycle.OutbidAgain:
		f = Failure{Summary: tfkit.Textf("Instance %s was outbid again", inst.ID)}
		f.Reason = tfkit.Textf("It was outbid after each of %d starts. Only its disk is billed.", e.Starts)
		f.Advice = "Run again later, or set on_outbid = \"keep\" to leave it outbid, or \"replace\"."
	case lifecycle.StateRefused:
		f = Failure{Summary: tfkit.Textf("Cannot %s instance %s", verbFor(e.Wanted), inst.ID), API: e.Err}
		f.Reason = tfkit.Textf("The API refused to change its status, %s: %s.", status, e.Err)
		f.Advice = "Run again when the message of the API, or the status, allows it."
	case lifecycle.AboveCap:
		f = aboveLimit(e, inst)
		f.Reason += " It was not started, and only its disk is billed."
		f.Advice = bidAdvice
	case lifecycle.StoppedAgain:
		f = aboveLimit(e.Reason, inst)
		f.Reason += " It was stopped again: only its disk is billed."
		f.Advice = bidAdvice
	case lifecycle.StillRunning:
		f = aboveLimit(e.Reason, inst)
		f.Reason += tfkit.Textf(" It was started, and its stop failed, so that it most likely runs and is billed: %s.", e.Err)
		f.Advice = "Stop it now, for example with desired_state = \"stopped\"."
	default:
		return Failure{}, false
	}
	return f, true
}

const bidAdvice = "Raise the limit, or run again later. For an interruptible instance, on_outbid = \"keep\" waits " +
	"for a lower price and \"replace\" creates another instance."

// aboveLimit describes an instance that costs more than a limit allows.
func aboveLimit(reason error, inst rental.Instance) Failure {
	f := Failure{Summary: tfkit.Textf("Instance %s costs more than a limit allows", inst.ID)}
	if e, ok := errors.AsType[lifecycle.AboveCap](reason); ok {
		f.Reason = tfkit.Textf("It costs %s, and max_price_kop_h is %s.", tfkit.HourlyRubles(e.PriceKopH),
			tfkit.PerHour(e.CapKopH))
	} else if e, ok := errors.AsType[spending.AboveBurnLimit](reason); ok {
		f.Reason = Describe(e, inst).Reason
	}
	return f
}

// verbFor returns the verb of the request that moves an instance to a state.
func verbFor(wanted rental.DesiredState) tfkit.Text {
	if wanted == rental.DesiredStopped {
		return "stop"
	}
	return "start"
}

// describeRejected describes a new instance that must not run, and what became of it.
func describeRejected(err error, inst rental.Instance) (f Failure, ok bool) {
	e, ok := errors.AsType[lifecycle.Rejected](err)
	if !ok {
		return Failure{}, false
	}
	f = aboveLimit(e.Reason, inst)
	if reason, ok := errors.AsType[lifecycle.NotAsOrdered](e.Reason); ok {
		f.Summary = tfkit.Textf("Instance %s differs from the request", inst.ID)
		f.Reason = "It is not as ordered: " + DifferencesText(reason.Differences) + "."
	}
	switch e.Removal {
	case lifecycle.Destroyed:
		f.Reason += " The API accepted the request to destroy it."
		f.Advice = "Apply again to try another offer, or change the arguments."
	case lifecycle.Stopped:
		f.Reason += " It may be older than this run, so it was stopped and not destroyed: only its disk is billed."
		f.Advice = "The next apply replaces it, because it is tainted. To keep it, raise the limit, run `terraform untaint " +
			"ADDRESS`, and apply. If another state has it, run `terraform state rm ADDRESS` here."
	case lifecycle.NotRemoved:
		f.Reason += tfkit.Textf(" It could not be removed, and is billed: %s.", e.Err)
		f.Advice = "It is in the state. Apply again to destroy it."
	}
	return f, true
}

// DifferencesText describes differences between an instance and its request. It does not contain the value of a string
// argument, which may be sensitive.
func DifferencesText(differences []lifecycle.Difference) (text tfkit.Text) {
	for i, d := range differences {
		if i > 0 {
			text += "; "
		}
		switch d.Attribute {
		case "template", "image", "type":
			text += tfkit.Textf("%s is %s, which was not requested", d.Attribute, d.Actual)
		default:
			text += tfkit.Textf("%s is %s instead of %s", d.Attribute, d.Actual, d.Requested)
		}
	}
	return text
}

// CauseText describes what a wait lacked at its end: an API error, or the conditions of ready_when that the instance
// did not meet.
func CauseText(err error) tfkit.Text {
	var text tfkit.Text
	e, _ := errors.AsType[lifecycle.NotReady](err)
	if e.LastRead != nil {
		text = tfkit.Textf(" The last request failed: %s.", e.LastRead)
	}
	for _, unmet := range e.Unmet {
		text += tfkit.Textf("\nready_when.%s is not met: %s.", unmet.Condition, unmet.Err)
	}
	return text
}
