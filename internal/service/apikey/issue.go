package apikey

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// creating keeps creations of keys apart.
var creating tfkit.Creations

// issue issues a key. One whose secret was lost with the answer is revoked and issued
// again: nobody could use it, and nobody would miss it.
func issue(ctx context.Context, meta *tfkit.Meta, create rental.APIKeyCreate) (rental.APIKeyCreated, error) {
	client := meta.Client
	var began time.Time // by the service's clock, which is known from the first listing on
	return tfkit.Once[rental.APIKeyCreated]{
		Creations: &creating,
		Service:   client.BaseURL(),
		InFlight:  client.RequestTimeout(),
		List: func(ctx context.Context) ([]rental.APIKeyCreated, error) {
			var keys []rental.APIKeyCreated // without secrets
			for key, err := range client.ListAPIKeys(ctx, rental.ListOptions{}) {
				if err != nil {
					return nil, err
				}
				keys = append(keys, rental.APIKeyCreated{APIKey: key})
			}
			if began.IsZero() {
				began = client.Now()
			}
			return keys, nil
		},
		Create: func(ctx context.Context) (rental.APIKeyCreated, error) { return client.CreateAPIKey(ctx, create) },
		ID:     func(k rental.APIKeyCreated) string { return k.ID },
		Same:   func(k rental.APIKeyCreated) bool { return mayBe(create, k.APIKey, began) },
		Discard: func(ctx context.Context, k rental.APIKeyCreated) error {
			lost := open(k.APIKey)
			lost.owe(ctx, meta, func() {})
			return lost.revoke(ctx, meta)
		},
	}.Run(ctx)
}

// mayBe says whether a key may have been issued by a request whose answer was lost.
// One that has been used is somebody else's: nobody has the secret of a lost one.
// A field that the service leaves out is no evidence: the key is going to be revoked.
func mayBe(create rental.APIKeyCreate, key rental.APIKey, began time.Time) bool {
	return key.LastUsedAt == nil && (key.CreatedAt.IsZero() || key.CreatedAt.After(began.Add(-clockSlack))) &&
		tfkit.SameName(key.Name, create.Name) && (key.ExpiresAt == nil) == (create.ExpiresInDays == nil) &&
		slices.Equal(slices.Sorted(slices.Values(key.Scopes)), slices.Sorted(slices.Values(create.Scopes)))
}

// clockSlack is how far the service's clock and ours may be apart, whole seconds included.
const clockSlack = time.Minute

// addNotIssued reports why a key was not issued. That a key cannot give what it does
// not have looks to the service like any other missing permission.
func addNotIssued(diags *diag.Diagnostics, create rental.APIKeyCreate, err error) {
	advice := ""
	var refused *rental.Error
	if errors.As(err, &refused) && rental.IsForbidden(err) && refused.Method == http.MethodPost {
		advice = "The provider's own key lacks the scope user:write, which issuing keys takes, or one that the new key is to have (" +
			tfkit.OneLines(create.Scopes) + "): a key cannot give scopes that it lacks. Or the account is blocked. " +
			"Give the provider a key with these scopes, or ask for fewer."
	}
	tfkit.AddErrorAdvising(diags, "issue API key", advice, err, "name", "scopes", "expires_in_days")
}
