package apikey

import (
	"context"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// openKey is a key that no state will know, so that the process must see to its end.
type openKey struct {
	ID        string     `json:"id"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func open(key rental.APIKey) openKey { return openKey{key.ID, key.ExpiresAt} }

// owe has the key revoked when the process ends, if it is not revoked before: then
// settled is called.
func (k openKey) owe(ctx context.Context, meta *tfkit.Meta, settled func()) {
	meta.Cleanup.Owe(ctx, tfkit.Debt{
		Name:    k.String(),
		Undo:    func(ctx context.Context) error { return k.delete(ctx, meta.Client) },
		Settled: settled,
	})
}

// revoke ends the key. When it fails, the end of the process tries again.
func (k openKey) revoke(ctx context.Context, meta *tfkit.Meta) error {
	err := k.delete(ctx, meta.Client)
	if err == nil {
		meta.Cleanup.Settle(k.String())
	}
	return err
}

// delete does not wait for the request limit: there may be no later. A key that is
// gone already is no error.
func (k openKey) delete(ctx context.Context, client *rental.Client) error {
	err := client.DeleteAPIKey(rental.Urgent(ctx), k.ID)
	if rental.IsNotFound(err) {
		return nil
	}
	return err
}

// String names the key for whoever has to revoke it.
func (k openKey) String() string {
	return fmt.Sprintf("API key %s, which expires %s,", tfkit.OneLine(k.ID), k.end())
}

// end is when nobody has to revoke it any more.
func (k openKey) end() string {
	if k.ExpiresAt == nil {
		return "never"
	}
	return "at " + k.ExpiresAt.UTC().Format(time.RFC3339)
}
