package simulator_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// newBodyChecker returns a function that checks the body of a response against the contract, without enums.
func newBodyChecker(t *testing.T) func(method, path, status string, body any) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract.Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range doc.Components.Schemas {
		for _, property := range schema.Value.Properties {
			property.Value.Enum = nil
			if property.Value.Items != nil {
				property.Value.Items.Value.Enum = nil
			}
		}
	}
	checked := 0
	t.Cleanup(func() {
		if checked < 20 {
			t.Errorf("only %d responses were checked", checked)
		}
	})
	return func(method, path, status string, body any) {
		t.Helper()
		path, _, _ = strings.Cut(path, "?")
		item := doc.Paths.Find(contractPath(path))
		if item == nil {
			t.Fatalf("the contract has no %s", path)
		}
		response := item.GetOperation(method).Responses.Value(status)
		if response == nil {
			t.Fatalf("%s %s: the contract has no status %s", method, path, status)
		}
		if err := response.Value.Content.Get("application/json").Schema.Value.VisitJSON(body,
			openapi3.MultiErrors()); err != nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
		checked++
	}
}

// contractPath returns the path of an operation with placeholders.
func contractPath(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) > 2 {
		parts[2] = map[string]string{"templates": "{slug}"}[parts[1]]
		if parts[2] == "" {
			parts[2] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}
