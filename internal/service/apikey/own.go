package apikey

import (
	"context"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// ownKey is the result of a comparison of a key with the provider's own key. After its revocation, every later request
// of the run fails, so the revocation requires allow_self_revoke in the state.
type ownKey struct {
	// Own is true for the provider's own key.
	Own bool `json:"own"`
	// Others is the number of other keys of the account with the same first characters. If it is not 0, one of them may
	// be the provider's own key instead.
	Others int `json:"others"`
}

// planOwn is checkOwn at plan, where the key of the provider can be unknown.
func (r *keyResource) planOwn(ctx context.Context, key model) ownKey {
	if !r.Meta.Ready() {
		return ownKey{}
	}
	return r.checkOwn(ctx, key)
}

// checkOwn compares a key with the provider's own key. The API returns only the first characters of a key, and does not
// guarantee how many. The list contains the provider's own key, so a single match is certain.
func (r *keyResource) checkOwn(ctx context.Context, key model) ownKey {
	if !r.mayUse(key.Prefix.ValueString()) {
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

// mayUse reports whether the provider's own key may begin with prefix.
func (r *keyResource) mayUse(prefix string) bool {
	start := prefix[:min(len(prefix), rental.KeyPrefixLength)]
	return prefix != "" && r.Meta.KeyStart != "" && strings.HasPrefix(r.Meta.KeyStart, start)
}

// privateOwnKey is the name of the private data in which the plan of an update passes its ownKey to the plan of a
// replacement, which has no prior state.
const privateOwnKey = "own_key"
