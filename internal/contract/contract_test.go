package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// load returns the document, proven to be valid OpenAPI, its examples and
// defaults included.
func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract.Document())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsValid(t *testing.T) {
	doc := load(t)
	if doc.OpenAPI != "3.0.3" || doc.Info.Version != contract.Version {
		t.Errorf("OpenAPI %s, version %s; want 3.0.3, %s", doc.OpenAPI, doc.Info.Version, contract.Version)
	}
	if doc.Info.Contact == nil || doc.Info.License == nil || doc.Info.License.Name != "MPL-2.0" {
		t.Errorf("contact %+v, license %+v; want both, MPL-2.0", doc.Info.Contact, doc.Info.License)
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "/api/v1" {
		t.Errorf("servers: %+v, want only /api/v1", doc.Servers)
	}
	scheme := doc.Components.SecuritySchemes["bearer"].Value
	if scheme.Type != "http" || scheme.Scheme != "bearer" {
		t.Errorf("security scheme: %s %s, want http bearer", scheme.Type, scheme.Scheme)
	}
}

func TestDocumentIsACopy(t *testing.T) {
	clear(contract.Document())
	if contract.Document()[0] != '{' {
		t.Error("writing to a returned document changed the next one")
	}
}

// wantOperations is the Endpoints section of the API description. The statuses
// are those it lists, those of every endpoint (429, 500), those of endpoints
// with a key (401, 403), and 422 where a query parameter has bounds.
var wantOperations = []struct {
	id, method, path, scope string
	statuses                string
}{
	{"listApiKeys", "GET", "/api-keys", "user:read", "200 401 403 422 429 500"},
	{"createApiKey", "POST", "/api-keys", "user:write", "201 401 403 409 422 429 500"},
	{"deleteApiKey", "DELETE", "/api-keys/{id}", "user:write", "204 401 403 404 429 500"},
	{"createDeviceCode", "POST", "/auth/device", "public", "200 422 429 500"},
	{"createDeviceToken", "POST", "/auth/device/token", "public", "200 400 422 429 500"},
	{"getBalance", "GET", "/balance", "billing:read", "200 401 403 429 500"},
	{"listGpus", "GET", "/gpus", "public", "200 422 429 500"},
	{"listInstances", "GET", "/instances", "instances:read", "200 401 403 422 429 500"},
	{"createInstance", "POST", "/instances", "instances:write", "200 201 401 402 403 404 409 422 429 500 503"},
	{"deleteInstance", "DELETE", "/instances/{id}", "instances:write", "200 401 403 404 409 429 500"},
	{"getInstance", "GET", "/instances/{id}", "instances:read", "200 401 403 404 429 500"},
	{"updateInstance", "PATCH", "/instances/{id}", "instances:write", "200 401 403 404 422 429 500"},
	{"getInstanceLogs", "GET", "/instances/{id}/logs", "instances:read", "200 401 403 404 422 429 500 503"},
	{"startInstance", "POST", "/instances/{id}/start", "instances:write", "200 401 402 403 404 409 429 500"},
	{"stopInstance", "POST", "/instances/{id}/stop", "instances:write", "200 401 403 404 409 429 500"},
	{"getMe", "GET", "/me", "user:read", "200 401 403 429 500"},
	{"listOffers", "GET", "/offers", "public", "200 422 429 500"},
	{"getOffer", "GET", "/offers/{id}", "public", "200 404 429 500"},
	{"listSshKeys", "GET", "/ssh-keys", "user:read", "200 401 403 422 429 500"},
	{"createSshKey", "POST", "/ssh-keys", "user:write", "201 401 403 422 429 500"},
	{"deleteSshKey", "DELETE", "/ssh-keys/{id}", "user:write", "204 401 403 404 429 500"},
	{"listTemplates", "GET", "/templates", "optional", "200 401 422 429 500"},
	{"createTemplate", "POST", "/templates", "instances:write", "201 401 403 409 422 429 500"},
	{"deleteTemplate", "DELETE", "/templates/{slug}", "instances:write", "204 401 403 404 429 500"},
	{"listTransactions", "GET", "/transactions", "billing:read", "200 401 403 422 429 500"},
}

func TestOperations(t *testing.T) {
	var want []contract.Operation
	for _, o := range wantOperations {
		want = append(want, contract.Operation{ID: o.id, Method: o.method, Path: o.path, Scope: o.scope})
	}
	if len(want) != 25 {
		t.Fatalf("the table has %d operations, the service 25", len(want))
	}
	got := contract.Operations()
	byPathAndMethod := func(a, b contract.Operation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	}
	slices.SortFunc(want, byPathAndMethod)
	slices.SortFunc(got, byPathAndMethod)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func TestResponsesOfOperations(t *testing.T) {
	doc := load(t)
	for _, want := range wantOperations {
		op := doc.Paths.Value(want.path).GetOperation(want.method)
		statuses := slices.Sorted(maps.Keys(op.Responses.Map()))
		if got := strings.Join(statuses, " "); got != want.statuses {
			t.Errorf("%s answers %s, want %s", want.id, got, want.statuses)
		}
		private := want.scope != "public" && want.scope != "optional"
		if private != (op.Security == nil) { // private operations inherit the document's requirement
			t.Errorf("%s with scope %s: security %v", want.id, want.scope, op.Security)
		}
	}
}

func TestEveryOperationIsDescribed(t *testing.T) {
	doc := load(t)
	for _, want := range wantOperations {
		op := doc.Paths.Value(want.path).GetOperation(want.method)
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
			t.Errorf("%s: summary %q, description %q, tags %v; want all, and one tag of the document", want.id, op.Summary, op.Description, op.Tags)
		}
	}
}

func TestErrorCodes(t *testing.T) {
	doc := load(t)
	want := map[string][]string{
		"400": {"authorization_pending", "slow_down", "access_denied", "expired_token"},
		"401": {"unauthorized"},
		"402": {"insufficient_funds"},
		"403": {"forbidden"},
		"404": {"not_found"},
		"409": {"conflict"},
		"422": {"validation_error"},
		"429": {"rate_limited"},
		"500": {"internal"},
		"503": {"provider_unavailable"},
	}
	documented := make(map[string]bool)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if status < "400" {
					continue
				}
				got := codes(response.Value.Content.Get("application/json").Schema)
				if diff := cmp.Diff(want[status], got); diff != "" {
					t.Errorf("%s %s: codes of %s (-want +got):\n%s", method, path, status, diff)
				}
				documented[status] = true
				for _, code := range got {
					if !strings.Contains(*response.Value.Description, "`"+code+"`") {
						t.Errorf("%s %s: the description of %s does not explain %s", method, path, status, code)
					}
				}
			}
		}
	}
	if len(documented) != len(want) {
		t.Errorf("errors have the statuses %v, want %v", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(want)))
	}
}

func codes(schema *openapi3.SchemaRef) []string {
	var codes []string
	for _, code := range schema.Value.Properties["error"].Value.Properties["code"].Value.Enum {
		codes = append(codes, fmt.Sprint(code))
	}
	return codes
}

func TestResponseHeaders(t *testing.T) {
	doc := load(t)
	cached := []string{"listGpus", "listOffers", "listTemplates"}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				want := []string{"Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
				catalog := slices.Contains(cached, op.OperationID)
				public := status == "200" && catalog
				if public || status == "429" && catalog {
					want = append(want, "Access-Control-Allow-Origin")
				}
				switch {
				case status == "429":
					want = append(want, "Retry-After")
				case status == "200" && op.OperationID == "createInstance":
					want = append(want, "Idempotent-Replayed")
				}
				slices.Sort(want)
				headers := response.Value.Headers
				if diff := cmp.Diff(want, slices.Sorted(maps.Keys(headers))); diff != "" {
					t.Errorf("%s %s: headers (-want +got):\n%s", op.OperationID, status, diff)
				}
				for name, header := range headers {
					if !header.Value.Required {
						t.Errorf("%s %s: %s is not required", op.OperationID, status, name)
					}
				}
				schema := headers["Cache-Control"].Value.Schema.Value
				if got := schema.VisitJSON("no-store") != nil; got != public {
					t.Errorf("%s %s: refuses no-store: %t, want %t", op.OperationID, status, got, public)
				}
				if got := schema.VisitJSON("public, max-age=60") == nil; got != public {
					t.Errorf("%s %s: accepts max-age=60: %t, want %t", op.OperationID, status, got, public)
				}
			}
		}
	}
}

func TestEveryOperationTakesALanguage(t *testing.T) {
	for path, item := range load(t).Paths.Map() {
		if item.Parameters.GetByInAndName("header", "Accept-Language") == nil {
			t.Errorf("%s: no Accept-Language", path)
		}
	}
}

func TestQueryParameters(t *testing.T) {
	doc := load(t)
	want := map[string]string{
		"listTransactions": "limit cursor",
		"listGpus":         "limit cursor",
		"listOffers": "gpu num_gpus min_gpus type country min_reliability min_vram_gb max_price_kop_h verified min_cuda min_disk_gb " +
			"min_inet_down_mbps order limit cursor",
		"listTemplates":   "limit cursor",
		"listSshKeys":     "limit cursor",
		"listInstances":   "status limit cursor",
		"getInstanceLogs": "tail",
		"listApiKeys":     "limit cursor",
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			var names []string
			for _, parameter := range op.Parameters {
				if parameter.Value.In != "query" {
					continue
				}
				names = append(names, parameter.Value.Name)
				if parameter.Value.Required {
					t.Errorf("%s: query parameter %s is required", op.OperationID, parameter.Value.Name)
				}
			}
			if got := strings.Join(names, " "); got != want[op.OperationID] {
				t.Errorf("%s has the query parameters %q, want %q", op.OperationID, got, want[op.OperationID])
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	doc := load(t)
	query := func(path, name string) any {
		return doc.Paths.Value(path).Get.Parameters.GetByInAndName("query", name).Schema.Value.Default
	}
	field := func(schema, name string) any {
		return doc.Components.Schemas[schema].Value.Properties[name].Value.Default
	}
	tests := map[string]struct{ got, want any }{
		"limit":                      {query("/offers", "limit"), 50.0},
		"tail":                       {query("/instances/{id}/logs", "tail"), 200.0},
		"status":                     {query("/instances", "status"), "active"},
		"type of offers":             {query("/offers", "type"), "on_demand"},
		"order":                      {query("/offers", "order"), "price"},
		"type of InstanceCreate":     {field("InstanceCreate", "type"), "on_demand"},
		"launch_mode of a template":  {field("TemplateCreate", "launch_mode"), "ssh"},
		"expires_in_days has no one": {field("ApiKeyCreate", "expires_in_days"), nil},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
