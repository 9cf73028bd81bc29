package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "API keys".

var scopes = apidoc.Scopes

func TestAPIKeyCreated(t *testing.T) {
	s := start(t)
	created := s.post("/api-keys", object{"name": "ci", "scopes": scopes, "expires_in_days": 7}).created()
	newTable("ApiKeyCreated").verify(t, created)
	secret, prefix := text(created, "secret"), text(created, "prefix")
	equal(t, "length of the secret", len(secret), 44)
	check(t, strings.Trim(secret[4:], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "",
		"the secret %q is not base62 after its prefix", secret)
	check(t, prefix != "" && strings.HasPrefix(secret, prefix), "prefix %q of %q", prefix, secret)
	equal(t, "source", text(created, "source"), "api")
	equal(t, "expires_at", timeOf(created, "expires_at").Sub(timeOf(created, "created_at")), 7*24*time.Hour)
	for _, o := range s.list("/api-keys") {
		newTable("ApiKey").verify(t, o)
		check(t, !strings.Contains(short(o), secret), "the list shows the secret")
	}
	other, _ := s.newKey("user:read")
	check(t, other != secret && other[:4] == secret[:4], "secrets %q and %q", secret, other)
}

func TestAPIKeyBounds(t *testing.T) {
	s := start(t)
	body := object{"name": "ci", "scopes": []string{"user:read"}}
	checkBounds("ApiKeyCreate", body, func(body object) response { return s.post("/api-keys", body) })
	for _, scope := range scopes {
		o := s.post("/api-keys", object{"name": scope, "scopes": []string{scope}}).created()
		check(t, short(o["scopes"]) == short([]any{scope}), "scopes %s", short(o["scopes"]))
	}
}

func TestAPIKeyScopesOfIssuer(t *testing.T) {
	s := start(t)
	secret, _ := s.newKey("user:read", "user:write")
	weak := s.as(secret)
	weak.post("/api-keys", object{"name": "same", "scopes": []string{"user:write"}}).created()
	for _, scope := range scopes[2:] {
		weak.post("/api-keys", object{"name": "more", "scopes": []string{"user:read", scope}}).failsWith("forbidden")
	}
}

func TestAPIKeyRevoked(t *testing.T) {
	s := start(t)
	secret, id := s.newKey(scopes...)
	client := s.as(secret)
	client.get("/me").ok()
	client.delete("/api-keys/" + id).want(http.StatusNoContent) // the key in use
	client.get("/me").failsWith("unauthorized")
	client.delete("/api-keys/" + id).failsWith("unauthorized")
	s.delete("/api-keys/" + id).failsWith("not_found")
	s.delete("/api-keys/key_nobody").failsWith("not_found")
	check(t, !slices.Contains(ids(s.list("/api-keys")), id), "a revoked key is listed")
}

func TestAPIKeyExpires(t *testing.T) {
	s := start(t)
	o := s.post("/api-keys", object{"name": "short", "scopes": scopes, "expires_in_days": 1}).created()
	short, id := s.as(text(o, "secret")), text(o, "id")
	left := timeOf(o, "expires_at").Sub(s.now())
	s.advance((left - time.Second).Seconds())
	short.get("/me").ok()
	check(t, slices.Contains(ids(s.list("/api-keys")), id), "a key that works is not listed")
	s.advance(1)
	short.get("/me").failsWith("unauthorized")
	check(t, !slices.Contains(ids(s.list("/api-keys")), id), "an expired key is listed")
	forever := s.post("/api-keys", object{"name": "forever", "scopes": scopes}).created()
	equal(t, "expires_at", forever["expires_at"], nil)
	s.advance(9 * 365 * 24 * 3600)
	s.as(text(forever, "secret")).get("/me").ok()
}

func TestAPIKeyLastUse(t *testing.T) {
	s := start(t)
	secret, id := s.newKey("user:read")
	used := func() any {
		for _, o := range s.list("/api-keys") {
			if text(o, "id") == id {
				return o["last_used_at"]
			}
		}
		t.Fatal("the key is not listed")
		return nil
	}
	equal(t, "last_used_at", used(), nil)
	s.as(secret).get("/me").ok()
	first := used()
	check(t, first != nil, "last_used_at is null after a use")
	s.advance(100)
	s.as(secret).get("/me").ok()
	check(t, used() != first, "last_used_at did not change from %v", first)
}
