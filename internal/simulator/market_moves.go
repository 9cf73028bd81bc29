package simulator

import (
	"math"
	"math/rand/v2"
	"time"
)

// Parameters of market moves. An offer moves about every two hours at a whole minute, because availability is refreshed
// once a minute.
const (
	meanMove = 2 * time.Hour
	// rentedShare is the probability that a move means that another customer rents the server, for up to maxRented.
	rentedShare = 0.12
	minRented   = 30 * time.Minute
	maxRented   = 8 * time.Hour
	// outbidShare is the probability that a move raises the price above the bid of the instance: about once in three
	// days.
	outbidShare = 0.03
	// priceNoise is the relative size of a price move. pricePull is the share of the distance to the base price that a
	// move covers.
	priceNoise = 0.03
	pricePull  = 0.2
)

// scheduleMove schedules the next move of an offer. It depends only on the seed, the offer and the number of the move,
// so that rentals do not change the rest of the market.
func (e *engine) scheduleMove(o *offer) {
	if e.config.Market == MarketStill {
		return
	}
	e.scheduleMoveIn(o, time.Duration(e.offerRand(o, 1).ExpFloat64()*float64(meanMove)))
}

// scheduleMoveIn schedules the next move at the first whole minute after a duration.
func (e *engine) scheduleMoveIn(o *offer, wait time.Duration) {
	passed := e.Now.Sub(e.StartedAt) + wait
	o.MoveAt = e.StartedAt.Add(passed.Truncate(time.Minute) + time.Minute)
	e.events.schedule(&o.moveEvent, o.MoveAt)
}

// offerRand returns the random numbers for the current move of an offer and a purpose.
func (e *engine) offerRand(o *offer, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(e.config.Seed^o.index<<20, o.Moves<<4|purpose))
}

// stopMoves stops the market moves of an offer.
func (e *engine) stopMoves(o *offer) {
	o.MoveAt = time.Time{}
	e.events.schedule(&o.moveEvent, o.MoveAt)
}

// moveOffer applies one market move to an offer.
func (e *engine) moveOffer(o *offer) {
	rng := e.offerRand(o, 2)
	o.Moves++
	switch taken := rng.Float64() < rentedShare; {
	case !o.Listed:
		o.Listed = true
	case taken && !o.stable && o.rentedBy == nil:
		o.Listed = false
		e.scheduleMoveIn(o, minRented+time.Duration(rng.Int64N(int64(maxRented-minRented))))
		return
	default:
		e.movePrices(o, rng)
	}
	e.scheduleMove(o)
}

// movePrices changes both prices by a random amount and towards the base price. Rarely, it raises the price above a
// bid.
func (e *engine) movePrices(o *offer, rng *rand.Rand) {
	onDemand := nextPrice(rng.NormFloat64(), o.OnDemandKopH, o.basePrice.OnDemandKopH)
	noise, pass := rng.NormFloat64(), rng.Float64()
	if o.InterruptibleKopH == nil {
		e.setPrice(o, &onDemand, nil)
		return
	}
	interruptible := nextPrice(noise, *o.InterruptibleKopH, *o.basePrice.InterruptibleKopH)
	if i := o.rentedBy; i != nil && i.BidKopH > 0 && i.Status != statusOutbid {
		interruptible = min(interruptible, i.BidKopH)
		if pass < outbidShare {
			interruptible = i.BidKopH + i.BidKopH/10 + 1
		}
	}
	interruptible = min(interruptible, max(onDemand-1, 1), maxPriceKopH)
	e.setPrice(o, &onDemand, &interruptible)
}

// nextPrice returns the price after a move.
func nextPrice(noise float64, now, usual int64) int64 {
	next := float64(now) + pricePull*float64(usual-now) + priceNoise*noise*float64(usual)
	return max(int64(math.Round(min(max(next, 0.7*float64(usual)), 1.4*float64(usual)))), 1)
}
