package simulator

import (
	"math"
	"math/rand/v2"
	"time"
)

// How the market moves by itself. An offer moves about every two hours, on a whole minute: availability is refreshed
// once a minute.
const (
	meanMove = 2 * time.Hour
	// takenShare is how often a move means that another customer takes the server; it is back within maxTaken.
	takenShare = 0.12
	minTaken   = 30 * time.Minute
	maxTaken   = 8 * time.Hour
	// outageShare is how often a move of a host with no reliability at all would be an outage; outages last up to maxOutage.
	outageShare = 0.05
	minOutage   = 10 * time.Minute
	maxOutage   = time.Hour
	// outbidShare is how often a move passes the bid of the rental that holds the server: about once in three days.
	outbidShare = 0.03
	// priceNoise is the size of a usual move, and pricePull how much of the way back to the usual price it goes.
	priceNoise = 0.03
	pricePull  = 0.2
)

// expectMove draws when an offer moves next. What an offer does follows from the seed, the offer and the number of the
// move alone, so that nothing a user does shifts the rest of the market.
func (w *world) expectMove(o *offer) {
	if !w.drifts {
		return
	}
	w.moveIn(o, time.Duration(w.chance(o, 1).ExpFloat64()*float64(meanMove)))
}

// moveIn sets the next move to the first whole minute that is so far away.
func (w *world) moveIn(o *offer, wait time.Duration) {
	passed := w.at.Sub(w.began) + wait
	o.MoveAt = w.began.Add(passed.Truncate(time.Minute) + time.Minute)
	w.due.set(&o.move, o.MoveAt)
}

// chance is the dice of an offer's present move; each purpose has its own.
func (w *world) chance(o *offer, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed^o.number<<20, o.Moves<<4|purpose))
}

// pin leaves an offer as it is, but for what is set by hand.
func (w *world) pin(o *offer) {
	o.MoveAt = time.Time{}
	w.due.set(&o.move, o.MoveAt)
}

// moveMarket is one move of one offer.
func (w *world) moveMarket(o *offer) {
	rng := w.chance(o, 2)
	o.Moves++
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(rng.Int64N(int64(high-low))) }
	switch outage, taken := rng.Float64(), rng.Float64(); {
	case !o.Online:
		w.setOnline(o, true)
	case !o.Listed:
		o.Listed = true
	case !o.steady && o.reliability != nil && outage < outageShare*(1-*o.reliability):
		w.setOnline(o, false)
		w.moveIn(o, between(minOutage, maxOutage))
		return
	case !o.steady && o.rentedBy == nil && taken < takenShare:
		o.Listed = false
		w.moveIn(o, between(minTaken, maxTaken))
		return
	default:
		w.driftPrices(o, rng)
	}
	w.expectMove(o)
}

// driftPrices moves both prices a little, and back towards what is usual. Rarely, one passes the bid of a rental.
func (w *world) driftPrices(o *offer, rng *rand.Rand) {
	onDemand := drifted(rng.NormFloat64(), o.OnDemandKopH, o.usual.OnDemandKopH)
	noise, pass := rng.NormFloat64(), rng.Float64()
	if o.InterruptibleKopH == nil {
		w.setPrice(o, &onDemand, nil)
		return
	}
	interruptible := drifted(noise, *o.InterruptibleKopH, *o.usual.InterruptibleKopH)
	if i := o.rentedBy; i != nil && i.BidKopH > 0 && i.Status != statusOutbid {
		interruptible = min(interruptible, i.BidKopH)
		if pass < outbidShare {
			interruptible = i.BidKopH + i.BidKopH/10 + 1
		}
	}
	interruptible = min(interruptible, max(onDemand-1, 1), maxPriceKopH)
	w.setPrice(o, &onDemand, &interruptible)
}

// drifted is the price that follows the present one.
func drifted(noise float64, now, usual int64) int64 {
	next := float64(now) + pricePull*float64(usual-now) + priceNoise*noise*float64(usual)
	return max(int64(math.Round(min(max(next, 0.7*float64(usual)), 1.4*float64(usual)))), 1)
}

// setOnline takes a host away, and with it what runs there, or brings it back.
func (w *world) setOnline(o *offer, online bool) {
	o.Online = online
	if i := o.rentedBy; i != nil && !online {
		w.vanish(i)
	}
}
