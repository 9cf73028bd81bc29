package cost

import (
	"strconv"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// server is an instance of a plan before its changes. A price that the plan does not have is missing.
type server struct {
	rental.Instance
	priced bool
	// diskUnpriced: the plan does not contain the price of the disk, as for the members of a fleet.
	diskUnpriced bool
}

// instanceOf returns the instance with these values, without what a plan does not need.
func instanceOf(v values) server {
	s := server{Instance: rental.Instance{
		ID: v.text("id"), Status: rental.InstanceStatus(v.text("status")),
		DesiredState: rental.DesiredState(v.text("desired_state")), Type: rental.RentalType(v.text("type")),
	}}
	prices := v.child("price")
	running, stopped := prices.number("running_kop_h"), prices.number("stopped_kop_h")
	if running != nil {
		s.priced = true
		s.Price.RunningKopH = *running
		s.Price.StoppedKopH = *running // if the plan does not contain the price of the disk
	}
	if stopped != nil {
		s.Price.StoppedKopH = *stopped
	}
	return s
}

// costs returns a price of the instance, if the plan contains its prices.
func (s server) costs(kopH int64) price {
	if !s.priced {
		return price{basis: None}
	}
	return knownPrice(kopH)
}

// now is what the instance costs now, by the same rule as the spending limits of the provider: the API document gives
// no price to a failed instance. An unknown status counts as running.
func (s server) now() price {
	if s.Status == rental.StatusStopped || s.Status == rental.StatusOutbid {
		return s.stopped()
	}
	return s.costs(s.BurnKopH())
}

// running is the price while the instance runs, if no start changes it.
func (s server) running() price { return s.costs(s.Price.RunningKopH) }

// stopped is the price of the disk. Without it, the price is zero and marked, so that a start adds the whole price.
func (s server) stopped() price {
	p := s.costs(s.Price.StoppedKopH)
	p.diskExcluded = s.priced && s.diskUnpriced
	return p
}

// started is the price after a start. The price of an on-demand instance is locked. A start of another one is a new
// bid, which costs at most the cap.
func (s server) started(limit *int64, diskGB int64) price {
	if s.Type == rental.OnDemand {
		return s.running()
	}
	return cappedPrice(limit, 1, diskGB)
}

// waited is the price after a wait for a status that is changing. A start follows a stop.
func (s server) waited(wanted rental.DesiredState, start price) price {
	switch {
	case wanted == rental.DesiredStopped:
		return s.stopped()
	case s.Status == rental.StatusStopping || s.DesiredState == rental.DesiredStopped:
		return start
	}
	return s.running()
}

// instance adds an instance.
func (b *builder) instance(c resourceChange, change Change) {
	before, after := b.readBefore(c), b.read(c, c.Change.After)
	old := instanceOf(before)
	s := Server{Change: change, BeforeKopH: new(int64(0))}
	if !isNull(c.Change.Before) {
		s.BeforeKopH = old.now().kopH
	}
	s.MaxPriceKopH = after.number("max_price_kop_h")
	if change.Action == Unchanged && isNull(c.Change.After) {
		s.MaxPriceKopH = before.number("max_price_kop_h")
	}
	s.MaxKopH = s.MaxPriceKopH
	if change.Action.creates() {
		s.Arguments = arguments(c)
	}
	switch change.Action {
	case Unchanged, Forget:
		s.setAfter(old.now())
	case Destroy:
		s.setAfter(knownPrice(0))
	case Create, Replace:
		s.setAfter(b.newInstance(&s.Change, after, before, s.MaxPriceKopH))
	case ReplaceForget:
		s.setAfter(old.now().plus(b.newInstance(&s.Change, after, before, s.MaxPriceKopH)))
	case Update:
		s.RaisesCap = isRaised(before.number("max_price_kop_h"), s.MaxPriceKopH)
		s.setAfter(updatedInstance(&s, old, after))
	default:
		s.setAfter(price{basis: None})
	}
	noteForgotten(&s.Change)
	index := b.add(s)
	if old.ID != "" {
		b.existing[old.ID] = existing{old, index, before.count("disk_gb")}
	}
}

// updatedInstance sets what an update does, and returns the price afterwards.
func updatedInstance(s *Server, old server, after values) price {
	wanted := rental.DesiredState(after.text("desired_state"))
	start := old.started(s.MaxPriceKopH, after.count("disk_gb"))
	if after.isUnknown("desired_state") {
		s.note("desired_state is not known before the apply: the higher price counts.")
		return highest(old.now(), start)
	}
	switch lifecycle.NextAction(old.Instance, wanted, lifecycle.OutbidPolicy(after.text("on_outbid"))) {
	case lifecycle.ActionNone:
		return old.now()
	case lifecycle.ActionStop:
		s.Action = Stop
		return old.stopped()
	case lifecycle.ActionStart:
		s.Action = Start
		return start
	case lifecycle.ActionWait:
		s.Action = Wait
		return old.waited(wanted, start)
	default: // a plan shows that as a replacement
		return price{basis: None}
	}
}

// newInstance is the price of an instance that is rented.
func (b *builder) newInstance(change *Change, after, before values, limit *int64) price {
	noteStopped(change, after)
	noteHidden(change, after, "max_price_kop_h", "type")
	demand := rentalDemand{limit: limit, known: !after.isUnknown("type")}
	demand.Order = rental.InstanceCreate{DiskGB: after.count("disk_gb"), Type: rental.RentalType(after.text("type"))}
	demand.Count, demand.MaxPriceKopH = 1, after.count("max_price_kop_h")
	demand.OfferID = after.text("offer_id")
	for _, name := range []string{"offer_id", "offer_query", "fallback_queries", "max_price_kop_h"} {
		demand.known = demand.known && !after.isUnknown(name)
	}
	if demand.OfferID == "" {
		demand.addQuery(after.child("offer_query"))
		fallbacks := after.children("fallback_queries")
		for i := range len(fallbacks) {
			demand.addQuery(fallbacks[strconv.Itoa(i)])
		}
		demand.Except = map[string]bool{before.text("rented_offer_id"): true}
	}
	return b.rent(change, demand)
}

// noteStopped notes that a new server is stopped at the end of the apply.
func noteStopped(change *Change, after values) {
	if after.text("desired_state") == string(rental.DesiredStopped) {
		change.note("It is stopped after the creation, and then only its disk is billed. The running price counts.")
	}
}

// noteHidden names arguments that are unknown or sensitive and determine the price.
func noteHidden(change *Change, after values, names ...string) {
	for _, name := range names {
		switch {
		case after.isUnknown(name):
			change.note("%s is not known before the apply.", name)
		case after.isHidden(name):
			change.note("%s is sensitive: it does not count.", name)
		}
	}
}

// noteForgotten notes that an object leaves the state and is billed further.
func noteForgotten(change *Change) {
	if change.Action == Forget || change.Action == ReplaceForget {
		change.note("Billing continues: no state has the server afterwards.")
	}
}

// rentalDemand is what a plan rents.
type rentalDemand struct {
	market.Demand
	limit *int64 // price cap of each server
	known bool   // all arguments that select the offers are known
}

// quoteFunc returns the prices of the offers for what a plan rents, at most Count, with the disks.
type quoteFunc func(rentalDemand) ([]int64, error)

// rent is the price of new servers: those of offers, and the cap for the servers without one.
func (b *builder) rent(change *Change, demand rentalDemand) price {
	total, found := knownPrice(0), 0
	if b.quote != nil && demand.known && demand.Count > 0 && b.err == nil {
		prices, err := b.quote(demand)
		b.err = err
		for _, kopH := range prices {
			total = total.plus(price{kopH: &kopH, basis: Offer, uncapped: demand.limit == nil})
		}
		if found = len(prices); found < demand.Count {
			change.note("No offer now for %s: the price cap counts.", counted(demand.Count-found, "server", "servers"))
		}
	}
	return total.plus(cappedPrice(demand.limit, int64(demand.Count-found), demand.Order.DiskGB))
}
