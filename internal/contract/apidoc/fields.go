package apidoc

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Field is a field of an object.
type Field struct {
	Name string
	// Type is "string", "integer", "int64", "number", "boolean", "time", "object", "null" (always null), the name of
	// another table, "enum", "array of " or "map of " and another type. "known" is a string with known values.
	Type string
	// Values are those of an enum or of a known string, separated by commas.
	Values             string
	Nullable, Required bool
	// Fields are those of an object without a separate table.
	Fields []Field

	schema *openapi3.Schema
}

// Tables returns the names of all schemas with fields.
func Tables() (names []string) {
	for name, schema := range document.Components.Schemas {
		if len(schema.Value.Properties) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// Fields returns the fields of a schema, sorted by name. It panics if there is no such schema.
func Fields(table string) []Field { return fieldsOf(document.Components.Schemas[table].Value) }

func fieldsOf(schema *openapi3.Schema) (fields []Field) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		f := Field{
			Name: name, Nullable: property.Value.Nullable, Required: slices.Contains(schema.Required, name),
			schema: property.Value,
		}
		f.Type, f.Values = typeOf(property)
		if f.Type == "object" {
			f.Fields = fieldsOf(property.Value)
		}
		fields = append(fields, f)
	}
	return fields
}

// typeOf returns the type and the values of a field.
func typeOf(ref *openapi3.SchemaRef) (name, values string) {
	schema := ref.Value
	known, extensible := schema.Extensions["x-extensible-enum"].([]any)
	switch {
	case extensible:
		return "known", strings.Join(texts(known), ",")
	case schema.Not != nil: // only null is valid
		return "null", ""
	case ref.Ref != "":
		return schemaName(ref), ""
	case len(schema.Enum) > 0:
		return "enum", strings.Join(texts(schema.Enum), ",")
	case schema.Type.Is(openapi3.TypeArray):
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

// Enum returns the values of a field that is an enum.
func Enum(table, field string) []string {
	return texts(document.Components.Schemas[table].Value.Properties[field].Value.Enum)
}
