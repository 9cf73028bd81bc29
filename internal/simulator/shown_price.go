package simulator

// shownPrice is the price of an offer that a caller was shown last.
type shownPrice struct {
	// priceChanges is the number of price changes at that time.
	priceChanges int64
	prices
}

// shownPrices are the shown prices by caller and offer id. The state file does not contain them.
type shownPrices map[string]map[string]shownPrice

// callers returns the API key, if any, and the address of a request. A client may read offers, which are public,
// without the key that it rents with.
func (c *call) callers() []string {
	callers := []string{callerAddress + " " + hostWithoutPort(c.r.RemoteAddr)}
	if k := c.callerKey(c.r.Header); k != nil {
		callers = append(callers, callerKey+" "+k.ID)
	}
	return callers
}

// recordShown records that the callers were shown the current price of an offer.
func (e *engine) recordShown(o *offer, callers []string) {
	for _, caller := range callers {
		if e.shownPrices[caller] == nil {
			e.shownPrices[caller] = map[string]shownPrice{}
		}
		e.shownPrices[caller][o.ID] = shownPrice{e.PriceChanges, o.prices}
	}
}

// requireShownPrice returns an error if the price of an offer differs from the price that the callers were shown last.
// The error contains the current price, which counts as shown. An offer that was never shown is accepted.
func (e *engine) requireShownPrice(o *offer, rentalType string, callers []string) error {
	var last *shownPrice
	for _, caller := range callers {
		if p, ok := e.shownPrices[caller][o.ID]; ok && (last == nil || p.priceChanges > last.priceChanges) {
			last = &p
		}
	}
	if last == nil {
		return nil
	}
	before, now := last.price(rentalType), *o.price(rentalType)
	if before != nil && *before == now {
		return nil
	}
	e.recordShown(o, callers)
	return conflict(text{"Цена изменилась", "The price has changed"}).withDetail("price_kop_h", now)
}
