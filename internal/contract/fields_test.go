package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

func TestFields(t *testing.T) {
	schemas := load(t).Components.Schemas
	listed := apidoc.Tables()
	for _, name := range listed {
		if name == "Error" { // one schema for each code: TestErrorCodes
			continue
		}
		schema := schemas[name]
		if schema == nil {
			t.Errorf("no schema %s", name)
			continue
		}
		want := apidoc.Fields(name)
		slices.SortFunc(want, byName)
		if diff := cmp.Diff(want, fieldsOf(schema.Value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, schema := range schemas {
		properties := schema.Value.Properties
		if item, isPage := strings.CutSuffix(name, "Page"); isPage {
			want := []apidoc.Field{
				{Name: "data", Type: "array of " + item, Required: true},
				{Name: "next_cursor", Type: "NextCursor", Nullable: true, Required: true},
			}
			if diff := cmp.Diff(want, fieldsOf(schema.Value)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			continue
		}
		if len(properties) > 0 && properties["error"] == nil && name != "ValidationIssue" &&
			!slices.Contains(listed, name) {
			t.Errorf("schema %s has no table", name)
		}
	}
}

func byName(a, b apidoc.Field) int { return strings.Compare(a.Name, b.Name) }

// fieldsOf returns the fields of an object schema, sorted by name.
func fieldsOf(schema *openapi3.Schema) []apidoc.Field {
	var fields []apidoc.Field
	for name, property := range schema.Properties {
		f := apidoc.Field{Name: name, Nullable: property.Value.Nullable,
			Required: slices.Contains(schema.Required, name)}
		f.Type, f.Values = typeOf(property)
		if f.Type == "object" {
			f.Fields = fieldsOf(property.Value)
		}
		fields = append(fields, f)
	}
	slices.SortFunc(fields, byName)
	return fields
}

// typeOf returns the type and the enum values as apidoc.Field has them.
func typeOf(ref *openapi3.SchemaRef) (name, values string) {
	schema := ref.Value
	known, extensible := schema.Extensions["x-extensible-enum"].([]any)
	switch {
	case extensible:
		return "known", join(known)
	case schema.Not != nil: // only null is valid
		return "null", ""
	case ref.Ref != "":
		return strings.TrimPrefix(ref.Ref, "#/components/schemas/"), ""
	case len(schema.Enum) > 0:
		return "enum", join(schema.Enum)
	case schema.Type.Is("array"):
		item, values := typeOf(schema.Items)
		return "array of " + item, values
	case schema.AdditionalProperties.Schema != nil:
		item, values := typeOf(schema.AdditionalProperties.Schema)
		return "map of " + item, values
	case schema.Format == "date-time":
		return "time", ""
	case schema.Format == "int64":
		return "int64", ""
	default:
		return schema.Type.Slice()[0], ""
	}
}

func join(values []any) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, fmt.Sprint(value))
	}
	return strings.Join(texts, ",")
}
