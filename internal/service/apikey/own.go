package apikey

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
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
	listing, err := r.Meta.Cache.APIKeys.List(ctx)
	if err == nil {
		for _, other := range listing.Items {
			if other.ID != key.ID.ValueString() && r.mayUse(other.Prefix) {
				others++
			}
		}
	}
	certain := err == nil && others == 0
	return ownKey{Own: certain || r.Meta.Owns(key.Prefix.ValueString()), Others: others}
}

// mayUse returns whether the provider's key begins with the given prefix, as far as both are known.
func (r *keyResource) mayUse(prefix string) bool {
	return prefix != "" && r.Meta.KeyStart != "" && strings.HasPrefix(r.Meta.KeyStart, prefix[:min(len(prefix), rental.KeyPrefixLength)])
}

// privateOwnKey is the private state in which the plan of an update reports the key of the provider to the plan of a
// replacement, which has no prior state.
const privateOwnKey = "own_key"

type privateGetter interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateSetter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// setOwnKey sets the private state, unless there is nothing to set and nothing to overwrite.
func setOwnKey(ctx context.Context, before privateGetter, after privateSetter, own ownKey) diag.Diagnostics {
	prior, diags := before.GetKey(ctx, privateOwnKey)
	if diags.HasError() || prior == nil && !own.Own {
		return diags
	}
	value, err := json.Marshal(own)
	if err != nil {
		return diags // a bool and a number always encode
	}
	diags.Append(after.SetKey(ctx, privateOwnKey, value)...)
	return diags
}

// getOwnKey is the zero value without private state, or with that of another version.
func getOwnKey(ctx context.Context, private privateGetter) ownKey {
	value, diags := private.GetKey(ctx, privateOwnKey)
	var own ownKey
	if diags.HasError() || json.Unmarshal(value, &own) != nil {
		return ownKey{}
	}
	return own
}
