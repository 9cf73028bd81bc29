package fleet

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
)

// runningAfter returns the members that stay and run, or are started.
func runningAfter(changes []fleet.Change, members []fleet.Member) (running []fleet.Member) {
	actions := actionsBySlot(changes)
	for _, member := range members {
		action := actions[member.Slot]
		gone := action == fleet.Destroy || action == fleet.Stop || action.Rents() || member.Lost()
		if !gone && (member.Instance.BillsGPU() || action == fleet.Start) {
			running = append(running, member)
		}
	}
	return running
}

// checkCaps compares the members that an apply keeps with the caps. A total cap that was lowered below their price is
// an error. Otherwise a price has risen outside of Terraform: the apply starts and rents nothing more. A member above
// the price cap stays, because the apply compares only what it creates or starts.
func checkCaps(diags *diag.Diagnostics, u update) {
	spec, running := u.spec, runningAfter(u.changes, u.members)
	stays := u.stays()
	if total := fleet.RunningKopH(stays); spec.MaxTotalKopH > 0 && total > spec.MaxTotalKopH {
		addTotalAboveCap(diags, spec, len(stays), total, u.capChanged)
	}
	above := slices.DeleteFunc(slices.Clone(running), func(m fleet.Member) bool {
		return !m.Instance.BillsGPU() || priceWithoutDisk(m) <= spec.MaxPriceKopH
	})
	if spec.MaxPriceKopH > 0 && len(above) > 0 {
		addMembersAboveCap(diags, spec, above)
	}
}

// priceWithoutDisk returns the price that is compared with max_price_kop_h, in kopecks per hour.
func priceWithoutDisk(member fleet.Member) int64 {
	return member.Instance.PriceWithoutDisk(member.Instance.Price.StoppedKopH)
}
