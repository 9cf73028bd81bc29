package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// table compares objects with a table of fields.
type table struct {
	name   string
	fields []apidoc.Field
	// seen counts the fields that had a value, those that were null, as "email=null", and the values of enums.
	seen map[string]int
}

func newTable(name string) *table {
	return &table{name: name, fields: apidoc.Fields(name), seen: map[string]int{}}
}

// statuses are all statuses of an instance in an order in which they can be set: destroyed is the last one.
var statuses = append(slices.DeleteFunc(apidoc.Enum("Instance", "status"),
	func(s string) bool { return s == "destroyed" }), "destroyed")

// verify compares an object with all fields. Fields that are not in the table are errors.
func (tb *table) verify(t *testing.T, o object) {
	t.Helper()
	tb.object(t, tb.name, tb.fields, o)
}

func (tb *table) object(t *testing.T, path string, fields []apidoc.Field, o object) {
	t.Helper()
	for name := range o {
		known := slices.ContainsFunc(fields, func(f apidoc.Field) bool { return f.Name == name })
		check(t, known, "%s: the document has no field %q", path, name)
	}
	for _, f := range fields {
		value, present := o[f.Name]
		if !present {
			check(t, !f.Required, "%s: no field %q", path, f.Name)
			continue
		}
		tb.value(t, path+"."+f.Name, f, value)
	}
}

func (tb *table) value(t *testing.T, path string, f apidoc.Field, value any) {
	t.Helper()
	if value == nil || f.Type == "null" {
		check(t, value == nil && f.Nullable, "%s is %v, want %s", path, value, f.Type)
		tb.seen[path+"=null"]++
		return
	}
	tb.seen[path]++
	if !check(t, hasType(f.Type, value), "%s is %T %v, want %s", path, value, value, f.Type) {
		return
	}
	item, isArray := strings.CutPrefix(f.Type, "array of ")
	switch {
	case f.Type == "enum":
		check(t, slices.Contains(strings.Split(f.Values, ","), value.(string)), "%s is %v, want one of %s", path, value,
			f.Values)
		tb.seen[path+"="+value.(string)]++
	case isArray:
		for _, element := range value.([]any) {
			if members, isObject := element.(object); isObject {
				tb.object(t, path, apidoc.Fields(item), members)
			}
		}
	case len(fieldsOf(f)) > 0: // the members of error.details are not defined
		tb.object(t, path, fieldsOf(f), value.(object))
	}
}

// fieldsOf returns the fields of an object, nil if the field is not an object.
func fieldsOf(f apidoc.Field) []apidoc.Field {
	if slices.Contains(apidoc.Tables(), f.Type) {
		return apidoc.Fields(f.Type)
	}
	return f.Fields
}

// hasType reports whether a value has a type of the package apidoc.
func hasType(name string, value any) bool {
	if item, isArray := strings.CutPrefix(name, "array of "); isArray {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !hasType(item, e) })
	}
	switch name {
	case "string", "enum", "known", "Scope", "Secret":
		_, ok := value.(string)
		return ok
	case "boolean":
		_, ok := value.(bool)
		return ok
	case "number":
		_, ok := value.(json.Number)
		return ok
	case "integer", "int64":
		n, ok := value.(json.Number)
		_, err := n.Int64()
		return ok && err == nil
	case "time":
		s, _ := value.(string)
		at, err := time.Parse(time.RFC3339Nano, s)
		_, offset := at.Zone()
		return err == nil && offset == 0 && strings.HasSuffix(s, "Z")
	case "map of string":
		members, ok := value.(object)
		for _, e := range members {
			ok = ok && hasType("string", e)
		}
		return ok
	default: // an object
		_, ok := value.(object)
		return ok
	}
}

// complete checks that every field was seen with a value, null if it is nullable, and each value of an enum. The paths
// in except were not seen: "gpu.count" (a value), "email=null" or "type=refund".
func (tb *table) complete(t *testing.T, except ...string) {
	t.Helper()
	tb.completeFields(t, tb.name, tb.fields, except)
}

func (tb *table) completeFields(t *testing.T, path string, fields []apidoc.Field, except []string) {
	t.Helper()
	for _, f := range fields {
		at := path + "." + f.Name
		short := strings.TrimPrefix(at, tb.name+".")
		if f.Type != "null" && !slices.Contains(except, short) {
			check(t, tb.seen[at] > 0, "%s: never seen with a value", at)
		}
		if f.Nullable && !slices.Contains(except, short+"=null") {
			check(t, tb.seen[at+"=null"] > 0, "%s: never seen null", at)
		}
		if f.Type == "enum" {
			for value := range strings.SplitSeq(f.Values, ",") {
				check(t, tb.seen[at+"="+value] > 0 || slices.Contains(except, short+"="+value),
					"%s: value %q never seen", at, value)
			}
		}
		nested := fieldsOf(f)
		if item, isArray := strings.CutPrefix(f.Type, "array of "); isArray {
			nested = fieldsOf(apidoc.Field{Type: item})
		}
		tb.completeFields(t, at, nested, except)
	}
}
