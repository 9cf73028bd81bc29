package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Chapter "Authentication", and the column "Scope" of the chapter "Endpoints".

// fillPath replaces the placeholders of a path.
func fillPath(op apidoc.Operation, instance string) string {
	return strings.NewReplacer("/instances/{id}", "/instances/"+instance, "{id}", "unknown", "{slug}",
		"unknown").Replace(op.Path)
}

// checkAccess calls all operations. Each must fail with the code that the function returns; "" means that it must not
// be refused for the key.
func (api *client) checkAccess(who, instance string, code func(op apidoc.Operation) string) {
	api.t.Helper()
	for _, op := range apidoc.Operations {
		var body any
		if op.Body != "" {
			body = object{"client_name": 1} // invalid for most operations
		}
		a := api.do(op.Method, fillPath(op, instance), body)
		a.request = who + ": " + a.request
		if want := code(op); want != "" {
			a.failsWith(want)
		} else {
			check(api.t, a.status != http.StatusUnauthorized && a.status != http.StatusForbidden, "%s: %d", a.request,
				a.status)
		}
	}
}

func TestAccess_Scopes(t *testing.T) {
	api := newFundedClient(t)
	for _, scope := range scopes {
		instance := api.runningInstance(nil).text("id")
		secret, _ := api.newKey(scope)
		api.withKey(secret).checkAccess(scope, instance, func(op apidoc.Operation) string {
			if op.Scope == scope || op.Scope == "public" || op.Scope == "optional" {
				return ""
			}
			return "forbidden"
		})
	}
}

// Only an active API key in the header Authorization authenticates: no session, and no other place.
func TestAccess_Unauthorized(t *testing.T) {
	api := newFundedClient(t)
	revoked, id := api.newKey(scopes...)
	api.delete("/api-keys/" + id).want(http.StatusNoContent)
	expired := api.post("/api-keys", object{"name": "x", "scopes": scopes, "expires_in_days": 1}).created()
	api.Advance(24 * time.Hour)
	anonymous := api.withKey("")
	refused := func(optional string) func(op apidoc.Operation) string {
		codes := map[string]string{"public": "", "optional": optional}
		return func(op apidoc.Operation) string {
			if code, open := codes[op.Scope]; open {
				return code
			}
			return "unauthorized"
		}
	}
	for _, header := range []string{"Bearer " + strings.Repeat("x", 44), "Bearer " + revoked, "Bearer " +
		expired.text("secret"), api.key, "Basic " + api.key, "Token " + api.key, "Bearer", "Bearer ", "Bearer=" + api.key,
		"Bearer " + api.key[:43], "Bearer " + api.key + " " + api.key} {
		anonymous.withHeader("Authorization", header).checkAccess(header, "none", refused("unauthorized"))
	}
	anonymous.checkAccess("no key", "none", refused(""))
	for header, value := range map[string]string{"Cookie": "session=" + api.key, "X-Api-Key": api.key} {
		anonymous.withHeader(header, value).checkAccess(header, "none", refused(""))
	}
	anonymous.get("/me?api_key=" + api.key).failsWith("unauthorized")
	anonymous.get("/me?access_token=" + api.key).failsWith("unauthorized")
}

func TestAccess_BlockedAccount(t *testing.T) {
	api := newFundedClient(t)
	api.setAccount(object{"blocked": true})
	api.checkAccess("blocked", "none", func(op apidoc.Operation) string {
		if op.Scope == "public" || op.Scope == "optional" {
			return ""
		}
		return "forbidden"
	})
	api.setAccount(object{"blocked": false})
	api.get("/me").ok()
}

// GET /templates works with and without a key; it has no scope and no response 403.
func TestAccess_OwnTemplates(t *testing.T) {
	api := newFundedClient(t)
	slug := api.newTemplate()
	weak, _ := api.newKey("billing:read")
	check(t, api.withKey(weak).listHas("/templates", slug), "the key does not list its template")
	api.setAccount(object{"blocked": true})
	own, public := api.list("/templates"), api.withKey("").list("/templates")
	mine := own[len(own)-1]
	check(t, mine.text("owner") == "me" && mine["public"] == any(false), "the last template is %v", mine)
	equal(t, "templates without a key", asJSON(public), asJSON(own[:len(own)-1]))
}
