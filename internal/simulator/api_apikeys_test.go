package simulator_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Chapter "API keys".

func TestAPIKey_Created(t *testing.T) {
	api := newFundedClient(t)
	created := api.post("/api-keys", object{"name": "ci", "scopes": scopes, "expires_in_days": 7}).created()
	secret, prefix := created.text("secret"), created.text("prefix")
	check(t, regexp.MustCompile(`^....[0-9A-Za-z]{40}$`).MatchString(secret), "secret %q", secret)
	check(t, prefix != "" && strings.HasPrefix(secret, prefix), "prefix %q of %q", prefix, secret)
	equal(t, "source", created.text("source"), "api")
	equal(t, "expires_at", created.time("expires_at").Sub(created.time("created_at")), 7*24*time.Hour)
	check(t, !strings.Contains(asJSON(api.list("/api-keys")), secret), "the list shows the secret")
	other, _ := api.newKey("user:read")
	check(t, other != secret && other[:4] == secret[:4], "secrets %q and %q", secret, other)
}

func TestAPIKey_ScopesOfIssuer(t *testing.T) {
	api := newFundedClient(t)
	secret, _ := api.newKey("user:read", "user:write")
	weak := api.withKey(secret)
	weak.post("/api-keys", object{"name": "same", "scopes": []string{"user:write"}}).created()
	for _, scope := range scopes[2:] {
		weak.post("/api-keys", object{"name": "more", "scopes": []string{"user:read", scope}}).failsWith("forbidden")
	}
}

func TestAPIKey_Revoked(t *testing.T) {
	api := newFundedClient(t)
	secret, id := api.newKey(scopes...)
	client := api.withKey(secret)
	client.delete("/api-keys/" + id).want(http.StatusNoContent) // the key in use
	client.get("/me").failsWith("unauthorized")
	api.delete("/api-keys/" + id).failsWith("not_found")
	check(t, !api.listHas("/api-keys", id), "a revoked key is listed")
}

func TestAPIKey_Expires(t *testing.T) {
	api := newFundedClient(t)
	o := api.post("/api-keys", object{"name": "short", "scopes": scopes, "expires_in_days": 1}).created()
	short, id := api.withKey(o.text("secret")), o.text("id")
	api.Advance(o.time("expires_at").Sub(api.Now()) - time.Second)
	short.get("/me").ok()
	check(t, api.listHas("/api-keys", id), "a key that works is not listed")
	api.Advance(time.Second)
	short.get("/me").failsWith("unauthorized")
	check(t, !api.listHas("/api-keys", id), "an expired key is listed")
	forever := api.post("/api-keys", object{"name": "forever", "scopes": scopes}).created()
	api.Advance(9 * 365 * 24 * time.Hour)
	api.withKey(forever.text("secret")).get("/me").ok()
}

func TestAPIKey_LastUse(t *testing.T) {
	api := newFundedClient(t)
	secret, _ := api.newKey("user:read")
	used := func() any { return api.list("/api-keys")[1]["last_used_at"] }
	equal(t, "last_used_at", used(), nil)
	api.withKey(secret).get("/me").ok()
	first := used()
	api.Advance(100 * time.Second)
	api.withKey(secret).get("/me").ok()
	check(t, first != nil && used() != first, "last_used_at was %v and is %v", first, used())
}
