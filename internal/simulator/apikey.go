package simulator

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"time"
)

const (
	scopeUserRead       = "user:read"
	scopeUserWrite      = "user:write"
	scopeInstancesRead  = "instances:read"
	scopeInstancesWrite = "instances:write"
	scopeBillingRead    = "billing:read"

	sourceConsole = "console"
	sourceCLI     = "cli"
	sourceAPI     = "api"

	secretPrefix    = "gpr_"
	secretPrefixLen = len(secretPrefix)
	secretBodyLen   = 40
	secretHintLen   = 8
	maxAPIKeys      = 200
)

var allScopes = []string{scopeUserRead, scopeUserWrite, scopeInstancesRead, scopeInstancesWrite, scopeBillingRead}

// secretHash is what is kept of a secret.
type secretHash [sha256.Size]byte

// apiKey is a key of the account; the secret itself is not kept.
type apiKey struct {
	Seq        int64
	ID         string
	Name       string
	Hash       secretHash
	Prefix     string
	Scopes     []string
	Source     string
	LastUsedAt *time.Time
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	Revoked    bool
}

func (k *apiKey) number() int64 { return k.Seq }

// active tells whether the key opens anything at an instant.
func (k *apiKey) active(at time.Time) bool {
	return !k.Revoked && (k.ExpiresAt == nil || at.Before(*k.ExpiresAt))
}

func (k *apiKey) has(scope string) bool { return slices.Contains(k.Scopes, scope) }

func hashSecret(secret string) secretHash { return sha256.Sum256([]byte(secret)) }

// secretHint is the start of a secret that a listing shows.
func secretHint(secret string) string { return secret[:secretHintLen] }

// newAPISecret draws a secret nobody can guess; unlike ids, it does not follow from the seed.
func newAPISecret() string { return secretPrefix + (rand.Text() + rand.Text())[:secretBodyLen] }

func wellFormedSecret(secret string) bool {
	if len(secret) != secretPrefixLen+secretBodyLen {
		return false
	}
	for n, r := range []byte(secret) {
		base62 := r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !base62 && !(n < secretPrefixLen && (r == '_' || r == '-')) {
			return false
		}
	}
	return true
}

// issueKey adds a key and returns it with its secret, the only time that it can be read.
func (w *world) issueKey(name, source string, scopes []string, days *int64) (*apiKey, string) {
	secret := newAPISecret()
	k := &apiKey{
		Seq: w.nextSeq(), ID: w.newID("key"), Name: name, Hash: hashSecret(secret), Prefix: secretHint(secret),
		Scopes: scopes, Source: source, CreatedAt: w.at,
	}
	if days != nil {
		k.ExpiresAt = new(w.at.Add(time.Duration(*days) * 24 * time.Hour))
	}
	w.addKey(k)
	return k, secret
}

// findSecret returns the key of a secret, active or not.
func (w *world) findSecret(secret string) *apiKey { return w.index.secrets[hashSecret(secret)] }

type apiKeyView struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	Scopes     []string   `json:"scopes"`
	Source     string     `json:"source"`
	LastUsedAt *time.Time `json:"last_used_at"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
}

type apiKeyCreatedView struct {
	apiKeyView
	Secret string `json:"secret"`
}

func viewAPIKey(k *apiKey) apiKeyView {
	return apiKeyView{k.ID, k.Name, k.Prefix, k.Scopes, k.Source, k.LastUsedAt, k.CreatedAt, k.ExpiresAt}
}
