package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := apidoc.Load()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// What the API document states about all operations: which statuses an operation has, and which operations need a key.
func TestOperations_FollowTheRulesOfTheDocument(t *testing.T) {
	doc := load(t)
	for path, item := range doc.Paths.Map() {
		if item.Parameters.GetByInAndName("header", "Accept-Language") == nil {
			t.Errorf("%s: no Accept-Language", path)
		}
		for _, op := range item.Operations() {
			scope := fmt.Sprint(op.Extensions["x-scope"])
			private := slices.Contains(apidoc.Scopes, scope)
			if !private && scope != "public" && scope != "optional" || private != (op.Security == nil) {
				t.Errorf("%s has the scope %s and the security %v", op.OperationID, scope, op.Security)
			}
			if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s: summary %q, description %q, tags %v", op.OperationID, op.Summary, op.Description, op.Tags)
			}
			input := op.RequestBody != nil
			for _, parameter := range op.Parameters {
				input = input || parameter.Value.In == "query"
				if parameter.Value.Required != (parameter.Value.In == "header") {
					t.Errorf("%s: parameter %s is required: %t", op.OperationID, parameter.Value.Name, parameter.Value.Required)
				}
			}
			for status, want := range map[int]bool{401: scope != "public", 403: private, 422: input, 429: true, 500: true} {
				if got := op.Responses.Status(status) != nil; got != want {
					t.Errorf("%s returns %d: %t, want %t", op.OperationID, status, got, want)
				}
			}
		}
	}
}

// Each code has one status and is described. The headers of a response are all required.
func TestResponses_CodesAndHeaders(t *testing.T) {
	for _, item := range load(t).Paths.Map() {
		for _, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				codes := apidoc.Codes(response.Value)
				if (len(codes) > 0) != (status >= "400") {
					t.Errorf("%s: the codes of %s are %v", op.OperationID, status, codes)
				}
				for _, code := range codes {
					if fmt.Sprint(apidoc.Errors[code]) != status ||
						!strings.Contains(*response.Value.Description, "`"+code+"`") {
						t.Errorf("%s: %s has another status than %s, or is not described", op.OperationID, code, status)
					}
				}
				want := []string{"Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
				catalog := slices.Contains([]string{"listGpus", "listOffers", "listTemplates"}, op.OperationID)
				switch {
				case status == "429":
					want = append(want, "Retry-After")
				case status == "200" && op.OperationID == "createInstance":
					want = append(want, "Idempotent-Replayed")
				}
				if catalog && (status == "200" || status == "429") {
					want = append(want, "Access-Control-Allow-Origin")
				}
				slices.Sort(want)
				required := maps.Clone(response.Value.Headers)
				maps.DeleteFunc(required, func(_ string, h *openapi3.HeaderRef) bool { return !h.Value.Required })
				if diff := cmp.Diff(want, slices.Sorted(maps.Keys(required))); diff != "" {
					t.Errorf("%s %s: required headers (-want +got):\n%s", op.OperationID, status, diff)
				}
				cached := required["Cache-Control"].Value.Schema.Value.VisitJSON("public, max-age=60") == nil
				if cached != (catalog && status == "200") {
					t.Errorf("%s %s may be cached: %t", op.OperationID, status, cached)
				}
			}
		}
	}
	if len(apidoc.Errors) != 13 {
		t.Errorf("%d codes: %v", len(apidoc.Errors), apidoc.Errors)
	}
}

// Clients ignore unknown fields, and the API document does not say that the API refuses them. An enum has no null,
// because code generators turn it into a constant such as "<nil>".
func TestSchemas_DescribedUsedAndOpen(t *testing.T) {
	doc, text := load(t), string(contract.Document())
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" || !strings.Contains(text, `"#/components/schemas/`+name+`"`) {
			t.Errorf("schema %s is not used, or has no description", name)
		}
		for field, ref := range schema.Value.Properties {
			// The schema describes the error object. The name of a page describes its data.
			if ref.Value.Description == "" && field != "error" && field != "data" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
	err := doc.WalkSchemas(func(pointer string, ref *openapi3.SchemaRef) error {
		allowed := ref.Value.AdditionalProperties.Has
		if allowed != nil && !*allowed && !strings.HasSuffix(pointer, "/InstanceCreate/properties/env") ||
			slices.Contains(ref.Value.Enum, nil) {
			t.Errorf("%s forbids unknown fields, or has null in its enum", pointer)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The values that the tests of the simulator send are valid and invalid in the contract, too.
func TestBounds_AreThoseOfTheSchemas(t *testing.T) {
	schemas := load(t).Components.Schemas
	check := func(table, field string, value any, valid bool) {
		t.Helper()
		var decoded any
		if encoded, err := json.Marshal(value); err != nil || json.Unmarshal(encoded, &decoded) != nil {
			t.Fatal(table, field, err)
		}
		if err := schemas[table].Value.Properties[field].Value.VisitJSON(decoded); (err == nil) != valid {
			t.Errorf("%s.%s accepts %.80v: %t, want %t", table, field, value, !valid, valid)
		}
	}
	for _, bound := range apidoc.Bounds {
		for _, value := range bound.Valid {
			check(bound.Table, bound.Field, value, true)
		}
		for _, value := range bound.Invalid {
			check(bound.Table, bound.Field, value, false)
		}
		for _, field := range apidoc.Fields(bound.Table) {
			for _, value := range apidoc.InvalidTypes(field) {
				check(bound.Table, field.Name, value, false)
			}
		}
	}
}
