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

// apiKey is a key of the account; the secret itself is not kept.
type apiKey struct {
	seq        int64
	id         string
	name       string
	hash       [sha256.Size]byte
	prefix     string
	scopes     []string
	source     string
	lastUsedAt *time.Time
	createdAt  time.Time
	expiresAt  *time.Time
	revoked    bool
}

func (k *apiKey) number() int64 { return k.seq }

// active tells whether the key opens anything at an instant.
func (k *apiKey) active(at time.Time) bool {
	return !k.revoked && (k.expiresAt == nil || at.Before(*k.expiresAt))
}

func (k *apiKey) has(scope string) bool { return slices.Contains(k.scopes, scope) }

func hashSecret(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

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
		seq: w.nextSeq(), id: w.newID("key"), name: name, hash: hashSecret(secret), prefix: secretHint(secret),
		scopes: scopes, source: source, createdAt: w.at,
	}
	if days != nil {
		k.expiresAt = new(w.at.Add(time.Duration(*days) * 24 * time.Hour))
	}
	w.keys = append(w.keys, k)
	return k, secret
}

// findSecret returns the key of a secret, active or not.
func (w *world) findSecret(secret string) *apiKey {
	hash := hashSecret(secret)
	for _, k := range w.keys {
		if k.hash == hash {
			return k
		}
	}
	return nil
}

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
	return apiKeyView{k.id, k.name, k.prefix, k.scopes, k.source, k.lastUsedAt, k.createdAt, k.expiresAt}
}
