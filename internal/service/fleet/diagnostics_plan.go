package fleet

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
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
