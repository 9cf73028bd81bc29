package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Authentication", and the column "Scope" of the chapter "Endpoints".

// fillPath replaces the placeholders of a path.
func (s *service) fillPath(op apidoc.Operation, instance string) string {
	return strings.NewReplacer("/instances/{id}", "/instances/"+instance, "/offers/{id}", "/offers/unknown", "{id}",
		"unknown", "{slug}", "unknown").Replace(op.Path)
}

func TestScopes(t *testing.T) {
	s := start(t)
	instance := text(s.running(nil), "id")
	keys := map[string]*service{}
	for _, scope := range scopes {
		secret, _ := s.newKey(scope)
		keys[scope] = s.as(secret)
	}
	for _, op := range apidoc.Operations {
		path := s.fillPath(op, instance)
		for _, scope := range scopes {
			if op.Method == http.MethodDelete && scope == op.Scope || strings.HasSuffix(op.Path, "/stop") &&
				scope == op.Scope {
				continue // tested below, because it ends the instance
			}
			a := keys[scope].call(op.Method, path, bodyOf(op))
			a.request = scope + ": " + a.request
			if op.Scope == scope || op.Scope == "public" || op.Scope == "optional" {
				check(t, a.status != http.StatusForbidden && a.status != http.StatusUnauthorized, "%s: %d", a.request,
					a.status)
			} else {
				a.failsWith("forbidden")
			}
		}
	}
	keys["instances:write"].action(instance, "stop").ok()
	keys["instances:write"].delete("/instances/" + instance).ok()
}

func TestUnauthorized(t *testing.T) {
	s := start(t)
	revoked, id := s.newKey(scopes...)
	s.delete("/api-keys/" + id).want(http.StatusNoContent)
	expired := s.post("/api-keys", object{"name": "x", "scopes": scopes, "expires_in_days": 1}).created()
	s.advance(24 * 3600)
	headers := map[string]string{
		"no key": "", "unknown": "Bearer " + strings.Repeat("x", 44), "revoked": "Bearer " + revoked,
		"expired":   "Bearer " + text(expired, "secret"),
		"no scheme": s.key, "another scheme": "Basic " + s.key, "empty": "Bearer ", "a prefix of the key": "Bearer " +
			s.key[:43],
	}
	for name, header := range headers {
		anonymous := s.as("").with("Authorization", header)
		for _, op := range apidoc.Operations {
			a := anonymous.call(op.Method, s.fillPath(op, "unknown"), bodyOf(op))
			a.request = name + ": " + a.request
			switch {
			case op.Scope == "public" || op.Scope == "optional" && name == "no key":
				check(t, a.status != http.StatusUnauthorized, "%s: 401", a.request)
			default:
				a.failsWith("unauthorized")
			}
		}
	}
}

func TestBlockedAccount(t *testing.T) {
	s := start(t)
	s.setAccount(object{"blocked": true})
	for _, op := range apidoc.Operations {
		a := s.call(op.Method, s.fillPath(op, "unknown"), bodyOf(op))
		if op.Scope == "public" || op.Scope == "optional" {
			check(t, a.status != http.StatusForbidden, "%s: 403", a.request)
		} else {
			a.failsWith("forbidden")
		}
	}
	s.setAccount(object{"blocked": false})
	s.get("/me").ok()
}

func TestOwnTemplatesRequireKey(t *testing.T) {
	s := start(t)
	o := s.post("/templates", object{"name": "mine", "image": "registry.example/mine:1"}).created()
	seen := func(s *service) (own, all int) {
		for _, o := range s.list("/templates") {
			all++
			if text(o, "owner") == "me" {
				own++
			}
		}
		return own, all
	}
	own, all := seen(s)
	equal(t, "own templates with a key", own, 1)
	// GET /templates has no scope and no response 403.
	weak, _ := s.newKey("billing:read")
	own, _ = seen(s.as(weak))
	equal(t, "own templates with a key that has another scope", own, 1)
	s.setAccount(object{"blocked": true})
	own, _ = seen(s)
	equal(t, "own templates of a blocked account", own, 1)
	public, catalogue := seen(s.as(""))
	equal(t, "own templates without a key", public, 0)
	equal(t, "templates of the catalogue", catalogue, all-1)
	check(t, o["public"] == false, "an own template is public")
}
