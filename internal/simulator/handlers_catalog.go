package simulator

import "slices"

func (c *call) listGpus() (any, error) {
	return listPage(c, "gpus", parseQuery(c.r.URL), gpuModels, false, keepAll, c.viewModel)
}

// listOffers uses the order of the time when the first page was read, so that price changes between pages neither hide
// nor repeat an offer. The items of each page are current.
func (c *call) listOffers() (any, error) {
	q := parseQuery(c.r.URL)
	filters := readOfferQuery(q)
	filters.unavailable = c.config.Hooks.ListsAll(c.r)
	req := c.readPageRequest(q, "offers")
	if err := q.err(); err != nil {
		return nil, err
	}
	market := c.PriceChanges
	if req.after != nil {
		market = req.after.PriceChanges
	}
	sorted := filters.sorted(c.offers, market)
	if req.after != nil {
		last := slices.IndexFunc(sorted, func(o *offer) bool { return o.ID == req.after.ID })
		sorted = sorted[last+1:]
	}
	following := slices.DeleteFunc(sorted, func(o *offer) bool { return !filters.matches(o) })
	position := func(o *offer) cursorPosition { return cursorPosition{ID: o.ID, PriceChanges: market} }
	return newPage(req, following, position, c.offerViewer()), nil
}

func (c *call) getOffer() (any, error) {
	o := c.findOffer(c.params["id"])
	if o == nil {
		return nil, notFound(textNoOffer)
	}
	return c.offerViewer()(o), nil
}

// offerViewer returns a function that converts offers and records the prices that the caller was shown.
func (c *call) offerViewer() func(*offer) offerView {
	callers := c.callers()
	return func(o *offer) offerView {
		c.recordShown(o, callers)
		return viewOffer(o)
	}
}
