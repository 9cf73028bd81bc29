package simulator

import (
	"net/http"
	"net/url"
	"strings"
)

// basePath is the path of the base URL.
const basePath = "/api/v1"

// access is the scope that an operation requires, or one of the constants.
type access string

const (
	accessPublic access = "public"
	// accessOptional allows requests without a key, but refuses invalid keys.
	accessOptional access = "optional"
)

// route is an operation of the API.
type route struct {
	// id is the operation id in the contract, "" for what is not an operation.
	id      string
	method  string
	pattern string
	access  access
	status  int
	handle  func(*call) (any, error)
	// cors lets web pages of any origin read the response. cached lets caches keep the response for a minute. A single
	// offer is not cached, because clients read it before they rent it.
	cors, cached bool
}

// routes are all operations of the API.
var routes = []route{
	{"getMe", http.MethodGet, "/me", scopeUserRead, http.StatusOK, (*call).getMe, false, false},
	{"getBalance", http.MethodGet, "/balance", scopeBillingRead, http.StatusOK, (*call).getBalance, false, false},
	{"listTransactions", http.MethodGet, "/transactions", scopeBillingRead, http.StatusOK, (*call).listTransactions,
		false, false},

	{"listGpus", http.MethodGet, "/gpus", accessPublic, http.StatusOK, (*call).listGpus, true, true},
	{"listOffers", http.MethodGet, "/offers", accessPublic, http.StatusOK, (*call).listOffers, true, true},
	{"getOffer", http.MethodGet, "/offers/{id}", accessPublic, http.StatusOK, (*call).getOffer, true, false},
	{"listTemplates", http.MethodGet, "/templates", accessOptional, http.StatusOK, (*call).listTemplates, true, true},
	{"createTemplate", http.MethodPost, "/templates", scopeInstancesWrite, http.StatusCreated, (*call).createTemplate,
		false, false},
	{"deleteTemplate", http.MethodDelete, "/templates/{slug}", scopeInstancesWrite, http.StatusNoContent,
		(*call).deleteTemplate, false, false},

	{"listSshKeys", http.MethodGet, "/ssh-keys", scopeUserRead, http.StatusOK, (*call).listSSHKeys, false, false},
	{"createSshKey", http.MethodPost, "/ssh-keys", scopeUserWrite, http.StatusCreated, (*call).createSSHKey, false,
		false},
	{"deleteSshKey", http.MethodDelete, "/ssh-keys/{id}", scopeUserWrite, http.StatusNoContent, (*call).deleteSSHKey,
		false, false},

	{"listInstances", http.MethodGet, "/instances", scopeInstancesRead, http.StatusOK, (*call).listInstances, false,
		false},
	{"createInstance", http.MethodPost, "/instances", scopeInstancesWrite, http.StatusCreated, (*call).createInstance,
		false, false},
	{"getInstance", http.MethodGet, "/instances/{id}", scopeInstancesRead, http.StatusOK, (*call).getInstance, false,
		false},
	{"updateInstance", http.MethodPatch, "/instances/{id}", scopeInstancesWrite, http.StatusOK, (*call).updateInstance,
		false, false},
	{"startInstance", http.MethodPost, "/instances/{id}/start", scopeInstancesWrite, http.StatusOK,
		(*call).startInstance, false, false},
	{"stopInstance", http.MethodPost, "/instances/{id}/stop", scopeInstancesWrite, http.StatusOK, (*call).stopInstance,
		false, false},
	{"deleteInstance", http.MethodDelete, "/instances/{id}", scopeInstancesWrite, http.StatusOK, (*call).deleteInstance,
		false, false},
	{"getInstanceLogs", http.MethodGet, "/instances/{id}/logs", scopeInstancesRead, http.StatusOK,
		(*call).getInstanceLogs, false, false},

	{"listApiKeys", http.MethodGet, "/api-keys", scopeUserRead, http.StatusOK, (*call).listAPIKeys, false, false},
	{"createApiKey", http.MethodPost, "/api-keys", scopeUserWrite, http.StatusCreated, (*call).createAPIKey, false,
		false},
	{"deleteApiKey", http.MethodDelete, "/api-keys/{id}", scopeUserWrite, http.StatusNoContent, (*call).deleteAPIKey,
		false, false},

	{"createDeviceCode", http.MethodPost, "/auth/device", accessPublic, http.StatusOK, (*call).createDeviceCode, false,
		false},
	{"createDeviceToken", http.MethodPost, "/auth/device/token", accessPublic, http.StatusOK, (*call).createDeviceToken,
		false, false},

	{"", http.MethodGet, "/openapi.json", accessPublic, http.StatusOK, (*call).getOpenAPI, true, false},
}

// Operation is an operation that the simulator serves.
type Operation struct {
	// ID is the operation id in the contract.
	ID string
	// Path is relative to the base URL, with {placeholders}.
	Method, Path string
	// Scope is the scope that a key needs, "" if no key is needed.
	Scope string
}

// Operations returns all operations in the order of the API document.
func Operations() []Operation {
	var operations []Operation
	for _, rt := range routes {
		if rt.id == "" {
			continue
		}
		op := Operation{ID: rt.id, Method: rt.method, Path: rt.pattern}
		if rt.access != accessPublic && rt.access != accessOptional {
			op.Scope = string(rt.access)
		}
		operations = append(operations, op)
	}
	return operations
}

// findRoute returns the route of a request and its path parameters. If no route has the method, it returns nil and the
// methods of the path.
func findRoute[R any](table []R, describe func(*R) (method, pattern string), method, path string) (found *R,
	params map[string]string, allowed []string) {
	for n := range table {
		m, pattern := describe(&table[n])
		values, ok := matchPattern(pattern, path)
		if !ok {
			continue
		}
		if m == method {
			return &table[n], values, nil
		}
		allowed = append(allowed, m)
	}
	return nil, nil, allowed
}

// matchPattern matches an escaped path with a pattern and returns the values of the {placeholders}.
func matchPattern(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	params := map[string]string{}
	for n, segment := range want {
		value, err := url.PathUnescape(have[n])
		if err != nil {
			return nil, false
		}
		switch {
		case strings.HasPrefix(segment, "{"):
			if value == "" {
				return nil, false
			}
			params[strings.Trim(segment, "{}")] = value
		case segment != value:
			return nil, false
		}
	}
	return params, true
}

// methodNotAllowed is the error for a path without the method.
func methodNotAllowed(allowed []string) error {
	return newError(codeNotFound).withStatus(http.StatusMethodNotAllowed).
		withText("Путь не поддерживает этот метод", "The path does not support this method").
		withHeader("Allow", strings.Join(allowed, ", "))
}
