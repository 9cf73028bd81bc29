package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Action is what an apply does with one slot.
type Action int

// The values of Action, in the order in which an apply takes them.
const (
	Destroy Action = iota + 1 // the fleet shrinks
	Stop
	Start // a stopped member, or a new bid
	Wait  // for a member that is changing
	Replace
	Create
	Update // replace a member that was created with other arguments
)

// Rents reports whether the action rents an instance.
func (a Action) Rents() bool { return a == Create || a == Replace || a == Update }

// Change is what an apply does with one slot, and why.
type Change struct {
	Action Action
	// Member is the existing or missing member. It has only a slot if that is new.
	Member
}

// Destroys reports whether the change destroys the instance of its member.
func (c Change) Destroys() bool {
	return !c.Missing() && (c.Action == Destroy || c.Action == Replace || c.Action == Update)
}

// Phase is a part of an apply. The offers of its instances are chosen together.
type Phase struct {
	// Steps are changes that are made at the same time. A step begins when the instances of the step before are rented:
	// the first rental is a step, so that a refusal of the account costs one member and not all. The changes that rent
	// nothing are the first step.
	Steps [][]Change
	// Strict: the phase begins only if everything before it succeeded, and its first failure ends it.
	Strict bool
	// RollBack: if a change fails, what the others have rented is destroyed.
	RollBack bool
}

// changes returns the changes of all steps.
func (p Phase) changes() []Change { return slices.Concat(p.Steps...) }

// filtered returns the phase with the selected changes.
func (p Phase) filtered(selected func(Change) bool) Phase {
	p.Steps = inSteps(filter(p.changes(), selected))
	return p
}

// rentalsOf returns the changes that rent an instance.
func rentalsOf(changes []Change) []Change {
	return filter(changes, func(c Change) bool { return c.Action.Rents() })
}

// inSteps returns the steps of a phase, none of which is empty. The rentals that replace a member are first.
func inSteps(changes []Change) [][]Change {
	moves := filter(changes, func(c Change) bool { return !c.Action.Rents() })
	rentals := rentalsOf(changes)
	slices.SortStableFunc(rentals, func(a, b Change) int { return cmp.Compare(b.presence(), a.presence()) })
	first := min(1, len(rentals))
	steps := [][]Change{moves, rentals[:first], rentals[first:]}
	return slices.DeleteFunc(steps, func(step []Change) bool { return len(step) == 0 })
}

// Plan returns the phases that lead from the members to the description. It depends only on its arguments. An apply
// first destroys the surplus, then moves existing members and rents the missing ones. With All it rents only when the
// existing members are in the desired state, because it would destroy the new members again otherwise. It replaces
// members with old arguments last, when everything else is ready.
func Plan(spec Spec, members []Member) []Phase {
	changes := spec.changes(members)
	of := func(actions ...Action) []Change {
		return filter(changes, func(c Change) bool { return slices.Contains(actions, c.Action) })
	}
	moves, missing, updates := of(Start, Stop, Wait), of(Create, Replace), of(Update)
	phases := []Phase{{Steps: inSteps(of(Destroy))}}
	if spec.All {
		phases = append(phases, Phase{Steps: inSteps(moves)}, Phase{Steps: inSteps(missing), Strict: true, RollBack: true})
	} else {
		phases = append(phases, Phase{Steps: inSteps(append(moves, missing...))})
	}
	down := func(c Change) bool { return !c.ready(spec.Target.State) }
	updates = append(filter(updates, down), filter(updates, func(c Change) bool { return !down(c) })...)
	for group := range slices.Chunk(updates, max(1, spec.MaxUnavailable)) {
		phases = append(phases, Phase{Steps: inSteps(group), Strict: true})
	}
	return slices.DeleteFunc(phases, func(p Phase) bool { return len(p.Steps) == 0 })
}

// Changes returns the changes of phases, sorted by slot.
func Changes(phases []Phase) (changes []Change) {
	for _, phase := range phases {
		changes = append(changes, phase.changes()...)
	}
	sortChanges(changes)
	return changes
}

// filter returns the selected changes.
func filter(changes []Change, selected func(Change) bool) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !selected(c) })
}

// changes returns the changes of all slots, sorted by slot. New members get the lowest free slots.
func (s Spec) changes(members []Member) []Change {
	missing := map[int]Member{} // with the generations of their slots
	var existing []Member
	for _, m := range members {
		if m.Missing() {
			missing[m.Slot] = m
		} else {
			existing = append(existing, m)
		}
	}
	var changes []Change
	kept, dropped := s.shrink(existing)
	for _, m := range dropped {
		changes = append(changes, Change{Destroy, m})
	}
	used := map[int]bool{}
	for _, m := range kept {
		used[m.Slot] = true
		if action := s.next(m); action != 0 {
			changes = append(changes, Change{action, m})
		}
	}
	for slot := 0; len(used) < s.Size; slot++ {
		if used[slot] {
			continue
		}
		used[slot] = true
		m := missing[slot]
		m.Slot = slot
		changes = append(changes, Change{Create, m})
	}
	sortChanges(changes)
	return changes
}

// sortChanges sorts changes by slot.
func sortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Slot, b.Slot) })
}

// shrink returns which of the existing members stay if there are more than Size: those with the lowest slots.
func (s Spec) shrink(members []Member) (kept, dropped []Member) {
	order := sortBySlot(slices.Clone(members))
	surplus := len(order) - s.Size
	if surplus <= 0 {
		return order, nil
	}
	slices.SortStableFunc(order, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.presence(), b.presence()), cmp.Compare(b.Slot, a.Slot))
	})
	return sortBySlot(order[surplus:]), order[:surplus]
}

// presence is 0 for a member without an instance, and highest for a protected member.
func (m Member) presence() int {
	switch {
	case m.Missing():
		return 0
	case m.Protected:
		return 2
	}
	return 1
}

// next returns the action for a member that stays. Zero means none.
func (s Spec) next(m Member) Action {
	if m.Rejected {
		return Replace
	}
	action := lifecycle.NextAction(m.Instance, s.Target.State, s.Target.OnOutbid)
	if s.outdated(m) && action != lifecycle.ActionReplace && action != lifecycle.ActionMissing {
		return Update // whatever its status: another apply would have to replace it otherwise
	}
	switch action {
	case lifecycle.ActionWait:
		return Wait
	case lifecycle.ActionStart:
		return Start
	case lifecycle.ActionStop:
		return Stop
	case lifecycle.ActionReplace, lifecycle.ActionMissing:
		return Replace
	case lifecycle.ActionNone:
	}
	if m.NotReady && m.Instance.Status == rental.StatusRunning {
		return Wait
	}
	return 0
}

// outdated reports whether a member was created with other arguments. Fields that are not known are not compared, and
// the API can spell those of an imported or found member otherwise. It can return the default image of an imported
// member that was created without one.
func (s Spec) outdated(m Member) bool {
	made, want := m.Request, s.Request
	sameImage := made.Image == want.Image || rental.SameImage(made.Image, want.Image) ||
		m.Imported() && want.Image == ""
	return made.Template != "" && (!strings.EqualFold(made.Template, want.Template) || !sameImage) ||
		made.DiskGB != 0 && made.DiskGB != want.DiskGB || made.Type != "" && made.Type != want.Type
}

// Demand returns the demand for the offers of new members, which join those that stay.
func (s Spec) Demand(count int, stays []Member) market.Demand {
	demand := s.Offers
	demand.Count, demand.Request, demand.MaxPriceKopH, demand.All = count, s.Request, s.Target.MaxPriceKopH, s.All
	for _, member := range stays {
		demand.Existing = append(demand.Existing, member.location())
	}
	return demand
}
