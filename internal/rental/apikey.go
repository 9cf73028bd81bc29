package rental

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// The scopes of an API key. A key cannot be issued with a scope that the issuing key lacks.
const (
	ScopeUserRead       = "user:read"
	ScopeUserWrite      = "user:write"
	ScopeInstancesRead  = "instances:read"
	ScopeInstancesWrite = "instances:write"
	ScopeBillingRead    = "billing:read"
)

// KeyPrefixLength is the length of APIKey.Prefix in characters: four fixed ones and four of the key.
const KeyPrefixLength = 8

// APIKey is an active key without its secret.
type APIKey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"` // first characters of the key
	Scopes     []string   `json:"scopes"`
	Source     string     `json:"source"`       // where it was created: console, cli or api
	LastUsedAt *time.Time `json:"last_used_at"` // nil if never used
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"` // nil if never
}

func (k APIKey) identity() string { return k.ID }

// APIKeyCreate contains the fields of a new key. Name and at least one scope are required.
type APIKeyCreate struct {
	Name          string   `json:"name"` // 1 to 60 characters
	Scopes        []string `json:"scopes"`
	ExpiresInDays *int64   `json:"expires_in_days,omitempty"` // 1 to 3650; nil if it never expires
}

// APIKeyCreated is a new key with its secret, which the API returns only once.
type APIKeyCreated struct {
	APIKey
	Secret string `json:"secret"`
	NotPrinted
}

func (k APIKeyCreated) validate() error { return checkSecret(k.Secret) }

// ListAPIKeys lists the active keys. Scope: user:read.
func (c *Client) ListAPIKeys(ctx context.Context, options ListOptions) iter.Seq2[APIKey, error] {
	return list[APIKey](ctx, c, request{path: []string{"api-keys"}, scope: ScopeUserRead}, options)
}

// CreateAPIKey creates a key. Scope: user:write. The API has no idempotency key for it: after IsOutcomeUnknown, a
// key can exist whose secret is lost.
func (c *Client) CreateAPIKey(ctx context.Context, key APIKeyCreate) (APIKeyCreated, error) {
	return fetch[APIKeyCreated](ctx, c, request{
		method: http.MethodPost, path: []string{"api-keys"}, scope: ScopeUserWrite, body: key, idempotency: notIdempotent,
		success: created,
	})
}

// DeleteAPIKey revokes a key, which can be the key of the client. Scope: user:write. It does not wait for the rate
// limit, because the process may be about to end: a CLI allows two seconds for that.
func (c *Client) DeleteAPIKey(ctx context.Context, id string) error {
	return c.send(ctx, request{
		method: http.MethodDelete, path: []string{"api-keys", id}, scope: ScopeUserWrite, success: noContent,
		urgent: true,
	})
}
