package simulator

import (
	"slices"
	"strings"
)

// Quirks of offers that are listed and cannot be rented.

const (
	// refuseOneIn is the inverse probability that refused-disks applies to an offer.
	refuseOneIn = 3
	// phantomSuffix ends the id of a phantom offer, after the id of the offer that it copies.
	phantomSuffix = "0"
	// phantomPercent is the price of a phantom in percent of the copied offer.
	phantomPercent = 97
)

var textOfferDisk = text{"этот сервер не принимает такой диск", "the server does not accept this disk"}

// refuseOffer returns the error of refused-disks or phantom-offers for a creation, nil for none.
func (c *call) refuseOffer(id string) error {
	if c.findPhantom(id) != nil {
		return conflict("Предложение уже занято", "The offer has been taken")
	}
	if c.requestHas(quirkRefusedDisks) && c.findOffer(id) != nil &&
		c.quirks.randomInt(refuseOneIn, quirkRefusedDisks, id) == 0 {
		return invalid("disk_gb", textOfferDisk)
	}
	return nil
}

// findPhantom returns the phantom offer with an id, nil if there is none.
func (c *call) findPhantom(id string) *offer {
	copied, isPhantom := strings.CutSuffix(id, phantomSuffix)
	if !isPhantom || !c.requestHas(quirkPhantomOffers) {
		return nil
	}
	if o := c.findOffer(copied); o != nil {
		return phantomOf(o)
	}
	return nil
}

// withPhantom implements phantom-offers for a list: it returns the offers and the phantom of a query, if there is one.
func (c *call) withPhantom(filters offerQuery, market int64) []*offer {
	if !c.requestHas(quirkPhantomOffers) {
		return c.offers
	}
	cheapest := filters
	cheapest.order = "price"
	for _, o := range cheapest.sorted(c.offers, market) {
		if p := phantomOf(o); filters.matches(p) {
			return append(slices.Clone(c.offers), p)
		}
	}
	return c.offers
}

// phantomOf returns a copy of an offer that is available and a bit cheaper.
func phantomOf(o *offer) *offer {
	phantom := *o
	phantom.ID += phantomSuffix
	phantom.rentedBy, phantom.Listed = nil, true
	lower := func(price *int64) *int64 {
		if price == nil {
			return nil
		}
		return new(max(min(*price*phantomPercent/100, *price-1), 0))
	}
	phantom.OnDemandKopH = *lower(&o.OnDemandKopH)
	phantom.InterruptibleKopH = lower(o.InterruptibleKopH)
	phantom.Past = slices.Clone(o.Past)
	for n := range phantom.Past {
		past := &phantom.Past[n]
		past.OnDemandKopH, past.InterruptibleKopH = *lower(&past.OnDemandKopH), lower(past.InterruptibleKopH)
	}
	return &phantom
}
