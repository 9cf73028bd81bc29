package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// operation is a row of the tables in the document's chapter "Endpoints".
type operation struct {
	// method and path are as in the table, relative to the base address.
	method, path string
	// scope is what a key needs, "public", or "optional" for the one that a key is optional for.
	scope string
	// body is nil, or one that a check refuses before anything is done.
	body any
}

// operations are all that exist, in the order of the document.
func operations() []operation {
	return []operation{
		{http.MethodGet, "/me", "user:read", nil},
		{http.MethodGet, "/balance", "billing:read", nil},
		{http.MethodGet, "/transactions", "billing:read", nil},
		{http.MethodGet, "/gpus", "public", nil},
		{http.MethodGet, "/offers", "public", nil},
		{http.MethodGet, "/offers/{id}", "public", nil},
		{http.MethodGet, "/templates", "optional", nil},
		{http.MethodPost, "/templates", "instances:write", object{}},
		{http.MethodDelete, "/templates/{slug}", "instances:write", nil},
		{http.MethodGet, "/ssh-keys", "user:read", nil},
		{http.MethodPost, "/ssh-keys", "user:write", object{}},
		{http.MethodDelete, "/ssh-keys/{id}", "user:write", nil},
		{http.MethodGet, "/instances", "instances:read", nil},
		{http.MethodPost, "/instances", "instances:write", object{}},
		{http.MethodGet, "/instances/{id}", "instances:read", nil},
		{http.MethodPatch, "/instances/{id}", "instances:write", object{}},
		{http.MethodPost, "/instances/{id}/start", "instances:write", nil},
		{http.MethodPost, "/instances/{id}/stop", "instances:write", nil},
		{http.MethodDelete, "/instances/{id}", "instances:write", nil},
		{http.MethodGet, "/instances/{id}/logs", "instances:read", nil},
		{http.MethodGet, "/api-keys", "user:read", nil},
		{http.MethodPost, "/api-keys", "user:write", object{}},
		{http.MethodDelete, "/api-keys/{id}", "user:write", nil},
		{http.MethodPost, "/auth/device", "public", object{"client_name": 1}},
		{http.MethodPost, "/auth/device/token", "public", object{}},
	}
}

// TestEveryOperationIsInTheTables: what holds for all lists and all bodies is tried with each of them.
func TestEveryOperationIsInTheTables(t *testing.T) {
	single := []string{"/me", "/balance"} // a GET without an id that answers with one object
	ownBodies := map[string]string{
		"/instances": "TestUnknownFieldsAreRefused", "/instances/{id}": "TestUnknownFieldsAreRefused",
		"/auth/device/token": "a body is good only once the login is granted",
	}
	bodies := bodied()
	for _, op := range operations() {
		if op.method == http.MethodGet && !strings.Contains(op.path, "{") && !slices.Contains(single, op.path) {
			check(t, slices.Contains(listPaths, op.path), "listPaths lacks %s", op.path)
		}
		if op.body != nil && ownBodies[op.path] == "" {
			check(t, bodies[op.path] != nil, "bodied() lacks %s", op.path)
		}
	}
}
