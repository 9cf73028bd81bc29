package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Keys of the private state.
const (
	// keyMembers is a privateMembers.
	keyMembers = "members"
	// keyDestroys are the slots whose instances the plan destroys, a []int: an apply destroys no others. Only planned
	// private states contain it.
	keyDestroys = "destroys"
	// keySearched is when an apply last searched for instances that are not in the state, a time of the API: what was
	// created before needs no search.
	keySearched = "searched"
)

// privateMembers is what the state has to keep about the members, by slot, and users do not need.
type privateMembers map[int]privateMember

type privateMember struct {
	// ID is that of the instance that the entry is about, empty for a missing member. After an interrupted apply, the
	// state can have another instance in the slot.
	ID string `json:"id"`
	// Generation makes the next key of a slot differ from its earlier keys, even if the slot is empty now.
	Generation int `json:"generation,omitempty"`
	// CreatedAt shows that a 404 may be the lag of the API. It is zero if it is unknown, as after an import.
	CreatedAt time.Time `json:"created_at,omitzero"`
	// Template, Image, DiskGB and Type are the arguments that the member was created with. The API can spell them
	// otherwise, and after a rolling update that failed, the members differ.
	Template string            `json:"template,omitempty"`
	Image    string            `json:"image,omitempty"`
	DiskGB   int64             `json:"disk_gb,omitempty"`
	Type     rental.RentalType `json:"type,omitempty"`
	// GPU and Country are those of the offer, which the argument same compares with other offers. The instance can
	// have another spelling of them.
	GPU     string `json:"gpu,omitempty"`
	Country string `json:"country,omitempty"`
	// NotReady: the last apply ended before the member met ready_when, so the next one continues to wait.
	NotReady bool `json:"not_ready,omitempty"`
	// Rejected: an apply rejected the instance, for example because of its price, and could not destroy it, so the next
	// one does.
	Rejected bool `json:"rejected,omitempty"`
	// Key is the chosen idempotency key of a create request with an unknown outcome. The next apply or destroy requests
	// it: the id of the fleet makes other keys.
	Key string `json:"key,omitempty"`
}

// members returns the existing or the missing members, with their slot, instance id and generation only.
func (p privateMembers) members(missing bool) (members []fleet.Member) {
	for slot, m := range p {
		member := fleet.Member{Slot: slot, Generation: m.Generation, Instance: rental.Instance{ID: m.ID}}
		if member.Missing() == missing {
			members = append(members, member)
		}
	}
	return members
}

// complete sets the fields of a member that only the private state has. It returns false if it has none.
func (p privateMembers) complete(member *fleet.Member) bool {
	stored, found := p[member.Slot]
	if !found || stored.ID != member.Instance.ID {
		return false
	}
	member.NotReady, member.Rejected, member.CreatedAt = stored.NotReady, stored.Rejected, stored.CreatedAt
	member.Key = stored.Key
	member.Request = rental.InstanceCreate{
		Template: stored.Template, Image: stored.Image, DiskGB: stored.DiskGB, Type: stored.Type,
	}
	member.Instance.Type = stored.Type
	member.Offer.Location = market.Location{GPU: stored.GPU, Country: stored.Country}
	return true
}

// setMembers stores members, existing and missing ones.
func setMembers(ctx context.Context, private tfkit.PrivateSetter, members []fleet.Member) diag.Diagnostics {
	stored := privateMembers{}
	for _, member := range members {
		made := member.Request
		stored[member.Slot] = privateMember{
			ID: member.Instance.ID, Generation: member.Generation, CreatedAt: member.CreatedAt,
			Template: made.Template, Image: made.Image, DiskGB: made.DiskGB, Type: made.Type,
			GPU: member.Offer.GPU, Country: member.Offer.Country, NotReady: member.NotReady, Rejected: member.Rejected,
			Key: member.Key,
		}
	}
	return tfkit.SetPrivate(ctx, private, keyMembers, stored)
}

// getMembers returns what is stored of the members, which is nil after an import.
func getMembers(ctx context.Context, private tfkit.PrivateGetter, diags *diag.Diagnostics) privateMembers {
	return tfkit.GetPrivate[privateMembers](ctx, private, keyMembers, diags)
}

// setDestroys stores the slots whose instances the plan destroys. Without any, it removes what another plan stored.
func setDestroys(ctx context.Context, private tfkit.PrivateSetter, slots []int) diag.Diagnostics {
	if len(slots) == 0 {
		return private.SetKey(ctx, keyDestroys, nil)
	}
	return tfkit.SetPrivate(ctx, private, keyDestroys, slots)
}

// protect marks the members that the plan does not destroy.
func protect(ctx context.Context, private tfkit.PrivateGetter, members []fleet.Member, diags *diag.Diagnostics) {
	planned := tfkit.GetPrivate[[]int](ctx, private, keyDestroys, diags)
	for i := range members {
		members[i].Protected = !slices.Contains(planned, members[i].Slot)
	}
}
