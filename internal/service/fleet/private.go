package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// privateMembers is the key of privateData in the private state.
const privateMembers = "members"

// privateData is what the state has to keep about the members and users do not need.
type privateData struct {
	Members map[int]privateMember `json:"members,omitempty"` // by slot
	// Orders are the different requests with which the members were created.
	Orders []order `json:"orders,omitempty"`
	// Checked: the plan has checked what the fleet or its replacement rents and starts. Only planned private states
	// contain it.
	Checked bool `json:"checked,omitempty"`
	// Destroys are the slots whose instances the plan destroys. Only planned private states contain it.
	Destroys []int `json:"destroys,omitempty"`
	// Name is the name of the fleet. It is empty in the plan of a creation that is not a part of a replacement.
	Name string `json:"name,omitempty"`
	// Digest identifies what the API returned about the members.
	Digest string `json:"digest,omitempty"`
}

type privateMember struct {
	// ID is empty for a lost member.
	ID         string `json:"id"`
	Generation int    `json:"generation,omitempty"`
	// CreatedAt is zero if it is unknown, as after an import.
	CreatedAt time.Time `json:"created_at,omitzero"`
	// Order is an index of Orders.
	Order int `json:"order"`
	// GPU and Country are those of the offer.
	GPU     string `json:"gpu,omitempty"`
	Country string `json:"country,omitempty"`
	// NotReady: the last apply ended before the member was ready.
	NotReady bool `json:"not_ready,omitempty"`
	// AboveCap: an apply found the instance above a cap, and it may not have been stopped.
	AboveCap bool `json:"above_cap,omitempty"`
	// Rejected: an apply rejected the instance and could not destroy it.
	Rejected bool `json:"rejected,omitempty"`
}

// order is what a member was created with.
type order struct {
	Template string            `json:"template"`
	Image    string            `json:"image,omitempty"`
	DiskGB   int64             `json:"disk_gb"`
	Type     rental.RentalType `json:"type"`
}

// lost returns the members without an instance.
func (p privateData) lost() (lost []reconcile.Member) {
	for slot, private := range p.Members {
		if private.ID == "" {
			lost = append(lost, reconcile.Member{Slot: slot, Generation: private.Generation})
		}
	}
	return lost
}

// protect marks the members that the plan does not destroy.
func (p privateData) protect(members []reconcile.Member) {
	for i := range members {
		members[i].Protected = !slices.Contains(p.Destroys, members[i].Slot)
	}
}

// complete sets the fields of a member that only the private state has. It returns false if it has none.
func (p privateData) complete(member *reconcile.Member) bool {
	private, found := p.Members[member.Slot]
	if !found || private.ID != member.Instance.ID {
		return false
	}
	member.NotReady, member.AboveCap = private.NotReady, private.AboveCap
	member.Rejected, member.CreatedAt = private.Rejected, private.CreatedAt
	if private.Order < len(p.Orders) {
		made := p.Orders[private.Order]
		member.Order = rental.InstanceCreate{
			Template: made.Template, Image: made.Image, DiskGB: made.DiskGB, Type: made.Type,
		}
		member.Instance.Type = made.Type
	}
	if member.Offer != nil {
		member.Offer.Location = placement.Location{GPU: private.GPU, Country: private.Country}
	}
	return true
}

// privateFrom returns the private state of a fleet with its members.
func privateFrom(name string, members []reconcile.Member) privateData {
	private := privateData{
		Members: map[int]privateMember{}, Name: name, Digest: digest(members),
	}
	for _, member := range members {
		made := order{member.Order.Template, member.Order.Image, member.Order.DiskGB, member.Order.Type}
		index := slices.Index(private.Orders, made)
		if index < 0 {
			index = len(private.Orders)
			private.Orders = append(private.Orders, made)
		}
		stored := privateMember{
			ID: member.Instance.ID, Generation: member.Generation, Order: index, NotReady: member.NotReady,
			AboveCap: member.AboveCap, Rejected: member.Rejected, CreatedAt: member.CreatedAt,
		}
		if offer := member.Offer; offer != nil {
			stored.GPU, stored.Country = offer.GPU, offer.Country
		}
		private.Members[member.Slot] = stored
	}
	return private
}

// digest returns a text that identifies what the state contains of the members.
func digest(members []reconcile.Member) string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for _, member := range members {
		if member.Lost() {
			continue
		}
		inst := member.Instance
		inst.CostSoFarKop, inst.CreatedAt, inst.StartedAt = 0, time.Time{}, nil
		_ = encoder.Encode(struct { //nolint:errcheck // the type can always be marshaled, and a hash always be written
			Slot     int
			Instance rental.Instance
			Omitted  rental.InstanceOmitted
		}{member.Slot, inst, inst.Omitted})
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func setPrivate(ctx context.Context, private tfkit.PrivateSetter, data privateData) diag.Diagnostics {
	return tfkit.SetPrivate(ctx, private, privateMembers, data)
}

// getPrivate returns the zero value if there is none.
func getPrivate(ctx context.Context, private tfkit.PrivateGetter) (privateData, diag.Diagnostics) {
	data, diags := tfkit.GetPrivate[privateData](ctx, private, privateMembers)
	if data == nil {
		return privateData{}, diags
	}
	return *data, diags
}
