package fleet

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// warnOfChanges warns of the members that the apply changes or rents again.
func warnOfChanges(diags *diag.Diagnostics, u update) {
	var lines []slotLine
	for _, change := range u.changes {
		line := slotLine{slot: change.Slot, text: reason(u.plan, change)}
		if change.Destroys() {
			line.instance = change.Instance.ID
		}
		if isNew := change.Action == fleet.Create && change.Slot >= u.priorSize; !isNew {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		tfkit.AddWarning(diags, tfkit.Textf("Fleet %s changes existing members", u.spec.Name),
			"The apply changes these members and no others. A replacement or destruction loses the disk of the "+
				"member:"+slotLines(lines))
	}
}

// addTooFewOffers warns that an apply could not rent for all slots now. If the apply destroyed the members of a
// replaced fleet first and then failed, that is an error.
func (r *fleetResource) addTooFewOffers(
	ctx context.Context, diags *diag.Diagnostics, plan model, spec fleet.Spec, offers market.Counts, count int,
	replaced int,
) {
	offers.Needed = count
	text := tfinstance.OffersText(offers)
	add := tfkit.AddAttributeWarning
	switch wait := plan.Wait(); {
	case replaced > 0 && wait == 0 && (spec.All || offers.Found < min(count, replaced)):
		add = tfkit.AddAttributeError
		text += " A replacement destroys all members and their disks first, and would then lack some. Nothing was " +
			"destroyed. Set update = \"rolling\" to replace members one after the other, or change offer_queries."
	case wait > 0:
		text += tfkit.Textf(" The apply waits for offers, at most %s (wait_for_offer).", wait)
	case spec.All:
		text += " With allocation = \"all\" the apply then fails. Change offer_queries, lower size, or set wait_for_offer."
	default:
		text += " The apply then rents fewer members. Change offer_queries, lower size, or set wait_for_offer."
	}
	if offers.Matching == 0 {
		text += tfinstance.Explain(ctx, r.Meta, spec.Offers.Queries)
	}
	add(diags, path.Root("offer_queries"), tfkit.Textf("Too few offers for fleet %s", spec.Name), text)
}

// addOthers warns of active instances with names of members that the state does not contain. hasPrefix: the keys of a
// new fleet are chosen.
func addOthers(diags *diag.Diagnostics, name string, others []rental.Instance, isNew, hasPrefix bool) {
	text := tfinstance.UnclaimedText(others, true)
	switch {
	case !isNew:
		text += "If an interrupted apply of this fleet rented them, their keys prove it: the next apply that changes the " +
			"fleet takes them, and a destroy destroys them. Others stay as they are: see " +
			"`terraform-provider-gpurent unmanaged`."
	case hasPrefix:
		text += "If an interrupted apply created them under this idempotency_prefix within recover_within, the apply takes " +
			"them. Else the apply fails or creates all members of the fleet, and all are billed. " +
			tfinstance.ImportAdvice("gpurent_fleet", name)
	default:
		text += "The plan takes none of them: it creates all members of the fleet, and all are billed. If an interrupted " +
			"apply created them, do not apply: destroy them, or import the fleet. " +
			tfinstance.ImportAdvice("gpurent_fleet", name)
	}
	tfkit.AddWarning(diags, tfkit.Textf("Instances have the names of members of fleet %s", name), text)
}
