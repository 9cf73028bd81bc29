package cost

import (
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxSize is the highest size of a fleet.
const maxSize = 5000

// size returns the size of a fleet; nil if it is hidden or impossible.
func (v values) size() *int64 {
	size := v.number("size")
	if size != nil && *size > maxSize {
		v.report("size")
		return nil
	}
	return size
}

// fleetArguments are the arguments that determine what an apply does with the members.
var fleetArguments = []string{
	"size", "template", "disk_gb", "type", "image", "desired_state", "on_outbid",
}

// newFleet is the price of a fleet that is created.
func (b *builder) newFleet(s *Server, after values) Price {
	if after.size() == nil {
		return Price{Basis: None, Uncapped: after.maxPrice() == nil}
	}
	spec := fleetSpec(after)
	return b.rent(s, after, spec.Demand(spec.Size, nil))
}

// updatedFleet sets what an update does, and returns the price afterwards.
func (b *builder) updatedFleet(s *Server, before, after values, members []member) Price {
	if s.noteHidden(after, fleetArguments...) || after.size() == nil {
		return highestOfFleet(after, members)
	}
	spec, made := fleetSpec(after), before.order()
	planned := make([]fleet.Member, len(members))
	for i, m := range members {
		planned[i] = fleet.Member{Slot: m.slot, Generation: 1, Instance: m.Instance, Request: made}
	}
	changes := fleet.Changes(fleet.Plan(spec, planned))
	if len(changes) == 0 && after.isHidden("instances") {
		s.note("The plan does not contain which members are replaced: the highest possible price counts.")
		return highestOfFleet(after, members)
	}
	return b.changedFleet(s, after, spec, members, changes)
}

// highestOfFleet is the highest price of a fleet of which the plan does not contain what an apply does.
func highestOfFleet(after values, members []member) Price {
	limit, size, disk := after.maxPrice(), after.size(), after.count("disk_gb")
	if size == nil {
		return Price{Basis: None, Uncapped: limit == nil}
	}
	total := knownPrice(0)
	for _, m := range members {
		total = total.plus(highest(m.running, cappedPrice(limit, 1, disk)))
	}
	return total.plus(cappedPrice(limit, max(0, *size-int64(len(members))), disk))
}

// memberActions are the actions of members in a report.
var memberActions = map[fleet.Action]Action{
	fleet.Create: Create, fleet.Replace: Replace, fleet.Update: Replace, fleet.Destroy: Destroy, fleet.Start: Start,
	fleet.Stop: Stop, fleet.Wait: Wait,
}

// changedFleet sets what an update does with the members, and returns the price afterwards.
func (b *builder) changedFleet(
	s *Server, after values, spec fleet.Spec, members []member, changes []fleet.Change,
) Price {
	bySlot, rents := map[int]Action{}, 0
	s.Members = map[Action]int{}
	for _, change := range changes {
		action := memberActions[change.Action]
		bySlot[change.Slot] = action
		s.Members[action]++
		if change.Action.Rents() {
			rents++
		}
	}
	price := knownPrice(0)
	var stays []fleet.Member
	for _, m := range members {
		action := bySlot[m.slot]
		if action == Destroy || action == Create || action == Replace {
			continue
		}
		stays = append(stays, fleet.Member{Slot: m.slot, Instance: m.Instance})
		price = price.plus(m.after(action, spec.Target.State, after.maxPrice()))
	}
	return price.plus(b.rent(s, after, spec.Demand(rents, stays)))
}

// fleetSpec returns the description of a fleet, without its queries.
func fleetSpec(v values) fleet.Spec {
	same := get[[]any](v, "same")
	return fleet.Spec{
		Size: int(v.count("size")), Request: v.order(), Image: v.text("image"),
		Target: lifecycle.Target{
			State: rental.DesiredState(v.text("desired_state")), OnOutbid: lifecycle.OutbidPolicy(v.text("on_outbid")),
			MaxPriceKopH: v.count("max_price_kop_h"),
		},
		Offers: market.Demand{
			SameCountry: slices.Contains(same, any("country")), SameGPU: slices.Contains(same, any("gpu")),
		},
	}
}
