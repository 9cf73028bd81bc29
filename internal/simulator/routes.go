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
	handle  func(*call) (any, error)
}

// cors reports whether web pages of any origin may read the response.
func (rt *route) cors() bool {
	return rt.method == http.MethodGet && (rt.access == accessPublic || rt.access == accessOptional)
}

// cached reports whether caches may keep the response for a minute. A single offer is not cached, because clients read
// it before they rent it.
func (rt *route) cached() bool { return rt.cors() && strings.HasPrefix(rt.id, "list") }

// routes are all operations of the API.
var routes = []route{
	{"getMe", http.MethodGet, "/me", scopeUserRead, (*call).getMe},
	{"getBalance", http.MethodGet, "/balance", scopeBillingRead, (*call).getBalance},
	{"listTransactions", http.MethodGet, "/transactions", scopeBillingRead, (*call).listTransactions},

	{"listGpus", http.MethodGet, "/gpus", accessPublic, (*call).listGpus},
	{"listOffers", http.MethodGet, "/offers", accessPublic, (*call).listOffers},
	{"getOffer", http.MethodGet, "/offers/{id}", accessPublic, (*call).getOffer},

	{"listTemplates", http.MethodGet, "/templates", accessOptional, (*call).listTemplates},
	{"createTemplate", http.MethodPost, "/templates", scopeInstancesWrite, (*call).createTemplate},
	{"deleteTemplate", http.MethodDelete, "/templates/{slug}", scopeInstancesWrite, (*call).deleteTemplate},

	{"listSshKeys", http.MethodGet, "/ssh-keys", scopeUserRead, (*call).listSSHKeys},
	{"createSshKey", http.MethodPost, "/ssh-keys", scopeUserWrite, (*call).createSSHKey},
	{"deleteSshKey", http.MethodDelete, "/ssh-keys/{id}", scopeUserWrite, (*call).deleteSSHKey},

	{"listInstances", http.MethodGet, "/instances", scopeInstancesRead, (*call).listInstances},
	{"createInstance", http.MethodPost, "/instances", scopeInstancesWrite, (*call).createInstance},
	{"getInstance", http.MethodGet, "/instances/{id}", scopeInstancesRead, (*call).getInstance},
	{"updateInstance", http.MethodPatch, "/instances/{id}", scopeInstancesWrite, (*call).updateInstance},
	{"startInstance", http.MethodPost, "/instances/{id}/start", scopeInstancesWrite, (*call).startInstance},
	{"stopInstance", http.MethodPost, "/instances/{id}/stop", scopeInstancesWrite, (*call).stopInstance},
	{"deleteInstance", http.MethodDelete, "/instances/{id}", scopeInstancesWrite, (*call).deleteInstance},
	{"getInstanceLogs", http.MethodGet, "/instances/{id}/logs", scopeInstancesRead, (*call).getInstanceLogs},

	{"listApiKeys", http.MethodGet, "/api-keys", scopeUserRead, (*call).listAPIKeys},
	{"createApiKey", http.MethodPost, "/api-keys", scopeUserWrite, (*call).createAPIKey},
	{"deleteApiKey", http.MethodDelete, "/api-keys/{id}", scopeUserWrite, (*call).deleteAPIKey},

	{"createDeviceCode", http.MethodPost, "/auth/device", accessPublic, (*call).createDeviceCode},
	{"createDeviceToken", http.MethodPost, "/auth/device/token", accessPublic, (*call).createDeviceToken},

	{"", http.MethodGet, "/openapi.json", accessPublic, (*call).getOpenAPI},
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
		withText(text{"Путь не поддерживает этот метод", "The path does not support this method"}).
		withHeader("Allow", strings.Join(allowed, ", "))
}
