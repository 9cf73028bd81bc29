package simulator

import "slices"

func (c *call) listGpus() (any, error) {
	return listNumbered(c, "gpus", parseQuery(c.r.URL), c.models, false, all, c.viewModel)
}

// listOffers keeps the order that the market had when the first page was read, so that prices that move between pages
// neither hide an offer nor show one twice. What each page shows is what is true when it is read.
func (c *call) listOffers() (any, error) {
	q := parseQuery(c.r.URL)
	filters := readOfferQuery(q)
	w := c.window(q, "offers")
	if err := q.err(); err != nil {
		return nil, err
	}
	market := c.market
	if w.from != nil {
		market = w.from.Market
	}
	sorted := filters.sorted(c.offers, market)
	if w.from != nil {
		last := slices.IndexFunc(sorted, func(o *offer) bool { return o.id == w.from.After })
		sorted = sorted[last+1:]
	}
	following := slices.DeleteFunc(sorted, func(o *offer) bool { return !filters.matches(o) })
	return cutPage(c, w, market, following, func(o *offer) string { return o.id }, c.offerViewer())
}

func (c *call) getOffer() (any, error) {
	o := c.findOffer(c.params["id"])
	if o == nil {
		return nil, notFound("Предложение не найдено", "There is no such offer")
	}
	return c.offerViewer()(o), nil
}

// offerViewer returns what shows offers to the caller, and remembers their prices.
func (c *call) offerViewer() func(*offer) offerView {
	callers := c.callers()
	return func(o *offer) offerView {
		c.show(o, callers)
		return viewOffer(o)
	}
}
