package simulator

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
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

func (c *call) listAPIKeys() (any, error) {
	active := func(k *apiKey) bool { return k.active(c.Now) }
	return listPage(c, "api-keys", parseQuery(c.r.URL), c.Keys, false, active, viewAPIKey)
}

var (
	textNoScopes = text{"нужно хотя бы одно право", "at least one scope is required"}
	textScopes   = text{"допустимые значения: " + joined(allScopes), "must be one of: " + joined(allScopes)}
)

// createAPIKey does not grant scopes that the issuing key lacks.
func (c *call) createAPIKey() (any, error) {
	f := c.fields
	f.require("name", "scopes")
	name := f.str("name", 1, 60)
	requested := f.strings("scopes", 100)
	if requested != nil && len(requested) == 0 {
		f.add("scopes", textNoScopes)
	}
	if slices.ContainsFunc(requested, func(scope string) bool { return !slices.Contains(allScopes, scope) }) {
		f.add("scopes", textScopes)
	}
	var days *int64
	if !f.isNull("expires_in_days") {
		days = f.integer("expires_in_days", 1, 3650)
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	var scopes []string
	for _, scope := range allScopes {
		if !slices.Contains(requested, scope) {
			continue
		}
		if !c.key.has(scope) {
			return nil, newError(codeForbidden).withText(text{"Нельзя выдать права, которых нет у этого ключа",
				"A key cannot issue scopes that it lacks itself"})
		}
		scopes = append(scopes, scope)
	}
	if c.activeKeys() >= maxAPIKeys {
		return nil, conflict(text{"Достигнут предел числа ключей", "The limit of API keys is reached"})
	}
	c.status = http.StatusCreated
	k, secret := c.issueKey(*name, sourceAPI, scopes, days)
	return apiKeyCreatedView{viewAPIKey(k), secret}, nil
}

func (e *engine) activeKeys() (n int) {
	for _, k := range e.Keys {
		if k.active(e.Now) {
			n++
		}
	}
	return n
}

// deleteAPIKey takes effect at once, also for the key in use.
func (c *call) deleteAPIKey() (any, error) {
	for _, k := range c.Keys {
		if k.ID == c.params["id"] && k.active(c.Now) {
			k.Revoked = true
			return nil, nil
		}
	}
	return nil, notFound(text{"Ключ не найден", "API key not found"})
}
