package apikey

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ephemeralKey is a key that no state tracks and that this process must revoke.
type ephemeralKey struct {
	ID        string     `json:"id"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// newEphemeralKey returns the ephemeralKey of a created key.
func newEphemeralKey(key rental.APIKey) ephemeralKey { return ephemeralKey{key.ID, key.ExpiresAt} }

// register makes the end of the process revoke the key, unless it is revoked before.
func (k ephemeralKey) register(ctx context.Context, meta *tfkit.Meta) {
	meta.Cleanup.Register(ctx, k.text(), func(ctx context.Context) error { return k.delete(ctx, meta.Client) })
}

// revoke revokes the key. After an error, the end of the process tries again.
func (k ephemeralKey) revoke(ctx context.Context, meta *tfkit.Meta) error {
	err := k.delete(ctx, meta.Client)
	if err == nil {
		meta.Cleanup.Done(k.text())
	}
	return err
}

// delete deletes the key. It returns nil if the key does not exist.
func (k ephemeralKey) delete(ctx context.Context, client *rental.Client) error {
	err := client.DeleteAPIKey(ctx, k.ID)
	if rental.IsNotFound(err) {
		return nil
	}
	return err
}

// text returns the id and the expiry of the key for messages.
func (k ephemeralKey) text() tfkit.Text {
	return tfkit.Textf("API key %s, which expires %s,", k.ID, k.end())
}

// end returns the expiry for messages: "never" or "at TIME".
func (k ephemeralKey) end() string {
	if k.ExpiresAt == nil {
		return "never"
	}
	return "at " + k.ExpiresAt.UTC().Format(time.RFC3339)
}
