package instance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
)

// predecessor is the server that a planned one replaces. Terraform plans a replacement twice: as a change of the
// predecessor, then as a creation without a prior state. The first plan hands this to the second in the private state.
type predecessor struct {
	ID          string `json:"id"`
	OfferID     string `json:"offer_id"`      // that it was rented from; empty if unknown
	RunningKopH int64  `json:"running_kop_h"` // its price while running
	BurnKopH    int64  `json:"burn_kop_h"`    // what it burns now
	Starts      int64  `json:"starts"`        // what its own plan counted as started, kopecks per hour
	Added       int64  `json:"added"`         // and as added to the burn rate
	Checked     bool   `json:"checked"`       // its own plan has checked the replacement

	claimed bool // it was found among the servers that this run has read
}

// predecessorKey is the key of a predecessor in the private state.
const predecessorKey = "predecessor"

func predecessorOf(state model) predecessor {
	return predecessor{
		ID: state.ID.ValueString(), OfferID: state.RentedOfferID.ValueString(),
		RunningKopH: priceField(state, "running_kop_h"), BurnKopH: burnOf(state),
	}
}

// stateServers are the servers of the state that this run has read. Terraform plans the replacement of a tainted server
// as a creation without any prior state: here the plan finds the server that it replaces. Its zero value is empty.
type stateServers struct {
	mu  sync.Mutex
	all map[string]*stateServer // by id
}

type stateServer struct {
	predecessor
	key, name, arguments string
	credited             int64 // by how much that creation lowered the planned burn rate, kopecks per hour
	stays                bool  // it was planned with its prior state, so no creation found here replaces it
}

// read records a server of the state. A new read begins a new plan.
func (s *stateServers) read(state model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*stateServer{}
	}
	s.all[state.ID.ValueString()] = &stateServer{
		predecessor: predecessorOf(state), key: state.IdempotencyKey.ValueString(),
		name: state.Name.ValueString(), arguments: creationArguments(state),
	}
}

func (s *stateServers) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// claim returns the server that a creation replaces, as far as its configuration shows it; nil for none. Another
// creation does not get the same one.
func (s *stateServers) claim(plan model) *predecessor {
	if plan.IdempotencyKey.IsUnknown() || plan.Name.IsUnknown() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.all)) {
		server := s.all[id]
		if !server.claimed && !server.stays && server.replacedBy(plan) {
			server.claimed = true
			found := server.predecessor
			return &found
		}
	}
	return nil
}

// replacedBy compares the idempotency keys, else the names, else all arguments of the creation.
func (s *stateServer) replacedBy(plan model) bool {
	key, name := plan.IdempotencyKey.ValueString(), plan.Name.ValueString()
	switch {
	case key != "" || s.key != "":
		return key == s.key
	case name != "" || s.name != "":
		return name == s.name
	}
	return creationArguments(plan) == s.arguments
}

func creationArguments(m model) string {
	var text []string
	for _, value := range []attr.Value{m.Template, m.DiskGB, m.Type, m.OfferID, m.OfferQuery, m.SSHKeyIDs} {
		text = append(text, value.String())
	}
	return strings.Join(text, "\n")
}

// has reports whether a claimed server may still be the predecessor of the creation that claimed it.
func (s *stateServers) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	server := s.all[id]
	return server != nil && !server.stays
}

// isReplaced reports whether the plan replaces this server. A new server with the idempotency key or name of one in the
// state can also be a renamed resource: then Terraform plans the old one with its prior state, at about the same time.
func (r *instanceResource) isReplaced(ctx context.Context, before *predecessor) bool {
	if before == nil || !before.claimed {
		return before != nil
	}
	for wait := namesakeWait; wait > 0; wait -= namesakeInterval {
		if !r.fleet().state.has(before.ID) {
			return false
		}
		if poll.Pause(ctx, namesakeInterval) != nil {
			break
		}
	}
	return true
}

// credit returns what a claimed server burns, which its replacement does not add to the burn rate. It returns 0 for a
// server that stays.
func (s *stateServers) credit(id string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	server := s.all[id]
	if server == nil || server.stays {
		return 0
	}
	server.credited = server.BurnKopH
	return server.credited
}

// keep records that a server was planned with its prior state: no creation that claimed it replaces it. It returns what
// such a creation left out of the planned burn rate, kopecks per hour.
func (s *stateServers) keep(id string) (credited int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	server := s.all[id]
	if server == nil {
		return 0
	}
	credited, server.credited, server.stays = server.credited, 0, true
	return credited
}
