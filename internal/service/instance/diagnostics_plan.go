package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func addNameRequired(diags *diag.Diagnostics) {
	tfkit.AddAttributeError(diags, path.Root("name"), "Instance without a name",
		"The provider has idempotency_prefix, which makes the idempotency key of each instance from its name. Set a name "+
			"that no other instance of this configuration has, or set idempotency_key.")
}

func addDiskAboveMaximum(diags *diag.Diagnostics, offerID string, maximum, disk int64) {
	tfkit.AddAttributeError(diags, path.Root("disk_gb"), "Disk above the offer's maximum", tfkit.Textf(
		"Offer %s has at most %d GB, and disk_gb is %d. Lower disk_gb, or choose another offer.", offerID, maximum, disk))
}

// addDuplicateName warns of instances with the planned name, newest first. hasKey: a later apply recovers the planned
// instance by its key.
func addDuplicateName(diags *diag.Diagnostics, found []rental.Instance, hasKey bool) {
	text := tfinstance.UnclaimedText(found, false)
	if hasKey {
		text += "If an interrupted apply created one under this key within recover_within, the apply recovers it. Else " +
			"the apply fails or creates one more"
	} else {
		text += "The plan creates one more"
	}
	text += ", and all are billed. If another resource or state has it, ignore this. "
	text += tfinstance.ImportAdvice("gpurent_instance", found[0].ID)
	tfkit.AddAttributeWarning(diags, path.Root("name"), tfkit.Textf("Instance %s already has this name", found[0].ID),
		text)
}

// addNotApplied warns of a changed argument that the plan keeps as it was.
func addNotApplied(diags *diag.Diagnostics, argument, id string) {
	tfkit.AddAttributeWarning(diags, path.Root(argument),
		tfkit.Textf("Changed %s applies at the next creation only", argument),
		tfkit.Textf("The API uses it when an instance is created and cannot change it later, so instance %s stays as it is. "+
			"To apply the new value, add %s to replace_on, or use -replace.", id, argument))
}

func addQueryMissed(diags *diag.Diagnostics, id string, term tfkit.Text) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferQuery), tfkit.Textf("Instance %s no longer meets offer_query", id),
		tfkit.Textf("It does not meet %s. The plan replaces the instance: its disk and data are lost. To keep it, restore "+
			"the old filter.", term))
}

const chooseOffer tfkit.Text = "Choose another offer, or use offer_query, which rents the first available one."

// addNoOffer reports that no offer can be rented now, and why. For a new instance it is a warning: an interrupted apply
// may have rented the offer for it, and an error would prevent the next apply from recovering that.
func addNoOffer(diags *diag.Diagnostics, argument string, replaced *replacedInstance, why, nextStep tfkit.Text) {
	if replaced != nil {
		tfkit.AddAttributeError(diags, path.Root(argument),
			tfkit.Textf("Cannot replace instance %s: no matching offer", replaced.ID),
			why+" A replacement would destroy the instance and its disk first, and then fail. Nothing was destroyed. "+nextStep)
		return
	}
	tfkit.AddAttributeWarning(diags, path.Root(argument), "No matching offer", why+" The apply fails if that does not "+
		"change, unless it recovers the instance of an interrupted apply. "+nextStep)
}

func addOwnOffer(diags *diag.Diagnostics, replaced *replacedInstance) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferID),
		tfkit.Textf("Offer %s may not be available for the replacement", replaced.OfferID),
		tfkit.Textf("Instance %s is rented from this offer, and the replacement destroys it and its disk first. If the "+
			"offer does not become available again, the apply then fails. %s", replaced.ID, chooseOffer))
}
