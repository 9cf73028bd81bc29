package apidoc

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Bound is a field of a request body with values at the edges of its bounds.
type Bound struct {
	Table, Field   string
	Valid, Invalid []any
}

// Bounds are the bounds of all request bodies. InvalidTypes has the values of other types.
var Bounds = func() (bounds []Bound) {
	for _, op := range Operations {
		if op.Body == "" {
			continue
		}
		for _, field := range Fields(op.Body) {
			valid, invalid := edges(field.schema)
			bounds = append(bounds, Bound{op.Body, field.Name, valid, invalid})
		}
	}
	return bounds
}()

// InvalidTypes returns a value of each JSON type that a field of a request body must not have. Null is among them only
// if the field is required: the document does not define null for optional fields.
func InvalidTypes(f Field) []any {
	invalid := otherTypes(f.schema)
	if f.Required && !f.Nullable {
		invalid = append(invalid, nil)
	}
	return invalid
}

func otherTypes(schema *openapi3.Schema) (invalid []any) {
	for _, value := range []struct {
		name  string
		value any
	}{{"string", "x"}, {"number", 1.5}, {"boolean", true}, {"array", []any{}}, {"object", map[string]any{}}} {
		if !schema.Type.Is(value.name) {
			invalid = append(invalid, value.value)
		}
	}
	return invalid
}

// QueryBound is a query parameter with values at the edges of its bounds.
type QueryBound struct {
	Path, Name     string
	Valid, Invalid []string
}

// malformedQuery are values that no query parameter of a type has.
var malformedQuery = map[string][]string{
	"integer": {"x", "", "1e1", "1.0", "0x10", " 1", "NaN", "99999999999999999999"},
	"number":  {"x", "", "NaN", "Inf", "-Inf", "1e999", "1.2.3"},
	"boolean": {"x", "", "yes", "2", "TRUE!", "null"},
}

// QueryBounds are the bounds of query parameters. A parameter that several operations share is listed once.
var QueryBounds = func() (bounds []QueryBound) {
	shared := map[string]bool{}
	for _, op := range Operations {
		item := document.Paths.Value(op.Path)
		for _, parameter := range item.GetOperation(op.Method).Parameters {
			schema := parameter.Value.Schema.Value
			valid, invalid := edges(schema)
			if op.Method != http.MethodGet || len(valid) == 0 || shared[parameter.Ref] {
				continue
			}
			shared[parameter.Ref] = parameter.Ref != ""
			if schema.Pattern != "" { // the document does not define an empty list of items
				invalid = slices.DeleteFunc(invalid, func(value any) bool { return value == "" })
			}
			bounds = append(bounds, QueryBound{
				op.Path, parameter.Value.Name, queryTexts(valid),
				append(queryTexts(invalid), malformedQuery[schema.Type.Slice()[0]]...),
			})
		}
	}
	return bounds
}()

func queryTexts(values []any) (all []string) {
	for _, value := range values {
		if number, ok := value.(float64); ok {
			value = strconv.FormatFloat(number, 'f', -1, 64)
		}
		all = append(all, fmt.Sprint(value))
	}
	return all
}

// edges returns values at the edges of the bounds of a schema, and values beyond them. It returns no valid value if the
// schema has no bounds, because the service can have further conditions (an id, a public key). The valid value of a
// pattern is the example of the schema.
func edges(schema *openapi3.Schema) (valid, invalid []any) {
	switch {
	case schema.Not != nil:
		invalid = []any{"", "x"}
	case len(schema.Enum) > 0:
		first := fmt.Sprint(schema.Enum[0])
		valid = slices.Clone(schema.Enum)
		invalid = []any{"", "x", strings.ToUpper(first), first + "," + first, "+" + first, first + " "}
	case schema.Type.Is(openapi3.TypeBoolean):
		valid = []any{true, false}
	case schema.Type.Is(openapi3.TypeArray):
		valid, invalid = arrayEdges(schema)
	case schema.Type.Is(openapi3.TypeObject):
		valid, invalid = mapEdges(schema)
	case schema.Type.Is(openapi3.TypeString):
		valid, invalid = textEdges(schema)
	default:
		valid, invalid = numberEdges(schema)
	}
	if schema.Nullable {
		valid = append(valid, nil)
	}
	return valid, invalid
}

func numberEdges(schema *openapi3.Schema) (valid, invalid []any) {
	step := 0.001
	if schema.Type.Is(openapi3.TypeInteger) {
		step = 1
		invalid = append(invalid, 100.5)
	} else {
		valid = append(valid, 0.5)
	}
	if schema.Min != nil {
		valid = append(valid, *schema.Min)
		invalid = append(invalid, *schema.Min-step, -1.0)
		if *schema.Min > 0 {
			invalid = append(invalid, 0.0)
		}
	}
	if schema.Max != nil {
		valid = append(valid, *schema.Max)
		invalid = append(invalid, *schema.Max+step)
	} else {
		valid = append(valid, 1000.0)
	}
	return valid, invalid
}

// malformed are texts that a pattern may refuse.
var malformed = []string{"", "a", "a:", "host:5000/a", "a\nb", "a\n\n", "0", "3", "16", "-1", "1.5", "1,x", "DEU", "de"}

// textEdges has texts of characters of two and four bytes, because bounds count characters.
func textEdges(schema *openapi3.Schema) (valid, invalid []any) {
	shortest := size(schema.MinLength)
	for _, char := range []string{"я", "🦊"} {
		if schema.MaxLength != nil {
			longest := size(*schema.MaxLength)
			valid = append(valid, strings.Repeat(char, longest), strings.Repeat(char, shortest))
			invalid = append(invalid, strings.Repeat(char, longest+1))
		}
		if shortest > 0 {
			invalid = append(invalid, strings.Repeat(char, shortest-1), "")
		}
	}
	if schema.Example != nil {
		valid = append(valid, schema.Example)
	}
	for _, text := range malformed {
		if schema.Pattern != "" && schema.VisitJSON(text) != nil {
			invalid = append(invalid, text)
		}
	}
	return valid, invalid
}

func arrayEdges(schema *openapi3.Schema) (valid, invalid []any) {
	items, bad := edges(schema.Items.Value)
	for _, item := range slices.Concat(bad, otherTypes(schema.Items.Value), []any{nil}) {
		invalid = append(invalid, []any{item})
	}
	if len(items) > 0 {
		valid = append(valid, items)
	}
	if schema.MinItems == 0 {
		valid = append(valid, []any{})
	} else {
		invalid = append(invalid, []any{})
	}
	if schema.MaxItems != nil {
		longest := size(*schema.MaxItems)
		if len(items) > 0 {
			valid = append(valid, slices.Repeat(items[:1], longest))
		}
		invalid = append(invalid, slices.Repeat(append(items, "x")[:1], longest+1))
	}
	return valid, invalid
}

func mapEdges(schema *openapi3.Schema) (valid, invalid []any) {
	entries := func(n int) map[string]any {
		all := map[string]any{}
		for i := range n {
			all[fmt.Sprint("NAME_", i)] = ""
		}
		return all
	}
	valid = append(valid, entries(0))
	if schema.MaxProps != nil {
		valid = append(valid, entries(size(*schema.MaxProps)))
		invalid = append(invalid, entries(size(*schema.MaxProps)+1))
	}
	if element := schema.AdditionalProperties.Schema; element != nil {
		for _, value := range append(otherTypes(element.Value), nil) {
			invalid = append(invalid, map[string]any{"A": value})
		}
	}
	return valid, invalid
}

func size(bound uint64) int { return int(bound) } //nolint:gosec // the bounds of the document are small
