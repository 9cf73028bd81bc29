package tfinstance

import (
	"regexp/syntax"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// WarnAboveCap warns of running instances among the given ones that cost more than the cap. A limit of 0 means no cap.
// The provider checks the cap only when it creates or starts an instance. The price can exceed it later because a stop
// failed, or because the user lowered the cap.
func WarnAboveCap(diags *diag.Diagnostics, limit int64, instances []rental.Instance) {
	var above []string
	var total int64
	for _, inst := range instances {
		price := inst.PriceWithoutDisk(inst.Price.StoppedKopH)
		if limit > 0 && price > limit && inst.BillsGPU() {
			above = append(above, string(tfkit.Textf("%s (%s)", inst.ID, tfkit.Rubles(price))))
			total += price
		}
	}
	if len(above) == 0 {
		return
	}
	tfkit.AddAttributeWarning(diags, path.Root("max_price_kop_h"), "Running instances cost more than max_price_kop_h",
		tfkit.Textf("These instances cost %s without disks, and the cap is %s: %s. The cap applies when an instance is "+
			"created or started, so this apply does not stop them. Set desired_state = \"stopped\", destroy them, or raise "+
			"max_price_kop_h.", tfkit.HourlyRubles(total), tfkit.PerHour(limit), above))
}

func addNotAPattern(diags *diag.Diagnostics, at path.Path, reason syntax.ErrorCode) {
	tfkit.AddAttributeError(diags, at, "Invalid regular expression", tfkit.Textf(
		"The value of %s: %s. The syntax is that of RE2, as in the function regex of Terraform: without lookarounds and "+
			"backreferences.", at.String(), string(reason)))
}

// addUnknownGPUs warns of a number of slugs that the API does not list. It does not print them: a message contains no
// value of an argument, because that may be sensitive.
func addUnknownGPUs(diags *diag.Diagnostics, at path.Path, unknown, all int) {
	tfkit.AddAttributeWarning(diags, at, "No such GPU model", tfkit.Textf("Slugs in %s that are no GPU "+
		"model: %d of %d. The list of models of the API does not contain them, and it includes models without an offer. "+
		"The data source gpurent_gpus lists all models.", at.String(), unknown, all))
}
