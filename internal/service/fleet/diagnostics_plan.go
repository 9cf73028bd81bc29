package fleet

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// warnOfChanges warns of the members that the apply changes or rents again.
func warnOfChanges(diags *diag.Diagnostics, name string, plan model, changes []fleet.Change) {
	existing := slices.DeleteFunc(slices.Clone(changes), fleet.Change.IsNew)
	if len(existing) == 0 {
		return
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryChanges, name), "The apply changes these members and no others. A "+
		"replacement or destruction loses the disk of the member:"+tfkit.Lines(existing, func(c fleet.Change) tfkit.Text {
		return slotText(c.Slot) + ": " + reason(plan, c)
	}))
}

// addTooFewOffers warns that an apply could not fill all slots now. If the apply destroyed the members of a replaced
// fleet first and then failed, that is an error.
func (r *fleetResource) addTooFewOffers(
	ctx context.Context, diags *diag.Diagnostics, plan model, spec fleet.Spec, offers failure.Offers, count int,
	replaced int,
) {
	text := offersText(spec, offers, count)
	add := tfkit.AddAttributeWarning
	switch wait := plan.Wait(); {
	case replaced > 0 && wait == 0 && (spec.All || offers.Found < min(count, replaced)):
		add = tfkit.AddAttributeError
		text += " A replacement destroys all members and their disks before it creates others, and would then lack some. " +
			"Nothing was destroyed. With update = \"rolling\", members are replaced one after the other."
	case wait > 0:
		text += tfkit.Textf(" The apply waits for offers, at most %s (wait_for_offer).", wait)
	case spec.All:
		text += " With allocation = \"all\" the apply fails, unless an earlier run has created the members."
	default:
		text += " The apply creates fewer members, unless an earlier run has created them."
	}
	if offers.Matching == 0 {
		text += tfinstance.Explain(ctx, r.Meta, spec.Queries)
	}
	add(diags, path.Root("offer_queries"), tfkit.Summaryf(summaryTooFewOffers, spec.Name), text)
}

// offersText describes why there are fewer offers than needed.
func offersText(spec fleet.Spec, offers failure.Offers, needed int) tfkit.Text {
	text := tfkit.Textf("Offers needed: %d. Offers available for them now: %d. Offers that match the queries: %d.",
		needed, offers.Found, offers.Matching)
	if offers.Reserved > 0 {
		text += tfkit.Textf(" Offers that other resources of this run use: %d.", offers.Reserved)
	}
	switch {
	case offers.OverBudget:
		text += tfkit.Textf(" max_total_kop_h, %s, does not allow more.", tfkit.HourlyRubles(spec.MaxTotalKopH))
	case offers.Split:
		text += " More offers match, but not with the same values of the arguments in same."
	}
	return text
}

func addTotalAboveCap(diags *diag.Diagnostics, spec fleet.Spec, members int, total int64, lowered bool) {
	text := tfkit.Textf("The fleet keeps %s, at a price of %s while running, and max_total_kop_h is %s. Lower size, "+
		"or raise max_total_kop_h.", membersText(members), tfkit.HourlyRubles(total), tfkit.HourlyRubles(spec.MaxTotalKopH))
	at, summary := path.Root("max_total_kop_h"), tfkit.Summaryf(summaryTotalAboveCap, spec.Name)
	if lowered {
		tfkit.AddAttributeError(diags, at, summary, text+" Nothing was changed.")
		return
	}
	tfkit.AddAttributeWarning(diags, at, summary, text+" Until then the apply starts and rents nothing.")
}

// addOtherMembers describes instances with the names of members. created: the plan creates the fleet.
func addOtherMembers(diags *diag.Diagnostics, name string, others []rental.Instance, created bool) {
	text := tfkit.Text("An apply takes those that an interrupted run of this fleet rented for slots without a member. " +
		"The others, and all of them in a destruction, stay and are billed: raise size until they are members, import them " +
		"(`terraform-provider-gpurent unmanaged --format import` prints the blocks), or destroy them in the service's " +
		"console. Those that another resource or state has stay there: give them other names.")
	if created {
		text = "If an interrupted run of this configuration created them, an apply with the same arguments takes those in " +
			"the slots below size that are younger than recover_within, and leaves the others alone. If another state manages " +
			"a fleet with this name, choose a different name here. If this plan destroys that fleet because the resource was " +
			"renamed, add a moved block from its old address to the new one, and if it is tainted, run `terraform untaint " +
			"ADDRESS` (or `tofu untaint ADDRESS`): then all members stay."
	}
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryOtherMembers, name),
		"Active instances with such names that this fleet does not have:"+
			tfkit.Lines(others, func(inst rental.Instance) tfkit.Text {
				return tfkit.Textf("%s (%s)", inst.ID, inst.NameString())
			})+"\n\n"+text)
}

func addNullQuery(diags *diag.Diagnostics, index int) {
	at := path.Root("offer_queries").AtListIndex(index)
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNullQuery), tfkit.Textf(
		"offer_queries[%d] is null. Remove it. A query that selects all offers is {}.", index))
}

func addMinReadyAboveSize(diags *diag.Diagnostics, minReady, size int64) {
	tfkit.AddAttributeError(diags, path.Root("min_ready"), tfkit.Summaryf(summaryMinReady), tfkit.Textf(
		"min_ready is %d, and size is %d. No apply could succeed.", minReady, size))
}
