package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryDiskAboveMaximum   = "Disk above the offer's maximum"
	summaryDuplicateName      = "Instance %s already has this name"
	summaryReplacedForUnknown = "Instance %s is replaced because of an unknown value"
	summaryQueryNotApplied    = "Changed offer_query applies at the next creation only"
	summaryQueryMissed        = "Instance %s no longer meets offer_query"
	summaryKeysNotApplied     = "Changed ssh_key_ids apply at the next creation only"
	summaryOtherGPUSlug       = "GPU of the imported instance is not in offer_query.gpu"
	summaryHigherPrice        = "Replacement of instance %s costs more"
	summaryCannotReplace      = "Cannot replace instance %s: no matching offer"
	summaryOwnOffer           = "Offer %s may not be available for the replacement"
	summaryOfferNotAvailable  = "Offer %s is not available"
	summaryNoOfferNow         = "No matching offer"
	summaryOfferAboveCap      = "Offer price above max_price_kop_h"
	summaryNotInterruptible   = "Offer has no interruptible price"
	summaryNameRequired       = "Instance without a name"
)

// noImportBlock replaces an import block for an id that is not safe to copy into a configuration.
const noImportBlock = "There is no import block to copy, because the id has unusual characters or is very long. " +
	"Find the instance in the service's console."

func addNameRequired(diags *diag.Diagnostics) {
	tfkit.AddAttributeError(diags, path.Root("name"), tfkit.Summaryf(summaryNameRequired),
		"The provider has idempotency_prefix, which makes the idempotency key of each instance from its name. Set a name "+
			"that no other instance of this configuration has, or set idempotency_key.")
}

func addDiskAboveMaximum(diags *diag.Diagnostics, offerID string, maximum, disk int64) {
	tfkit.AddAttributeError(diags, path.Root("disk_gb"), tfkit.Summaryf(summaryDiskAboveMaximum), tfkit.Textf(
		"Offer %s has at most %d GB, and disk_gb is %d. Lower disk_gb, or choose another offer.", offerID, maximum, disk))
}

// addDuplicateName warns of instances with the planned name, newest first. hasKey: a later apply recovers the planned
// instance by its key.
func addDuplicateName(diags *diag.Diagnostics, found []rental.Instance, hasKey bool) {
	text := tfkit.Text("This run has not read these active instances from the state:") +
		tfkit.Lines(found, func(inst rental.Instance) tfkit.Text {
			return tfkit.Textf("%s, %s, created %s, %s", inst.ID, inst.Status,
				tfkit.Time(inst.CreatedAt).ValueString(), tfkit.PerHour(inst.BurnKopH()))
		})
	if hasKey {
		text += "\nIf a killed run created one under this key within recover_within, the apply recovers it. Otherwise the " +
			"apply fails or creates one more"
	} else {
		text += "\nThe plan creates one more"
	}
	text += ", and all are billed. If another resource or state has it, ignore this. To keep it here, "
	if block, ok := tfkit.ImportBlock("gpurent_instance", found[0].ID); ok {
		text += "add this block with the address of this resource, and plan again:\n\n" + block
	} else {
		text += "import it, and plan again. " + noImportBlock
	}
	tfkit.AddAttributeWarning(diags, path.Root("name"), tfkit.Summaryf(summaryDuplicateName, found[0].ID), text)
}

// addReplacedForUnknown warns of a replacement that the final value of an attribute may not require.
func addReplacedForUnknown(diags *diag.Diagnostics, argument, id string) {
	tfkit.AddAttributeWarning(diags, path.Root(argument), tfkit.Summaryf(summaryReplacedForUnknown, id), tfkit.Textf(
		"The value of %s is known only after apply and can require a replacement, so this plan replaces the instance: its "+
			"disk and data are lost. To keep the instance, first apply what %s depends on (-target), then plan again.",
		argument, argument))
}

func addQueryNotApplied(diags *diag.Diagnostics, id string) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferQuery), tfkit.Summaryf(summaryQueryNotApplied), tfkit.Textf(
		"Instance %s was created with other filters and meets the hardware terms of the new ones, so it is not replaced. "+
			"To replace it, add offer_query to replace_on, or use -replace.", id))
}

func addQueryMissed(diags *diag.Diagnostics, id string, term tfkit.Text) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferQuery), tfkit.Summaryf(summaryQueryMissed, id), tfkit.Textf(
		"It does not meet %s. The plan replaces the instance: its disk and data are lost. To keep it, restore the old "+
			"filter.", term))
}

func addKeysNotApplied(diags *diag.Diagnostics, id string) {
	tfkit.AddAttributeWarning(diags, path.Root(argSSHKeyIDs), tfkit.Summaryf(summaryKeysNotApplied), tfkit.Textf(
		"The API attaches keys when an instance is created and cannot change them later. The configured keys are not "+
			"applied to instance %s. To apply them, add ssh_key_ids to replace_on, use -replace, or change authorized_keys "+
			"on the instance itself.", id))
}

func addOtherGPUSlug(diags *diag.Diagnostics, id, gpu string) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferQuery), tfkit.Summaryf(summaryOtherGPUSlug), tfkit.Textf(
		"Instance %s has the GPU %q. This can be another name for the same GPU, so the instance is kept. To replace it, "+
			"use -replace.", id, gpu))
}

func addHigherPrice(diags *diag.Diagnostics, replaced *replacedInstance, kopH int64) {
	tfkit.AddWarning(diags, tfkit.Summaryf(summaryHigherPrice, replaced.ID), tfkit.Textf(
		"Instance %s costs %s. The offer that would be rented now costs %s. To limit the price, set max_price_kop_h.",
		replaced.ID,
		tfkit.PerHour(replaced.RunningKopH),
		tfkit.PerHour(kopH),
	))
}

const (
	chooseOffer tfkit.Text = "Choose another offer, or use offer_query, which rents the first available one."
	noMatch     tfkit.Text = "No available offer matches the query."
	widenQuery  tfkit.Text = "Remove filters, add fallback_queries, or raise max_price_kop_h."
	orWait      tfkit.Text = " To wait for an offer, set wait_for_offer."
	// unlessCreated follows the reason why an instance cannot be created now.
	unlessCreated tfkit.Text = " The apply fails if that does not change, unless it recovers the instance of a killed " +
		"run. "
)

// addCannotReplace reports an error for a replacement without a matching offer.
func addCannotReplace(diags *diag.Diagnostics, argument, id string, why, nextStep tfkit.Text) {
	tfkit.AddAttributeError(diags, path.Root(argument), tfkit.Summaryf(summaryCannotReplace, id), tfkit.Textf(
		"%s A replacement would destroy instance %s and its disk first, and then fail. Nothing was destroyed. %s", why, id,
		nextStep))
}

func addOwnOffer(diags *diag.Diagnostics, replaced *replacedInstance) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferID), tfkit.Summaryf(summaryOwnOffer, replaced.OfferID), tfkit.Textf(
		"Instance %s is rented from this offer, and the replacement destroys it and its disk first. If the offer does not "+
			"become available again, the apply then fails. %s", replaced.ID, chooseOffer))
}

func addOfferNotAvailable(diags *diag.Diagnostics, offerID string) {
	tfkit.AddAttributeWarning(diags, path.Root(argOfferID), tfkit.Summaryf(summaryOfferNotAvailable, offerID),
		"It cannot be rented now."+unlessCreated+chooseOffer)
}

func addNoOfferNow(diags *diag.Diagnostics, plan model, explanation tfkit.Text) {
	consequence := unlessCreated + widenQuery + orWait
	if wait := plan.Wait(); wait > 0 {
		consequence = tfkit.Textf(" The apply waits for one, at most %s (wait_for_offer).", wait)
	}
	tfkit.AddAttributeWarning(
		diags,
		path.Root(argOfferQuery),
		tfkit.Summaryf(summaryNoOfferNow),
		noMatch+consequence+explanation,
	)
}

func addOfferAboveCap(diags *diag.Diagnostics, offerID string, price, limit int64) {
	tfkit.AddAttributeError(diags, path.Root("max_price_kop_h"), tfkit.Summaryf(summaryOfferAboveCap), tfkit.Textf(
		"Offer %s costs %s now, and max_price_kop_h is %s. Nothing was rented. Choose another offer, or raise "+
			"max_price_kop_h.",
		offerID, tfkit.HourlyRubles(price), tfkit.PerHour(limit)))
}

func addNotInterruptible(diags *diag.Diagnostics, offerID string) {
	tfkit.AddAttributeError(diags, path.Root("type"), tfkit.Summaryf(summaryNotInterruptible), tfkit.Textf(
		"Offer %s cannot be rented as interruptible. Choose another offer, or set type = \"on_demand\". Nothing was "+
			"rented.", offerID))
}
