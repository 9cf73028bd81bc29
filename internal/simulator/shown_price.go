package simulator

// maxShownCallers bounds how many callers are remembered with the prices they were shown.
const maxShownCallers = 1000

// shownPrice is what an offer cost when a caller was last shown it.
type shownPrice struct {
	// market is the number of price changes at that time.
	market            int64
	onDemandKopH      int64
	interruptibleKopH *int64
}

func (p shownPrice) of(rental string) *int64 {
	if rental == typeInterruptible {
		return p.interruptibleKopH
	}
	return &p.onDemandKopH
}

// shownPrices are the prices that each caller was last shown, by caller and offer id. They are not in the state file.
type shownPrices map[string]map[string]shownPrice

// callers names the caller of a request as the request limits do: by its API key, if any, and by its address. Offers are
// public, so that one client may look at them without its key and rent with it.
func (c *call) callers() []string {
	callers := []string{callerAddress + " " + hostOf(c.r.RemoteAddr)}
	if k := c.callerKey(c.r.Header); k != nil {
		callers = append(callers, callerKey+" "+k.ID)
	}
	return callers
}

// show remembers that the callers see the present price of an offer.
func (w *world) show(o *offer, callers []string) {
	for _, caller := range callers {
		if w.shown[caller] == nil {
			if len(w.shown) >= maxShownCallers {
				clear(w.shown)
			}
			w.shown[caller] = map[string]shownPrice{}
		}
		w.shown[caller][o.id] = shownPrice{w.market, o.OnDemandKopH, o.InterruptibleKopH}
	}
}

// requireShownPrice refuses when the price of an offer is not the one that the callers were last shown. The refusal
// shows the present price. What they were never shown cannot have changed.
func (w *world) requireShownPrice(o *offer, rental string, callers []string) error {
	var last *shownPrice
	for _, caller := range callers {
		if p, ok := w.shown[caller][o.id]; ok && (last == nil || p.market > last.market) {
			last = &p
		}
	}
	if last == nil {
		return nil
	}
	before, now := last.of(rental), *o.price(rental)
	if before != nil && *before == now {
		return nil
	}
	w.show(o, callers)
	return conflict("Цена изменилась", "The price has changed").withDetail("price_kop_h", now)
}
