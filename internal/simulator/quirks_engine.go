package simulator

import "time"

// Quirks that change the engine, so that the ledger and later responses are consistent.

const (
	// maxMovePercent is the maximum price change of a quirk.
	maxMovePercent = 4
	// shareOutbid is the time from running to outbid in percent of the boot time. It ends before the ports are
	// assigned.
	shareOutbid = 10
)

// quirkedPrice returns the price to lock. The quirk lowers and raises it in turns.
func (e *engine) quirkedPrice(quirk string, o *offer, price int64) int64 {
	if !e.quirks.has(quirk) {
		return price
	}
	n := e.quirks.increment(quirk + " " + o.ID)
	percent := 1 + int64(e.quirks.randomInt(maxMovePercent, quirk, o.ID, n))
	by := max(price*percent/100, 1)
	if (e.quirks.randomInt(2, quirk, "direction", o.ID)+n)%2 == 0 {
		return max(price-by, 0)
	}
	return min(price+by, maxPriceKopH)
}

// scheduleOutbid schedules the quirk outbid-soon-after-start, once per instance.
func (e *engine) scheduleOutbid(i *instance) {
	if i.Rental != typeInterruptible || i.OutbidSoon || len(i.Ahead) == 0 ||
		!e.quirks.has(quirkOutbidSoonAfterStart) {
		return
	}
	i.OutbidSoon = true
	i.Ahead = []transition{{e.afterBootShare(shareOutbid), statusOutbid}}
}

// raisePriceAboveBid raises the market price above the bid of an instance.
func (e *engine) raisePriceAboveBid(i *instance) {
	e.setPrice(i.offer, nil, new(min(i.BidKopH+max(i.BidKopH*maxMovePercent/100, 1), maxPriceKopH)))
}

// lagsGet implements lagging-get.
func (e *engine) lagsGet(i *instance) bool {
	if !e.quirks.has(quirkLaggingGet) {
		return false
	}
	lag := time.Duration(1+e.quirks.randomInt(3, quirkLaggingGet, i.ID)) * time.Second
	return e.now.Before(i.CreatedAt.Add(lag))
}

// requestHas reports whether a quirk applies to the request.
func (c *call) requestHas(quirk string) bool { return c.quirks.has(quirk) && !isWithoutQuirks(c.r) }

// dropsKey implements forgotten-keys.
func (c *call) dropsKey(i *instance) bool { return i.destroyed() && c.requestHas(quirkForgottenKeys) }

// isBusy implements busy-while-booting.
func (c *call) isBusy(i *instance) bool {
	return (i.Status == statusCreating || i.Status == statusStarting) && c.requestHas(quirkBusyWhileBooting)
}

// burnKopH returns the burn rate that the balance shows, and implements failed-is-billed.
func (e *engine) burnKopH() int64 {
	burn := e.unposted.Rate
	if e.quirks.has(quirkFailedIsBilled) {
		for _, i := range e.active {
			if i.Status == statusFailed {
				burn += i.RunningKopH
			}
		}
	}
	return burn
}
