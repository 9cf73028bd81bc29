package cost

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// member is a server before the plan: an instance, or that in a slot of a fleet.
type member struct {
	rental.Instance
	slot             int
	running, stopped Price // while it is in this state
}

// membersOf returns the servers of a resource by slot, without what a plan does not need.
func membersOf(kind string, v values) (members []member) {
	newMember := func(own, prices values) member {
		m := member{Instance: rental.Instance{
			ID: own.text("id"), Status: rental.InstanceStatus(own.text("status")), DiskGB: v.count("disk_gb"),
			DesiredState: rental.DesiredState(v.text("desired_state")), Type: rental.RentalType(v.text("type")),
		}}
		m.Price.RunningKopH = prices.count("running_kop_h")
		m.running = existingPrice(prices.number("running_kop_h"))
		m.stopped = existingPrice(cmp.Or(prices.number("stopped_kop_h"), m.running.KopH))
		return m
	}
	if kind == typeInstance {
		return []member{newMember(v, v.child("price"))}
	}
	slots := v.child("instances")
	for key := range slots.attributes {
		own := slots.child(key)
		m := newMember(own, own)
		if m.ID == "" && m.Status == fleet.StatusUnknown {
			continue
		}
		slot, err := strconv.Atoi(key)
		if err != nil || slot < 0 || m.ID == "" || m.running.KopH == nil {
			slots.report(key)
		}
		m.slot = slot
		// The plan does not contain the price of the disk. So it is zero and marked, and a start adds the whole price.
		m.stopped = Price{KopH: new(int64(0)), Basis: Known, DiskExcluded: true}
		if m.Status != rental.StatusOutbid { // an apply stops an outbid member only if the fleet was to run
			m.DesiredState = ""
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.slot, b.slot) })
	return members
}

// burnOf is what members cost now.
func burnOf(members []member) Price {
	total := knownPrice(0)
	for _, m := range members {
		total = total.plus(m.now())
	}
	return total
}

// now is what the member costs now, by the same rule as the spending limits of the provider: the API document gives no
// price to a failed instance. An unknown status counts as running.
func (m member) now() Price {
	switch {
	case m.running.KopH == nil:
		return m.running
	case m.Status == rental.StatusStopped || m.Status == rental.StatusOutbid:
		return m.stopped
	case m.Status == rental.StatusFailed || m.Destroyed():
		return knownPrice(0)
	}
	return m.running
}

// started is the price after a start. The price of an on-demand instance is locked. A start of another one is a new
// bid, which costs at most the cap.
func (m member) started(limit *int64) Price {
	if m.Type == rental.OnDemand {
		return m.running
	}
	return cappedPrice(limit, 1, m.DiskGB)
}

// after is the price after an update that does this with the member.
func (m member) after(action Action, wanted rental.DesiredState, limit *int64) Price {
	switch {
	case action == Stop, action == Wait && wanted == rental.DesiredStopped:
		return m.stopped
	case action == Start,
		action == Wait && (m.Status == rental.StatusStopping || m.DesiredState == rental.DesiredStopped):
		return m.started(limit) // a start follows a stop
	case action == Wait:
		return m.running
	}
	return m.now()
}

// change adds an instance or a fleet. The price of one with a problem is not known.
func (b *builder) change(c resourceChange) {
	s := Server{Address: c.Address, Deposed: c.Deposed, Type: c.Type}
	names := strings.Join(c.Change.Actions, ",")
	var known bool
	if s.Action, known = actions[names]; !known {
		s.Action = Unknown
		b.addProblem(s.label(), "The plan has the unknown actions %s.", code(names))
	}
	before, after := b.before(c), b.after(c)
	members := membersOf(c.Type, before)
	now := burnOf(members)
	s.BeforeKopH = now.KopH
	if isNull(before.raw) {
		s.BeforeKopH = new(int64(0))
	}
	if now.DiskExcluded {
		s.note("The plan does not contain the prices of the disks of its stopped members.")
	}
	s.Price = b.priceAfter(&s, before, after, members, now)
	if slices.ContainsFunc(b.Problems, func(p Problem) bool { return p.Address == s.label() }) {
		s.Price = Price{Basis: None}
	}
	b.Servers = append(b.Servers, s)
}

// priceAfter sets what an update does, and returns the price after the change.
func (b *builder) priceAfter(s *Server, before, after values, members []member, now Price) Price {
	switch s.Action {
	case Unchanged:
		return now
	case Forget:
		s.note("Billing continues: no state has the server afterwards.")
		return now
	case Destroy:
		return knownPrice(0)
	case Unknown:
		return Price{Basis: None}
	default:
		s.noteHidden(after, "max_price_kop_h")
	}
	switch {
	case s.Action == ReplaceForget:
		s.note("Billing of the old server continues: no state has it afterwards.")
		return b.created(s, before, after).plus(now)
	case s.Action != Update:
		return b.created(s, before, after)
	case s.Type == typeFleet:
		return b.updatedFleet(s, before, after, members)
	}
	return updatedInstance(s, members[0], after)
}

// maxPrice is the price cap of each server; nil for none.
func (v values) maxPrice() *int64 { return v.number("max_price_kop_h") }

// instanceActions are the actions of updates.
var instanceActions = map[lifecycle.Action]Action{
	lifecycle.ActionNone: Update, lifecycle.ActionStop: Stop, lifecycle.ActionStart: Start, lifecycle.ActionWait: Wait,
}

// updatedInstance sets what an update does, and returns the price afterwards.
func updatedInstance(s *Server, m member, after values) Price {
	wanted := rental.DesiredState(after.text("desired_state"))
	if s.noteHidden(after, "desired_state", "on_outbid") {
		return highest(m.now(), m.started(after.maxPrice()))
	}
	action, updates := instanceActions[lifecycle.NextAction(m.Instance, wanted,
		lifecycle.OutbidPolicy(after.text("on_outbid")))]
	if !updates { // a plan shows that as a replacement
		return Price{Basis: None}
	}
	s.Action = action
	return m.after(action, wanted, after.maxPrice())
}

// created is the price of an instance or a fleet that is created.
func (b *builder) created(s *Server, before, after values) Price {
	s.noteHidden(after, "size", "type")
	if after.text("desired_state") == string(rental.DesiredStopped) {
		s.note("It is stopped after the creation, and then only its disk is billed. The running price counts.")
	}
	if s.Type == typeFleet {
		return b.newFleet(s, after)
	}
	return b.rent(s, after, market.Demand{
		Count: 1, OfferID: after.text("offer_id"), Request: after.order(), MaxPriceKopH: after.count("max_price_kop_h"),
		Except: map[string]bool{before.text("rented_offer_id"): true},
	})
}

// order is what is rented for a server with these arguments.
func (v values) order() rental.InstanceCreate {
	order := rental.InstanceCreate{
		Template: v.text("template"), DiskGB: v.count("disk_gb"), Type: rental.RentalType(v.text("type")),
	}
	if order.Template == rental.CustomTemplate {
		order.Image = v.text("image")
	}
	return order
}

// noteHidden names those of the arguments that are hidden, and reports whether there are any.
func (s *Server) noteHidden(after values, names ...string) (found bool) {
	for _, name := range names {
		if after.isHidden(name) {
			counts := "the highest possible price counts"
			if name == "size" {
				counts = "the price is unknown"
			}
			s.note("%s is %s: %s.", name, hidden, counts)
			found = true
		}
	}
	return found
}

// offerArguments are the arguments that select offers.
var offerArguments = []string{
	"type", "offer_id", "offer_query", "fallback_queries", "offer_queries", "same", "max_price_kop_h",
}

// quoteFunc returns the prices of the offers for what a plan rents, at most Count, with the disks.
type quoteFunc func(market.Demand) ([]int64, error)

// rent is the price of new servers: those of offers, and the cap for the servers without one.
func (b *builder) rent(s *Server, after values, demand market.Demand) Price {
	total, found := knownPrice(0), 0
	limit, known := after.maxPrice(), !slices.ContainsFunc(offerArguments, after.isHidden)
	if known && demand.OfferID == "" {
		demand.Queries = after.queries(demand.Request, limit)
	}
	if b.quote != nil && known && demand.Count > 0 && b.err == nil {
		prices, err := b.quote(demand)
		b.err = err
		for _, kopH := range prices {
			total = total.plus(Price{KopH: &kopH, Basis: Offer, Uncapped: limit == nil})
		}
		if found = len(prices); found < demand.Count {
			s.note("No offer now for %d of %d: the price cap counts.", demand.Count-found, demand.Count)
		}
	}
	return total.plus(cappedPrice(limit, int64(demand.Count-found), demand.Request.DiskGB))
}
