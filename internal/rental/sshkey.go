package rental

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// SSHKey is a public key that the API adds to new instances. The API does not return the key itself.
type SSHKey struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"`        // for example ssh-ed25519
	Fingerprint string    `json:"fingerprint"` // SHA256
	CreatedAt   time.Time `json:"created_at"`
}

func (k SSHKey) identity() string { return k.ID }

// SSHKeyCreate contains the fields of a new public key.
type SSHKeyCreate struct {
	Name      string `json:"name,omitempty"` // up to 60 characters; not sent if empty
	PublicKey string `json:"public_key"`     // one line in the format of authorized_keys
}

// ListSSHKeys lists the public keys of the account. Scope: user:read.
func (c *Client) ListSSHKeys(ctx context.Context, options ListOptions) iter.Seq2[SSHKey, error] {
	return list[SSHKey](ctx, c, request{path: []string{"ssh-keys"}, scope: ScopeUserRead}, options)
}

// CreateSSHKey adds a public key. Scope: user:write. The API has no idempotency key for it: after IsOutcomeUnknown,
// list the keys.
func (c *Client) CreateSSHKey(ctx context.Context, key SSHKeyCreate) (SSHKey, error) {
	return fetch[SSHKey](ctx, c, request{
		method: http.MethodPost, path: []string{"ssh-keys"}, scope: ScopeUserWrite, body: key, idempotency: notIdempotent,
		success: created,
	})
}

// DeleteSSHKey deletes a key. Existing instances keep it. Scope: user:write.
func (c *Client) DeleteSSHKey(ctx context.Context, id string) error {
	return c.send(ctx, request{
		method: http.MethodDelete, path: []string{"ssh-keys", id}, scope: ScopeUserWrite, success: noContent,
	})
}
