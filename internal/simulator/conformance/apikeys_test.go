package conformance

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Chapter "API keys".

func TestAPIKey_Created(t *testing.T) {
	s := start(t)
	created := s.post("/api-keys", object{"name": "ci", "scopes": scopes, "expires_in_days": 7}).created()
	secret, prefix := text(created, "secret"), text(created, "prefix")
	check(t, regexp.MustCompile(`^....[0-9A-Za-z]{40}$`).MatchString(secret), "secret %q", secret)
	check(t, prefix != "" && strings.HasPrefix(secret, prefix), "prefix %q of %q", prefix, secret)
	equal(t, "source", text(created, "source"), "api")
	equal(t, "expires_at", timeOf(created, "expires_at").Sub(timeOf(created, "created_at")), 7*24*time.Hour)
	check(t, !strings.Contains(short(s.list("/api-keys")), secret), "the list shows the secret")
	other, _ := s.newKey("user:read")
	check(t, other != secret && other[:4] == secret[:4], "secrets %q and %q", secret, other)
}

func TestAPIKey_Bounds(t *testing.T) {
	s := start(t)
	body := object{"name": "ci", "scopes": []string{"user:read"}}
	checkBounds("ApiKeyCreate", body, func(body object) response { return s.post("/api-keys", body) })
	for _, scope := range scopes {
		o := s.post("/api-keys", object{"name": scope, "scopes": []string{scope}}).created()
		equal(t, "scopes", short(o["scopes"]), short([]any{scope}))
	}
}

func TestAPIKey_ScopesOfIssuer(t *testing.T) {
	s := start(t)
	secret, _ := s.newKey("user:read", "user:write")
	weak := s.as(secret)
	weak.post("/api-keys", object{"name": "same", "scopes": []string{"user:write"}}).created()
	for _, scope := range scopes[2:] {
		weak.post("/api-keys", object{"name": "more", "scopes": []string{"user:read", scope}}).failsWith("forbidden")
	}
}

func TestAPIKey_Revoked(t *testing.T) {
	s := start(t)
	secret, id := s.newKey(scopes...)
	client := s.as(secret)
	client.delete("/api-keys/" + id).want(http.StatusNoContent) // the key in use
	client.get("/me").failsWith("unauthorized")
	s.delete("/api-keys/" + id).failsWith("not_found")
	check(t, !s.lists("/api-keys", id), "a revoked key is listed")
}

func TestAPIKey_Expires(t *testing.T) {
	s := start(t)
	o := s.post("/api-keys", object{"name": "short", "scopes": scopes, "expires_in_days": 1}).created()
	short, id := s.as(text(o, "secret")), text(o, "id")
	s.advance((timeOf(o, "expires_at").Sub(s.now()) - time.Second).Seconds())
	short.get("/me").ok()
	check(t, s.lists("/api-keys", id), "a key that works is not listed")
	s.advance(1)
	short.get("/me").failsWith("unauthorized")
	check(t, !s.lists("/api-keys", id), "an expired key is listed")
	forever := s.post("/api-keys", object{"name": "forever", "scopes": scopes}).created()
	s.advance(9 * 365 * 24 * 3600)
	s.as(text(forever, "secret")).get("/me").ok()
}

func TestAPIKey_LastUse(t *testing.T) {
	s := start(t)
	secret, _ := s.newKey("user:read")
	used := func() any { return s.list("/api-keys")[1]["last_used_at"] }
	equal(t, "last_used_at", used(), nil)
	s.as(secret).get("/me").ok()
	first := used()
	s.advance(100)
	s.as(secret).get("/me").ok()
	check(t, first != nil && used() != first, "last_used_at was %v and is %v", first, used())
}
