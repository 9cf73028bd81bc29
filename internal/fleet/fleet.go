// Package fleet allocates, repairs, scales and destroys the instances of a fleet: several instances with one
// description. Plan decides what to do about each slot, and Engine does it. It is about instances and requests of the
// API and does not depend on Terraform. All prices are kopecks per hour.
package fleet

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Engine changes fleets. It is safe for concurrent use.
type Engine struct {
	Cache     *rental.Cache
	Market    *market.Market
	Lifecycle *lifecycle.Manager
	// RecoverWithin is the maximum age of an instance that a new fleet with a chosen seed takes: see lifecycle.Order.
	RecoverWithin time.Duration
}

// Spec describes a fleet.
type Spec struct {
	// Name is the name of the fleet.
	Name string
	// Size is the number of members.
	Size int
	// Request is what to rent for each member, without the offer and the name.
	Request rental.InstanceCreate
	// Image is the expected container image, even if the template sets it. Any image meets an empty one.
	Image string
	// Offers has the queries, what the members have in common, and the wait. Demand returns all of it.
	Offers market.Demand
	// Target is the desired state of the members, with the price cap.
	Target lifecycle.Target
	// All: either all missing members are rented and get ready, or none of them is kept.
	All bool
	// MinReady is the number of members that must be ready for an apply to succeed.
	MinReady int
	// MaxUnavailable is the number of members that are replaced at a time when Request changes.
	MaxUnavailable int
	// Owner is the object of the state.
	Owner Owner
}

// Owner is the object of the state that has the members, and what it has remembered for their keys.
type Owner struct {
	Object lifecycle.Object
	// Seed makes the keys of the members: that of the fleet's id, but for a creation with idempotency_prefix the chosen
	// one.
	Seed lifecycle.KeySeed
	// Chosen is the seed that the user has chosen with idempotency_prefix, with which the fleet may have been created;
	// zero without a prefix.
	Chosen lifecycle.KeySeed
	// SearchedAt is when an apply last searched for instances that are not in the state, by the clock of the API; zero if
	// that is unknown.
	SearchedAt time.Time
	// GenerationsUnknown: the state lacks the generations of the slots without an instance.
	GenerationsUnknown bool
}

// Member is an instance of a fleet. A member without an instance id is missing.
type Member struct {
	// Slot is the number of the member, from 0.
	Slot int
	// Generation counts the instances of the slot, from 1; 0 if it is unknown.
	Generation int
	// Instance is the instance as it was last read.
	Instance rental.Instance
	// CreatedAt is when the instance was created, by the clock of the API; zero if that is unknown.
	CreatedAt time.Time
	// Request is what was requested. Zero fields are unknown.
	Request rental.InstanceCreate
	// Offer describes the rented offer; zero if the instance was found by its key, or after an import.
	Offer Offer
	// NotReady: an apply ended before the member was ready.
	NotReady bool
	// Rejected: an apply created the instance, rejected it and could not destroy it.
	Rejected bool
	// Unknown: the member is missing, and an instance may have been rented for it, because the outcome of the create
	// request is unknown. The next apply and a destruction request its key.
	Unknown bool
	// Key is the idempotency key of an Unknown member if it is chosen.
	Key string
	// Protected: the plan has not shown that the instance is destroyed, so an apply keeps it.
	Protected bool
}

// StatusUnknown is the status of an Unknown member in a state.
const StatusUnknown rental.InstanceStatus = "unknown"

// Offer is the offer that a member was rented from.
type Offer struct {
	ID string
	market.Location
}

// Missing reports whether the member has no instance.
func (m Member) Missing() bool { return m.Instance.ID == "" }

// Imported reports whether the fleet has not created the instance of the member.
func (m Member) Imported() bool { return !m.Missing() && m.Generation == 0 }

func (m Member) location() market.Location {
	location := market.Location{GPU: cmp.Or(m.Offer.GPU, m.Instance.GPU.Slug), Country: m.Offer.Country}
	if location.Country == "" && m.Instance.Country != nil {
		location.Country = *m.Instance.Country
	}
	return location
}

// ready reports whether the member is in the desired state of the fleet.
func (m Member) ready(state rental.DesiredState) bool {
	want := rental.StatusRunning
	if state == rental.DesiredStopped {
		want = rental.StatusStopped
	}
	return m.Instance.Status == want && (want == rental.StatusStopped || !m.NotReady)
}

// Ready returns the number of members in the desired state.
func Ready(members []Member, state rental.DesiredState) (ready int) {
	for _, m := range members {
		if m.ready(state) {
			ready++
		}
	}
	return ready
}

// RunningKopH returns the sum of the prices of the members while they run.
func RunningKopH(members []Member) (total int64) {
	for _, m := range members {
		total += m.Instance.Price.RunningKopH
	}
	return total
}

// MemberName returns the name of the instance in a slot.
func MemberName(fleet string, slot int) string { return fmt.Sprintf("%s-%d", fleet, slot) }

var memberName = regexp.MustCompile(`^(.+)-(0|[1-9][0-9]{0,4})$`)

// ParseMemberName returns the fleet and the slot of an instance with a name. It is false for other names.
func ParseMemberName(name string) (fleet string, slot int, ok bool) {
	parts := memberName.FindStringSubmatch(name)
	if parts == nil {
		return "", 0, false
	}
	slot, err := strconv.Atoi(parts[2])
	return parts[1], slot, err == nil
}

func sortBySlot(members []Member) []Member {
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Slot, b.Slot) })
	return members
}

// RequestOf returns what an instance was created with, as far as the API has returned it.
func RequestOf(inst rental.Instance) rental.InstanceCreate {
	request := rental.InstanceCreate{Template: inst.Template.Slug, DiskGB: inst.DiskGB, Type: inst.Type}
	if request.Template == rental.CustomTemplate {
		request.Image = inst.Image
	}
	return request
}
