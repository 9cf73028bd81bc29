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
	keyPrefixLen    = 8
	maxAPIKeys      = 200
)

var allScopes = []string{scopeUserRead, scopeUserWrite, scopeInstancesRead, scopeInstancesWrite, scopeBillingRead}

// secretHash is the stored hash of a secret.
type secretHash [sha256.Size]byte

// apiKey is an API key of the account. The secret itself is not stored.
type apiKey struct {
	Seq     int64
	Hash    secretHash
	Revoked bool
	apiKeyView
}

func (k *apiKey) sequence() int64 { return k.Seq }

// active reports whether the key is neither revoked nor expired.
func (k *apiKey) active(at time.Time) bool {
	return !k.Revoked && (k.ExpiresAt == nil || at.Before(*k.ExpiresAt))
}

func (k *apiKey) has(scope string) bool { return slices.Contains(k.Scopes, scope) }

func hashSecret(secret string) secretHash { return sha256.Sum256([]byte(secret)) }

// newAPISecret returns a random secret. Unlike ids, it does not depend on the seed.
func newAPISecret() string { return secretPrefix + (rand.Text() + rand.Text())[:secretBodyLen] }

func validSecret(secret string) bool {
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

// issueKey adds a key and returns it with its secret, which is not stored.
func (e *engine) issueKey(name, source string, scopes []string, days *int64) (*apiKey, string) {
	secret := newAPISecret()
	k := e.addKey(secret, name, source, scopes, e.Now)
	if days != nil {
		k.ExpiresAt = new(e.Now.Add(time.Duration(*days) * 24 * time.Hour))
	}
	return k, secret
}

// addKey adds a key with a secret.
func (e *engine) addKey(secret, name, source string, scopes []string, createdAt time.Time) *apiKey {
	k := &apiKey{Seq: e.nextSeq(), Hash: hashSecret(secret), apiKeyView: apiKeyView{
		ID: e.newID("key"), Name: name, Prefix: secret[:keyPrefixLen], Scopes: scopes, Source: source, CreatedAt: createdAt,
	}}
	e.Keys = append(e.Keys, k)
	e.index.secrets[k.Hash] = k
	return k
}

// findKeyBySecret returns the key of a secret, active or not, or nil.
func (e *engine) findKeyBySecret(secret string) *apiKey { return e.index.secrets[hashSecret(secret)] }

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

func viewAPIKey(k *apiKey) apiKeyView { return k.apiKeyView }
