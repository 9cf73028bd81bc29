package apikey

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// The provider cannot revoke the key that it uses and then continue: every later request of the run fails. Revoking it
// therefore needs allow_self_revoke in the state.

// ownKey is what the provider found out about a key that it may be using.
type ownKey struct {
	// Own is true for the key of the provider itself.
	Own bool `json:"own"`
	// Others is how many other keys of the account begin with the same characters. If it is not 0, one of them may be
	// the key of the provider instead.
	Others int `json:"others"`
}

// checkOwn compares a key with the one of the provider. The service shows only the first characters of a key, and does
// not guarantee how many. The account lists the provider's key, so that a match without another one is certain.
func (r *keyResource) checkOwn(ctx context.Context, key model) ownKey {
	if !r.Meta.Ready() || !r.mayUse(key.Prefix.ValueString()) {
		return ownKey{}
	}
	others := 0
	listed, err := tfkit.Shared[tfkit.Snapshot[rental.APIKey]](r.Meta).List(ctx, source(r.Meta))
	for _, other := range listed {
		if other.ID != key.ID.ValueString() && r.mayUse(other.Prefix) {
			others++
		}
	}
	certain := err == nil && others == 0
	return ownKey{Own: certain || r.Meta.Owns(key.Prefix.ValueString()), Others: others}
}

// mayUse returns whether the provider's key begins with the given prefix, as far as both are known.
func (r *keyResource) mayUse(prefix string) bool {
	return prefix != "" && r.Meta.KeyStart != "" && strings.HasPrefix(r.Meta.KeyStart, prefix[:min(len(prefix), rental.KeyPrefixLength)])
}

// ownKeyNote is the private state in which the plan of an update reports the key of the provider to the plan of a
// replacement, which has no prior state.
const ownKeyNote = "own_key"

type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// writeOwnKey sets the private state, unless there is nothing to set and nothing to overwrite.
func writeOwnKey(ctx context.Context, before privateReader, after privateWriter, own ownKey) diag.Diagnostics {
	prior, diags := before.GetKey(ctx, ownKeyNote)
	if diags.HasError() || prior == nil && !own.Own {
		return diags
	}
	value, err := json.Marshal(own)
	if err != nil {
		return diags // a bool and a number always encode
	}
	diags.Append(after.SetKey(ctx, ownKeyNote, value)...)
	return diags
}

// readOwnKey is the zero value without private state, or with that of another version.
func readOwnKey(ctx context.Context, private privateReader) ownKey {
	value, diags := private.GetKey(ctx, ownKeyNote)
	var own ownKey
	if diags.HasError() || json.Unmarshal(value, &own) != nil {
		return ownKey{}
	}
	return own
}

// addNotRevoked refuses to revoke the provider's own key. subject begins the sentence about it.
func addNotRevoked(diags *diag.Diagnostics, own ownKey, subject string) {
	diags.AddAttributeError(path.Root("allow_self_revoke"), "Cannot revoke the provider's own API key",
		fmt.Sprintf("%s is the key that this provider uses. After its revocation every later request fails, and servers that the run has not destroyed yet keep costing money. "+
			"Configure the provider with another API key. To keep the key, remove it from the state with \"terraform state rm\" or a removed block with destroy = false. "+
			"To revoke it anyway, set allow_self_revoke = true and apply that before you destroy or replace the key.%s", subject, own.doubt()))
}

// doubt says why the key may be another one; empty if it is certain.
func (o ownKey) doubt() string {
	if o.Others == 0 {
		return ""
	}
	return fmt.Sprintf("\n\nThe provider compares only the first characters of the keys, and other keys of the account (%d) begin with the same ones. "+
		"If the provider uses one of those, revoking this key is safe.", o.Others)
}

func subjectOf(key model) string {
	return fmt.Sprintf("API key %s (%s…)", tfkit.OneLine(key.ID.ValueString()), tfkit.OneLine(key.Prefix.ValueString()))
}
