package rental

// All prices are kopecks per hour unless a name states otherwise.

// NameString returns the name, empty if there is none.
func (i Instance) NameString() string {
	if i.Name == nil {
		return ""
	}
	return *i.Name
}

// Destroyed reports whether an instance is destroyed or about to be.
func (i Instance) Destroyed() bool {
	return i.Status == StatusDestroying || i.Status == StatusDestroyed || i.DesiredState == DesiredDestroyed
}

// BurnKopH is what an instance costs in its present status.
func (i Instance) BurnKopH() int64 {
	switch i.Status {
	case StatusStopped, StatusOutbid:
		return i.Price.StoppedKopH
	case StatusFailed, StatusDestroying, StatusDestroyed:
		return 0
	default:
		return i.Price.RunningKopH
	}
}

// BillsGPU reports whether an instance is billed at its running price, or is about to be.
func (i Instance) BillsGPU() bool {
	switch i.Status {
	case StatusStopped, StatusStopping, StatusOutbid, StatusFailed:
		return false
	default:
		return true
	}
}

// PriceWithoutDisk is what an instance costs while it runs, without its disk. That is at most the price of its offer,
// which includes a base disk. stoppedBefore is the price of the stopped instance, its disk, before a start or a new
// bid. The lower of the two disk prices counts, so that a price that moved to the disk is compared with a cap, too.
func (i Instance) PriceWithoutDisk(stoppedBefore int64) int64 {
	return i.Price.RunningKopH - max(0, min(stoppedBefore, i.Price.StoppedKopH))
}

// StartKopH is what an instance costs after a start. bidKopH is the price of its offer for a new bid; nil if the price
// is locked or the offer is unknown. The running price includes the disk, and a bid only a base disk. The whole disk is
// added to a bid above the running price, so the result can be a little too high.
func (i Instance) StartKopH(bidKopH *int64) int64 {
	if bidKopH == nil || *bidKopH <= i.Price.RunningKopH {
		return i.Price.RunningKopH
	}
	return *bidKopH + i.Price.StoppedKopH
}

// PriceKopH is what an offer costs for a rental type, without disk beyond the base disk. It is false if the offer
// cannot be rented as that type.
func (o Offer) PriceKopH(kind RentalType) (kopH int64, ok bool) {
	if kind != Interruptible {
		return o.Price.OnDemandKopH, true
	}
	if o.Price.InterruptibleKopH == nil {
		return 0, false
	}
	return *o.Price.InterruptibleKopH, true
}

const hoursPerMonth = 730

// DiskKopH is what a disk of this size costs per hour at the offer's price of storage, rounded up.
func (o Offer) DiskKopH(gb int64) int64 {
	return (gb*o.Price.StorageKopGBMonth + hoursPerMonth - 1) / hoursPerMonth
}
