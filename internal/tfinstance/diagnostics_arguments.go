package tfinstance

import (
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
