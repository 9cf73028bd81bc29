package rental

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"
)

// SSHKey is a public key that is attached to new instances. The service does not return the key itself.
type SSHKey struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Type        string    `json:"type"`        // for example ssh-ed25519
	Fingerprint string    `json:"fingerprint"` // SHA256
	CreatedAt   time.Time `json:"created_at"`
}

func (k SSHKey) identity() string { return k.ID }

func (k *SSHKey) readIdentity(body []byte) { k.ID = cmp.Or(k.ID, firstText(body, "id")) }

// SSHKeyCreate is a public key to add.
type SSHKeyCreate struct {
	Name      string `json:"name,omitempty"` // up to 60 characters; empty: not sent
	PublicKey string `json:"public_key"`     // one line of a public key file
}

// ListSSHKeys lists the account's public keys. Scope: user:read.
func (c *Client) ListSSHKeys(ctx context.Context, options ListOptions) iter.Seq2[SSHKey, error] {
	return list[SSHKey](ctx, c, request{path: []string{"ssh-keys"}, scope: ScopeUserRead}, options)
}

// CreateSSHKey adds a public key. Scope: user:write. A private key is refused and never sent. There is no idempotency key: look at
// the list when IsOutcomeUnknown.
func (c *Client) CreateSSHKey(ctx context.Context, key SSHKeyCreate) (SSHKey, error) {
	req := request{method: http.MethodPost, path: []string{"ssh-keys"}, scope: ScopeUserWrite, body: key, repeat: onlyOnce, success: created}
	if strings.Contains(key.PublicKey, "PRIVATE KEY") {
		return SSHKey{}, c.refuse(req, errPrivateKey)
	}
	return fetch[SSHKey](ctx, c, req)
}

var errPrivateKey = errors.New("this is a private key; only a public key may be sent")

// DeleteSSHKey removes a key from new instances; running ones are unchanged. Scope: user:write.
func (c *Client) DeleteSSHKey(ctx context.Context, id string) error {
	return c.send(ctx, request{method: http.MethodDelete, path: []string{"ssh-keys", id}, scope: ScopeUserWrite, success: noContent})
}
