package cost

import (
	"slices"
	"strconv"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxSize is the highest size of a fleet.
const maxSize = 5000

// member is a server in a slot of a fleet.
type member struct {
	server
	slot int
}

// fleetMembers returns the members of a fleet by slot.
func fleetMembers(v values) []member {
	var members []member
	for key, element := range v.children("instances") {
		slot, err := strconv.Atoi(key)
		if err != nil || slot < 0 {
			v.report("instances." + key)
			continue
		}
		s := memberOf(element, v)
		if s.ID == "" || !s.priced {
			v.report("instances." + key)
		}
		members = append(members, member{s, slot})
	}
	slices.SortFunc(members, func(a, b member) int { return a.slot - b.slot })
	return members
}

// memberOf returns the member of a fleet with these values.
func memberOf(v, fleet values) server {
	s := server{diskUnpriced: true, Instance: rental.Instance{
		ID: v.text("id"), Status: rental.InstanceStatus(v.text("status")), Type: rental.RentalType(fleet.text("type")),
	}}
	if running := v.number("running_kop_h"); running != nil {
		s.priced, s.Price.RunningKopH = true, *running
	}
	if s.Status == rental.StatusOutbid { // an apply stops such a member only if the fleet was to run
		s.DesiredState = rental.DesiredState(fleet.text("desired_state"))
	}
	return s
}

// burnOf is what members cost now.
func burnOf(members []member) price {
	total := knownPrice(0)
	for _, m := range members {
		total = total.plus(m.now())
	}
	return total
}

// fleet adds a fleet.
func (b *builder) fleet(c resourceChange, change Change) {
	before, after := b.readBefore(c), b.read(c, c.Change.After)
	members := fleetMembers(before)
	now := burnOf(members)
	s := Server{Change: change, BeforeKopH: now.kopH}
	if now.diskExcluded {
		s.note("The plan does not contain the prices of the disks of its stopped members.")
	}
	s.MaxPriceKopH, s.MaxKopH = after.number("max_price_kop_h"), fleetCap(after)
	if change.Action.creates() {
		s.Arguments, s.SizeAfter = arguments(c), after.size()
	}
	switch change.Action {
	case Unchanged, Forget:
		s.setAfter(now)
	case Destroy:
		s.setAfter(knownPrice(0))
	case Create, Replace, ReplaceForget:
		rented := b.newFleet(&s.Change, after)
		if change.Action == ReplaceForget {
			rented = rented.plus(now)
		}
		s.setAfter(rented)
	case Update:
		s.RaisesCap = isRaised(before.number("max_price_kop_h"), s.MaxPriceKopH) || isRaised(fleetCap(before), s.MaxKopH)
		s.setChangedArguments(c)
		s.setAfter(b.updatedFleet(&s, before, after, members))
	default:
		s.setAfter(price{basis: None})
	}
	if s.AfterKopH == nil {
		s.Basis = None
	}
	noteForgotten(&s.Change)
	b.add(s)
}

// size returns the size of a fleet; nil if it is hidden or impossible.
func (v values) size() *int64 {
	size := v.number("size")
	if size != nil && *size > maxSize {
		v.report("size")
		return nil
	}
	return size
}

// fleetCap is the highest price that the arguments of a fleet allow; nil for none.
func fleetCap(v values) *int64 {
	total := v.number("max_total_kop_h")
	if size := v.size(); size != nil {
		return lower(times(v.number("max_price_kop_h"), *size), total)
	}
	return total
}

// fleetArguments are the arguments that determine what an apply does with the members.
var fleetArguments = []string{
	"size", "template", "disk_gb", "type", "image", "desired_state", "on_outbid", "shrink",
}

// newFleet is the price of a fleet that is created.
func (b *builder) newFleet(change *Change, after values) price {
	noteStopped(change, after)
	noteHidden(change, after, "size", "max_price_kop_h", "max_total_kop_h", "type")
	total, size := after.number("max_total_kop_h"), after.size()
	if size == nil {
		return price{basis: None, uncapped: after.number("max_price_kop_h") == nil}.within(total, 0)
	}
	spec := fleetSpec(after)
	return b.rent(change, fleetDemand(after, spec, int(*size), nil)).within(total, 0)
}

// updatedFleet sets what an update does, and returns the price afterwards.
func (b *builder) updatedFleet(s *Server, before, after values, members []member) price {
	s.SizeBefore, s.SizeAfter = before.size(), after.size()
	noteHidden(&s.Change, after, "size", "max_price_kop_h", "max_total_kop_h")
	for _, name := range fleetArguments {
		if after.isUnknown(name) || name == "size" && s.SizeAfter == nil {
			s.note("%s is not known before the apply: the highest possible price counts.", name)
			return highestOfFleet(s, after, members)
		}
	}
	spec := fleetSpec(after)
	made := fleetSpec(before)
	planned := make([]fleet.Member, len(members))
	for i, m := range members {
		planned[i] = fleet.Member{Slot: m.slot, Generation: 1, Instance: m.Instance, Order: made.Order}
	}
	changes := fleet.Changes(fleet.Plan(spec, planned))
	if len(changes) == 0 && after.isUnknown("instances") {
		s.Action = Repair
		s.note("The plan does not contain which members are replaced: the highest possible price counts.")
		return highestOfFleet(s, after, members)
	}
	s.Action = fleetAction(s, changes)
	return b.changedFleet(s, after, spec, members, changes)
}

// highestOfFleet is the highest price of a fleet of which the plan does not contain what an apply does.
func highestOfFleet(s *Server, after values, members []member) price {
	limit, disk := s.MaxPriceKopH, after.count("disk_gb")
	total, fixed := knownPrice(0), knownPrice(0)
	for _, m := range members {
		fixed = fixed.plus(m.running())
		total = total.plus(highest(m.running(), cappedPrice(limit, 1, disk)))
	}
	if s.SizeAfter == nil {
		total = price{basis: None, uncapped: limit == nil}
	} else if added := *s.SizeAfter - int64(len(members)); added > 0 {
		total = total.plus(cappedPrice(limit, added, disk))
	}
	if fixed.kopH == nil {
		return fixed
	}
	return total.within(after.number("max_total_kop_h"), *fixed.kopH)
}

// fleetAction names what the changes of a fleet are.
func fleetAction(s *Server, changes []fleet.Change) Action {
	counts := map[fleet.Action]int{}
	for _, change := range changes {
		counts[change.Action]++
	}
	switch {
	case s.SizeBefore != nil && *s.SizeBefore != *s.SizeAfter:
		return Scale
	case counts[fleet.Update] > 0:
		return Roll
	case counts[fleet.Create]+counts[fleet.Replace]+counts[fleet.Destroy] > 0:
		return Repair
	case counts[fleet.Start] > 0:
		return Start
	case counts[fleet.Stop] > 0:
		return Stop
	case counts[fleet.Wait] > 0:
		return Wait
	}
	return Update
}

// changedFleet is the price of a fleet after changes of its members.
func (b *builder) changedFleet(
	s *Server, after values, spec fleet.Spec, members []member, changes []fleet.Change,
) price {
	bySlot := map[int]fleet.Action{}
	rents, updates := 0, 0
	for _, change := range changes {
		bySlot[change.Slot] = change.Action
		if change.Action.Rents() {
			rents++
		}
		if change.Action == fleet.Update {
			updates++
		}
	}
	if updates > 0 {
		s.note("%d members are replaced. Only the new ones count while both exist.", updates)
	}
	fixed, started := knownPrice(0), knownPrice(0)
	var stays []fleet.Member
	for _, m := range members {
		action := bySlot[m.slot]
		if action == fleet.Destroy || action.Rents() {
			continue
		}
		stays = append(stays, fleet.Member{Slot: m.slot, Instance: m.Instance})
		if p := m.after(action, spec.State, s.MaxPriceKopH, spec.Order.DiskGB); p.basis == Known {
			fixed = fixed.plus(p)
		} else {
			started = started.plus(p)
		}
	}
	if fixed.kopH == nil {
		return fixed
	}
	rented := b.rent(&s.Change, fleetDemand(after, spec, rents, stays))
	return fixed.plus(started).plus(rented).within(after.number("max_total_kop_h"), *fixed.kopH)
}

// after is the price of a member after an action.
func (m member) after(action fleet.Action, state rental.DesiredState, limit *int64, diskGB int64) price {
	switch action {
	case fleet.Stop:
		return m.stopped()
	case fleet.Start:
		return m.started(limit, diskGB)
	case fleet.Wait:
		return m.waited(state, m.started(limit, diskGB))
	default:
		return m.now()
	}
}

// fleetSpec returns the description of a fleet, without its queries.
func fleetSpec(v values) fleet.Spec {
	spec := fleet.Spec{
		Size: int(v.count("size")),
		Order: rental.InstanceCreate{
			Template: v.text("template"), DiskGB: v.count("disk_gb"), Type: rental.RentalType(v.text("type")),
		},
		Image:         v.text("image"),
		State:         rental.DesiredState(v.text("desired_state")),
		OnOutbid:      lifecycle.OutbidPolicy(v.text("on_outbid")),
		MaxTotalKopH:  v.count("max_total_kop_h"),
		ShrinkByPrice: v.text("shrink") == "most_expensive",
	}
	if spec.Order.Template == rental.CustomTemplate {
		spec.Order.Image = spec.Image
	}
	same := v.texts("same")
	spec.SameCountry, spec.SameGPU = slices.Contains(same, "country"), slices.Contains(same, "gpu")
	return spec
}

// fleetDemand is what a fleet rents for count slots. stays are the members that stay.
func fleetDemand(v values, spec fleet.Spec, count int, stays []fleet.Member) rentalDemand {
	demand := rentalDemand{limit: v.number("max_price_kop_h"), known: true}
	demand.Order = spec.Order
	queries := v.children("offer_queries")
	for i := range len(queries) {
		demand.addQuery(queries[strconv.Itoa(i)])
	}
	for _, name := range []string{"offer_queries", "max_price_kop_h", "max_total_kop_h", "same", "type"} {
		demand.known = demand.known && !v.isUnknown(name)
	}
	spec.Queries, spec.MaxPriceKopH = demand.Queries, v.count("max_price_kop_h")
	demand.Demand = spec.Demand(count, stays)
	return demand
}
