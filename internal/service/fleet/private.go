package fleet

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
)

// privateMembers is the key of privateData in the private state.
const privateMembers = "members"

// privateData is what the state has to keep about the members and users do not need.
type privateData struct {
	// NotReady are the slots whose member was not ready when the last apply ended.
	NotReady []int `json:"not_ready,omitempty"`
	// Recoveries identify the creations that recovered an instance, by its id: see placement.Placed.
	Recoveries map[string]string `json:"recoveries,omitempty"`
	// Planned: the plan of a change has set the private state, so that a following plan without a prior state is for a
	// replacement.
	Planned bool `json:"planned,omitempty"`
}

func (p privateData) notReady(slot int) bool { return slices.Contains(p.NotReady, slot) }

func privateFrom(members []fleet.Member) privateData {
	var private privateData
	for _, member := range members {
		if member.NotReady {
			private.NotReady = append(private.NotReady, member.Slot)
		}
		if member.Recovery != "" {
			if private.Recoveries == nil {
				private.Recoveries = map[string]string{}
			}
			private.Recoveries[member.Instance.ID] = member.Recovery
		}
	}
	return private
}

type privateGetter interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateSetter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func setPrivate(ctx context.Context, private privateSetter, data privateData) diag.Diagnostics {
	content, err := json.Marshal(data)
	if err != nil {
		return nil // the type can always be marshaled
	}
	return private.SetKey(ctx, privateMembers, content)
}

// getPrivate returns the zero value if there is none.
func getPrivate(ctx context.Context, private privateGetter) (data privateData, diags diag.Diagnostics) {
	content, diags := private.GetKey(ctx, privateMembers)
	if len(content) == 0 || json.Unmarshal(content, &data) != nil {
		return privateData{}, diags
	}
	return data, diags
}
