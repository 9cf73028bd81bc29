package apikey

import (
	"context"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// creating separates concurrent creations in this process.
var creating tfkit.Creations

// issue creates a key. If the response with its secret is lost, issue revokes the key and creates another one.
func issue(ctx context.Context, meta *tfkit.Meta, create rental.APIKeyCreate) (rental.APIKeyCreated, error) {
	client := meta.Client
	var began time.Time // by the clock of the API, which is known after the first list
	return tfkit.CreateOnce[rental.APIKeyCreated]{
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
		Create:  func(ctx context.Context) (rental.APIKeyCreated, error) { return client.CreateAPIKey(ctx, create) },
		ID:      func(k rental.APIKeyCreated) string { return k.ID },
		Matches: func(k rental.APIKeyCreated) bool { return mayBeCreated(create, k.APIKey, began) },
		Discard: func(ctx context.Context, k rental.APIKeyCreated) error {
			lost := newEphemeralKey(k.APIKey)
			lost.register(ctx, meta)
			return lost.revoke(ctx, meta)
		},
	}.Run(ctx)
}

// mayBeCreated reports whether a create request whose response was lost may have created the key. A used key does not
// match, because nobody has the secret of a lost key. The API may add scopes that the given ones imply.
func mayBeCreated(create rental.APIKeyCreate, key rental.APIKey, began time.Time) bool {
	for _, scope := range create.Scopes {
		if !slices.Contains(key.Scopes, scope) {
			return false
		}
	}
	return key.LastUsedAt == nil && (key.CreatedAt.IsZero() || key.CreatedAt.After(began.Add(-clockSlack))) &&
		tfkit.SameText(key.Name, create.Name) && (key.ExpiresAt == nil) == (create.ExpiresInDays == nil)
}

// clockSlack is the tolerated difference between the clocks of the API and of this machine.
const clockSlack = time.Minute
