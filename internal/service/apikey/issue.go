package apikey

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// creating keeps creations of keys apart.
var creating sync.Mutex

// issue issues a key. One whose secret was lost with the answer is revoked and issued
// again: nobody could use it, and nobody would miss it.
func issue(ctx context.Context, meta *tfkit.Meta, create rental.APIKeyCreate) (rental.APIKeyCreated, error) {
	client := meta.Client
	return tfkit.Once[rental.APIKeyCreated]{
		Alone:    &creating,
		Patience: client.RequestTimeout(),
		List: func(ctx context.Context) ([]rental.APIKeyCreated, error) {
			var keys []rental.APIKeyCreated // without secrets
			for key, err := range client.ListAPIKeys(ctx, rental.ListOptions{}) {
				if err != nil {
					return nil, err
				}
				keys = append(keys, rental.APIKeyCreated{APIKey: key})
			}
			return keys, nil
		},
		Create: func(ctx context.Context) (rental.APIKeyCreated, error) { return client.CreateAPIKey(ctx, create) },
		ID:     func(k rental.APIKeyCreated) string { return k.ID },
		Same:   func(k rental.APIKeyCreated) bool { return mayBe(create, k.APIKey) },
		Discard: func(ctx context.Context, k rental.APIKeyCreated) error {
			lost := open(k.APIKey)
			lost.owe(ctx, meta, func() {})
			return lost.revoke(ctx, meta)
		},
	}.Run(ctx)
}

// mayBe says whether a key may have been issued by a request whose answer was lost.
// One that has been used is somebody else's: nobody has the secret of a lost one.
func mayBe(create rental.APIKeyCreate, key rental.APIKey) bool {
	return key.LastUsedAt == nil && key.Name == create.Name && (key.ExpiresAt == nil) == (create.ExpiresInDays == nil) &&
		slices.Equal(slices.Sorted(slices.Values(key.Scopes)), slices.Sorted(slices.Values(create.Scopes)))
}

// addNotIssued reports why a key was not issued. That a key cannot give what it does
// not have looks to the service like any other missing permission.
func addNotIssued(diags *diag.Diagnostics, create rental.APIKeyCreate, err error) {
	advice := ""
	var refused *rental.Error
	if errors.As(err, &refused) && rental.IsForbidden(err) && refused.Method == http.MethodPost {
		advice = "The provider's own key lacks the scope user:write, which issuing keys takes, or one that the new key is to have (" +
			strings.Join(create.Scopes, ", ") + "): a key cannot give scopes that it lacks. Or the account is blocked. " +
			"Give the provider a key with these scopes, or ask for fewer."
	}
	tfkit.AddErrorAdvising(diags, "issue API key", advice, err, "name", "scopes", "expires_in_days")
}
