package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// load returns the document. It fails the test if the document, an example or a default is not valid OpenAPI.
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
	if doc.OpenAPI != "3.0.3" || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s, version %s; want 3.0.3, %s", doc.OpenAPI, doc.Info.Version, "1.0.0")
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

func TestOperations(t *testing.T) {
	doc := load(t)
	for _, o := range apidoc.Operations {
		op := doc.Paths.Value(o.Path).GetOperation(o.Method)
		if scope := op.Extensions["x-scope"]; op.OperationID != o.ID || scope != o.Scope {
			t.Errorf("%s is %s with scope %v, want %s", o.ID, op.OperationID, scope, o.Scope)
		}
		statuses := slices.Sorted(maps.Keys(op.Responses.Map()))
		if got := strings.Join(statuses, " "); got != o.Statuses {
			t.Errorf("%s returns %s, want %s", o.ID, got, o.Statuses)
		}
		private := o.Scope != "public" && o.Scope != "optional"
		if private != (op.Security == nil) { // private operations inherit the document's requirement
			t.Errorf("%s with scope %s: security %v", o.ID, o.Scope, op.Security)
		}
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
			t.Errorf("%s: summary %q, description %q, tags %v; want all, and one tag of the document",
				o.ID, op.Summary, op.Description, op.Tags)
		}
		if got := bodyOf(op); got != o.Body {
			t.Errorf("%s has the body %q, want %q", o.ID, got, o.Body)
		}
		if got := strings.Join(queryOf(t, op), " "); got != o.Query {
			t.Errorf("%s has the query parameters %q, want %q", o.ID, got, o.Query)
		}
	}
	all := 0
	for _, item := range doc.Paths.Map() {
		all += len(item.Operations())
	}
	if all != len(apidoc.Operations) || all < 25 {
		t.Errorf("%d operations, want %d", all, len(apidoc.Operations))
	}
}

// bodyOf returns the name of the schema of the request body, "" without a body.
func bodyOf(op *openapi3.Operation) string {
	if op.RequestBody == nil {
		return ""
	}
	return strings.TrimPrefix(op.RequestBody.Value.Content.Get("application/json").Schema.Ref, "#/components/schemas/")
}

// queryOf returns the names of the query parameters, which are all optional.
func queryOf(t *testing.T, op *openapi3.Operation) (names []string) {
	t.Helper()
	for _, parameter := range op.Parameters {
		if parameter.Value.In != "query" {
			continue
		}
		names = append(names, parameter.Value.Name)
		if parameter.Value.Required {
			t.Errorf("%s: query parameter %s is required", op.OperationID, parameter.Value.Name)
		}
	}
	return names
}

func TestErrorCodes(t *testing.T) {
	doc := load(t)
	want := map[string][]string{}
	for code, status := range apidoc.Errors {
		want[fmt.Sprint(status)] = append(want[fmt.Sprint(status)], code)
	}
	anyOrder := cmpopts.SortSlices(strings.Compare)
	documented := make(map[string]bool)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if status < "400" {
					continue
				}
				got := codes(response.Value.Content.Get("application/json").Schema)
				if diff := cmp.Diff(want[status], got, anyOrder); diff != "" {
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
		t.Errorf("errors have the statuses %v, want %v", slices.Sorted(maps.Keys(documented)),
			slices.Sorted(maps.Keys(want)))
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

func TestAcceptLanguage(t *testing.T) {
	for path, item := range load(t).Paths.Map() {
		if item.Parameters.GetByInAndName("header", "Accept-Language") == nil {
			t.Errorf("%s: no Accept-Language", path)
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
		"limit":                     {query("/offers", "limit"), 50.0},
		"tail":                      {query("/instances/{id}/logs", "tail"), 200.0},
		"status":                    {query("/instances", "status"), "active"},
		"type of offers":            {query("/offers", "type"), "on_demand"},
		"order":                     {query("/offers", "order"), "price"},
		"type of InstanceCreate":    {field("InstanceCreate", "type"), "on_demand"},
		"launch_mode of a template": {field("TemplateCreate", "launch_mode"), "ssh"},
		"expires_in_days: none":     {field("ApiKeyCreate", "expires_in_days"), nil},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
