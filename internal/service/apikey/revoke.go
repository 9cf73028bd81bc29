package apikey

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ephemeralKey is a key that is in no state, so the process has to revoke it.
type ephemeralKey struct {
	ID        string     `json:"id"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func ephemeralKeyOf(key rental.APIKey) ephemeralKey { return ephemeralKey{key.ID, key.ExpiresAt} }

// register has the key revoked when the process ends, if it is not revoked before. onDone is called after the revocation.
func (k ephemeralKey) register(ctx context.Context, meta *tfkit.Meta, onDone func()) {
	meta.Cleanup.Register(ctx, tfkit.Task{
		Name:   k.String(),
		Undo:   func(ctx context.Context) error { return k.delete(ctx, meta.Client) },
		OnDone: onDone,
	})
}

// revoke revokes the key. If that fails, the end of the process tries again.
func (k ephemeralKey) revoke(ctx context.Context, meta *tfkit.Meta) error {
	err := k.delete(ctx, meta.Client)
	if err == nil {
		meta.Cleanup.Done(k.String())
	}
	return err
}

// delete does not wait for the request limit, because the process may end. A key that does not exist is no error.
func (k ephemeralKey) delete(ctx context.Context, client *rental.Client) error {
	err := client.DeleteAPIKey(rental.Urgent(ctx), k.ID)
	if rental.IsNotFound(err) {
		return nil
	}
	return err
}

// String names the key for users.
func (k ephemeralKey) String() string {
	return string(tfkit.Textf("API key %s, which expires %s,", k.ID, k.end()))
}

// end is when the key expires.
func (k ephemeralKey) end() string {
	if k.ExpiresAt == nil {
		return "never"
	}
	return "at " + k.ExpiresAt.UTC().Format(time.RFC3339)
}
