package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Authentication", and the column "Scope" of the chapter "Endpoints".

// fillPath replaces the placeholders of a path.
func fillPath(op apidoc.Operation, instance string) string {
	return strings.NewReplacer("/instances/{id}", "/instances/"+instance, "{id}", "unknown", "{slug}",
		"unknown").Replace(op.Path)
}

// bodyOf returns an invalid body for tests of access, nil for an operation without a body.
func bodyOf(op apidoc.Operation) any {
	switch op.Body {
	case "":
		return nil
	case "DeviceCodeCreate":
		return object{"client_name": 1}
	}
	return object{}
}

// checkAccess calls all operations. Each must fail with the code that the function returns; "" means that it must not
// be refused for the key.
func (s *service) checkAccess(who, instance string, code func(op apidoc.Operation) string) {
	s.t.Helper()
	for _, op := range apidoc.Operations {
		a := s.call(op.Method, fillPath(op, instance), bodyOf(op))
		a.request = who + ": " + a.request
		if want := code(op); want != "" {
			a.failsWith(want)
		} else {
			check(s.t, a.status != http.StatusUnauthorized && a.status != http.StatusForbidden, "%s: %d", a.request,
				a.status)
		}
	}
}

func TestAccess_Scopes(t *testing.T) {
	s := start(t)
	for _, scope := range scopes {
		instance := text(s.running(nil), "id")
		secret, _ := s.newKey(scope)
		s.as(secret).checkAccess(scope, instance, func(op apidoc.Operation) string {
			if op.Scope == scope || op.Scope == "public" || op.Scope == "optional" {
				return ""
			}
			return "forbidden"
		})
	}
}

// Only an active API key in the header Authorization authenticates: no session, and no other place.
func TestAccess_Unauthorized(t *testing.T) {
	s := start(t)
	revoked, id := s.newKey(scopes...)
	s.delete("/api-keys/" + id).want(http.StatusNoContent)
	expired := s.post("/api-keys", object{"name": "x", "scopes": scopes, "expires_in_days": 1}).created()
	s.advance(24 * 3600)
	anonymous := s.as("")
	refused := func(optional string) func(op apidoc.Operation) string {
		return func(op apidoc.Operation) string {
			switch op.Scope {
			case "public":
				return ""
			case "optional":
				return optional
			}
			return "unauthorized"
		}
	}
	for _, header := range []string{"Bearer " + strings.Repeat("x", 44), "Bearer " + revoked, "Bearer " +
		text(expired, "secret"), s.key, "Basic " + s.key, "Token " + s.key, "Bearer", "Bearer ", "Bearer=" + s.key,
		"Bearer " + s.key[:43], "Bearer " + s.key + " " + s.key} {
		anonymous.with("Authorization", header).checkAccess(header, "none", refused("unauthorized"))
	}
	anonymous.checkAccess("no key", "none", refused(""))
	for _, cookie := range []string{"session=" + s.key, "token=" + s.key, "api_key=" + s.key} {
		anonymous.with("Cookie", cookie).checkAccess(cookie, "none", refused(""))
	}
	anonymous.with("X-Api-Key", s.key).checkAccess("X-Api-Key", "none", refused(""))
	anonymous.get("/me?api_key=" + s.key).failsWith("unauthorized")
	anonymous.get("/me?access_token=" + s.key).failsWith("unauthorized")
}

func TestAccess_BlockedAccount(t *testing.T) {
	s := start(t)
	s.setAccount(object{"blocked": true})
	s.checkAccess("blocked", "none", func(op apidoc.Operation) string {
		if op.Scope == "public" || op.Scope == "optional" {
			return ""
		}
		return "forbidden"
	})
	s.setAccount(object{"blocked": false})
	s.get("/me").ok()
}

// GET /templates works with and without a key; it has no scope and no response 403.
func TestAccess_OwnTemplates(t *testing.T) {
	s := start(t)
	slug := s.newTemplate()
	weak, _ := s.newKey("billing:read")
	check(t, s.lists("/templates", slug) && s.as(weak).lists("/templates", slug), "the key does not list its template")
	s.setAccount(object{"blocked": true})
	check(t, s.lists("/templates", slug), "a blocked account does not list its template")
	own := 0
	for _, o := range s.list("/templates") {
		if text(o, "owner") == "me" {
			own++
			equal(t, "public", o["public"], any(false))
		}
	}
	equal(t, "own templates", own, 1)
	public := s.as("").list("/templates")
	equal(t, "templates without a key", len(public), len(s.list("/templates"))-1)
	for _, o := range public {
		equal(t, "owner without a key", text(o, "owner"), "catalog")
	}
}
