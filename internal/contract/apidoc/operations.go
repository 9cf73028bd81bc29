package apidoc

// Operation is a row of a table of the chapter "Endpoints".
type Operation struct {
	ID     string // operationId in openapi.json
	Method string
	Path   string // relative to the base address
	Scope  string // scope of the API key; "public": no key is needed; "optional": a key may be sent
	// Statuses are those that the table lists, those of every endpoint (429, 500), those of endpoints with a key
	// (401, 403), and 422 if a query parameter has bounds.
	Statuses string
	Query    string // names of the query parameters
	Body     string // name of the table of the request body, "" without a body
}

// Operations are all operations of the API, in the order of the document.
var Operations = []Operation{
	{"getMe", "GET", "/me", "user:read", "200 401 403 429 500", "", ""},
	{"getBalance", "GET", "/balance", "billing:read", "200 401 403 429 500", "", ""},
	{"listTransactions", "GET", "/transactions", "billing:read", "200 401 403 422 429 500", "limit cursor", ""},

	{"listGpus", "GET", "/gpus", "public", "200 422 429 500", "limit cursor", ""},
	{
		"listOffers", "GET", "/offers", "public", "200 422 429 500",
		"gpu num_gpus min_gpus type country min_reliability min_vram_gb max_price_kop_h verified min_cuda " +
			"min_disk_gb min_inet_down_mbps order limit cursor",
		"",
	},
	{"getOffer", "GET", "/offers/{id}", "public", "200 404 429 500", "", ""},
	{"listTemplates", "GET", "/templates", "optional", "200 401 422 429 500", "limit cursor", ""},
	{"createTemplate", "POST", "/templates", "instances:write", "201 401 403 409 422 429 500", "", "TemplateCreate"},
	{"deleteTemplate", "DELETE", "/templates/{slug}", "instances:write", "204 401 403 404 429 500", "", ""},

	{"listSshKeys", "GET", "/ssh-keys", "user:read", "200 401 403 422 429 500", "limit cursor", ""},
	{"createSshKey", "POST", "/ssh-keys", "user:write", "201 401 403 422 429 500", "", "SshKeyCreate"},
	{"deleteSshKey", "DELETE", "/ssh-keys/{id}", "user:write", "204 401 403 404 429 500", "", ""},

	{"listInstances", "GET", "/instances", "instances:read", "200 401 403 422 429 500", "status limit cursor", ""},
	{
		"createInstance", "POST", "/instances", "instances:write", "200 201 401 402 403 404 409 422 429 500 503", "",
		"InstanceCreate",
	},
	{"getInstance", "GET", "/instances/{id}", "instances:read", "200 401 403 404 429 500", "", ""},
	{"updateInstance", "PATCH", "/instances/{id}", "instances:write", "200 401 403 404 422 429 500", "",
		"InstanceUpdate"},
	{"startInstance", "POST", "/instances/{id}/start", "instances:write", "200 401 402 403 404 409 429 500", "", ""},
	{"stopInstance", "POST", "/instances/{id}/stop", "instances:write", "200 401 403 404 409 429 500", "", ""},
	{"deleteInstance", "DELETE", "/instances/{id}", "instances:write", "200 401 403 404 409 429 500", "", ""},
	{"getInstanceLogs", "GET", "/instances/{id}/logs", "instances:read", "200 401 403 404 422 429 500 503", "tail", ""},

	{"listApiKeys", "GET", "/api-keys", "user:read", "200 401 403 422 429 500", "limit cursor", ""},
	{"createApiKey", "POST", "/api-keys", "user:write", "201 401 403 409 422 429 500", "", "ApiKeyCreate"},
	{"deleteApiKey", "DELETE", "/api-keys/{id}", "user:write", "204 401 403 404 429 500", "", ""},

	{"createDeviceCode", "POST", "/auth/device", "public", "200 422 429 500", "", "DeviceCodeCreate"},
	{"createDeviceToken", "POST", "/auth/device/token", "public", "200 400 422 429 500", "", "DeviceTokenCreate"},
}

// Errors is the table of the chapter "Errors": statuses by code.
var Errors = map[string]int{
	"authorization_pending": 400,
	"slow_down":             400,
	"access_denied":         400,
	"expired_token":         400,
	"unauthorized":          401,
	"insufficient_funds":    402,
	"forbidden":             403,
	"not_found":             404,
	"conflict":              409,
	"validation_error":      422,
	"rate_limited":          429,
	"internal":              500,
	"provider_unavailable":  503,
}
