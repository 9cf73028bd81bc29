package fleet

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
)

// runningAfter returns the members that stay and run, or are started.
func runningAfter(changes []reconcile.Change, members []reconcile.Member) (running []reconcile.Member) {
	actions := actionsBySlot(changes)
	for _, member := range members {
		action := actions[member.Slot]
		gone := action == reconcile.Destroy || action == reconcile.Stop || action.Rents() || member.Lost()
		if !gone && (member.Instance.BillsGPU() || action == reconcile.Start) {
			running = append(running, member)
		}
	}
	return running
}

// checkTotal compares the members that run after an apply with the total cap. A cap that was lowered below their price
// is an error. Otherwise a price has risen outside of Terraform: the apply starts and rents nothing more.
func checkTotal(diags *diag.Diagnostics, spec reconcile.Spec, running []reconcile.Member, lowered bool) {
	if total := reconcile.RunningKopH(running); exceedsTotal(spec, total) {
		addTotalAboveCap(diags, spec, len(running), total, lowered)
	}
}

func exceedsTotal(spec reconcile.Spec, totalKopH int64) bool {
	return spec.MaxTotalKopH > 0 && totalKopH > spec.MaxTotalKopH
}

// warnAboveCap warns of members that run above max_price_kop_h, because the user lowered it. The apply compares only
// what it creates or starts.
func warnAboveCap(diags *diag.Diagnostics, spec reconcile.Spec, running []reconcile.Member) {
	if above := aboveCap(spec, running); len(above) > 0 {
		addMembersAboveCap(diags, spec, above)
	}
}

func aboveCap(spec reconcile.Spec, running []reconcile.Member) (above []reconcile.Member) {
	for _, member := range running {
		if spec.MaxPriceKopH > 0 && member.Instance.BillsGPU() && priceWithoutDisk(member) > spec.MaxPriceKopH {
			above = append(above, member)
		}
	}
	return above
}

// priceWithoutDisk returns the price that is compared with max_price_kop_h, in kopecks per hour.
func priceWithoutDisk(member reconcile.Member) int64 {
	return member.Instance.PriceWithoutDisk(member.Instance.Price.StoppedKopH)
}
