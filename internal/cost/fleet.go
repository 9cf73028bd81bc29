package cost

import (
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
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
	if s.SizeAfter = after.size(); s.SizeAfter == nil {
		return Price{Basis: None, Uncapped: s.MaxPriceKopH == nil}
	}
	spec := fleetSpec(after)
	return b.rent(s, after, spec.Demand(spec.Size, nil))
}

// updatedFleet sets what an update does, and returns the price afterwards.
func (b *builder) updatedFleet(s *Server, before, after values, members []member) Price {
	s.SizeBefore, s.SizeAfter = before.size(), after.size()
	for _, name := range fleetArguments {
		if after.isUnknown(name) || name == "size" && s.SizeAfter == nil {
			s.note("%s is not known before the apply: the highest possible price counts.", name)
			return highestOfFleet(s, after, members)
		}
	}
	spec, made := fleetSpec(after), before.order()
	planned := make([]fleet.Member, len(members))
	for i, m := range members {
		planned[i] = fleet.Member{Slot: m.slot, Generation: 1, Instance: m.Instance, Order: made}
	}
	changes := fleet.Changes(fleet.Plan(spec, planned))
	if len(changes) == 0 && after.isUnknown("instances") {
		s.Action = Repair
		s.note("The plan does not contain which members are replaced: the highest possible price counts.")
		return highestOfFleet(s, after, members)
	}
	return b.changedFleet(s, after, spec, members, changes)
}

// highestOfFleet is the highest price of a fleet of which the plan does not contain what an apply does.
func highestOfFleet(s *Server, after values, members []member) Price {
	limit, disk := s.MaxPriceKopH, after.count("disk_gb")
	total := knownPrice(0)
	for _, m := range members {
		total = total.plus(highest(m.running, cappedPrice(limit, 1, disk)))
	}
	if s.SizeAfter == nil {
		total = Price{Basis: None, Uncapped: limit == nil}
	} else if added := *s.SizeAfter - int64(len(members)); added > 0 {
		total = total.plus(cappedPrice(limit, added, disk))
	}
	return total
}

// fleetActions are what the changes of members are, in order of precedence: the name of the whole update, and the price
// of a member that stays.
var fleetActions = []struct {
	change fleet.Action
	action Action
}{
	{fleet.Update, Roll}, {fleet.Create, Repair}, {fleet.Replace, Repair}, {fleet.Destroy, Repair},
	{fleet.Start, Start}, {fleet.Stop, Stop}, {fleet.Wait, Wait},
}

// changedFleet sets the action of an update, and returns the price after the changes of the members.
func (b *builder) changedFleet(
	s *Server, after values, spec fleet.Spec, members []member, changes []fleet.Change,
) Price {
	bySlot, counts := map[int]fleet.Action{}, map[fleet.Action]int{}
	for _, change := range changes {
		bySlot[change.Slot] = change.Action
		counts[change.Action]++
	}
	actions := map[fleet.Action]Action{}
	for _, known := range slices.Backward(fleetActions) {
		actions[known.change] = known.action
		if counts[known.change] > 0 {
			s.Action = known.action
		}
	}
	if s.SizeBefore != nil && *s.SizeBefore != *s.SizeAfter {
		s.Action = Scale
	}
	if updates := counts[fleet.Update]; updates > 0 {
		s.note("%d members are replaced. Only the new ones count while both exist.", updates)
	}
	price := knownPrice(0)
	var stays []fleet.Member
	for _, m := range members {
		change := bySlot[m.slot]
		if change == fleet.Destroy || change.Rents() {
			continue
		}
		stays = append(stays, fleet.Member{Slot: m.slot, Instance: m.Instance})
		price = price.plus(m.after(actions[change], spec.State, s.MaxPriceKopH))
	}
	rents := counts[fleet.Create] + counts[fleet.Replace] + counts[fleet.Update]
	return price.plus(b.rent(s, after, spec.Demand(rents, stays)))
}

// fleetSpec returns the description of a fleet, without its queries.
func fleetSpec(v values) fleet.Spec {
	same := get[[]any](v, "same")
	return fleet.Spec{
		Size: int(v.count("size")), Order: v.order(), Image: v.text("image"),
		State: rental.DesiredState(v.text("desired_state")), OnOutbid: lifecycle.OutbidPolicy(v.text("on_outbid")),
		MaxPriceKopH: v.count("max_price_kop_h"),
		SameCountry:  slices.Contains(same, any("country")), SameGPU: slices.Contains(same, any("gpu")),
	}
}
