package simulator

// The quirks that change what happens, so that ledger and later responses agree.

const (
	// maxMovePercent is the most by which a quirk moves a price.
	maxMovePercent = 4
	// paceOutbid is how long after its first running an instance is outbid, in percent of the boot time: before its ports
	// are assigned.
	paceOutbid = 10
)

// movedPrice is the price as it is locked for an offer. Every second time it is lower.
func (w *world) movedPrice(quirk string, o *offer, price int64) int64 {
	if !w.quirks.has(quirk) {
		return price
	}
	n := w.quirks.count(quirk + " " + o.id)
	percent := 1 + int64(w.quirks.roll(maxMovePercent, quirk, o.id, n))
	by := max(price*percent/100, 1)
	if (w.quirks.roll(2, quirk, "direction", o.id)+n)%2 == 0 {
		return max(price-by, 0)
	}
	return min(price+by, maxPriceKopH)
}

// expectOutbid lets an interruptible instance that has just begun to run be outbid soon, once in its life.
func (w *world) expectOutbid(i *instance) {
	if i.Rental != typeInterruptible || i.OutbidSoon || len(i.Ahead) == 0 ||
		!w.quirks.has(quirkOutbidSoonAfterStart) {
		return
	}
	i.OutbidSoon = true
	i.Ahead = []transition{{w.after(paceOutbid), statusOutbid}}
}

// passBid raises the market price above the bid of an instance.
func (w *world) passBid(i *instance) {
	w.setPrice(i.offer, nil, new(min(i.BidKopH+max(i.BidKopH*maxMovePercent/100, 1), maxPriceKopH)))
}
