package apikey

import (
	"context"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// issue creates a key. It revokes a key whose secret could not be read from the response: nobody can use it.
func issue(ctx context.Context, meta *tfkit.Meta, create rental.APIKeyCreate) (rental.APIKeyCreated, error) {
	key, err := meta.Client.CreateAPIKey(ctx, create)
	if err == nil || key.ID == "" {
		return key, err
	}
	unusable := newEphemeralKey(key.APIKey)
	unusable.register(ctx, meta)
	ctx, stop := rental.Detached(ctx)
	defer stop()
	if revokeErr := unusable.revoke(ctx, meta); revokeErr != nil {
		return rental.APIKeyCreated{}, fmt.Errorf("%w\n\n%s was created, and cannot be revoked: %w", err, unusable.text(),
			revokeErr)
	}
	return rental.APIKeyCreated{}, fmt.Errorf("%w: API key %s was created and revoked again", err, key.ID)
}
