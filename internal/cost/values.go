package cost

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// values are the attributes of an object in a plan, without null ones.
type values struct {
	raw        json.RawMessage
	attributes map[string]any // what is unknown or sensitive is hidden
	// report is called with the name of each attribute whose value has an unexpected type or range.
	report func(attribute string)
}

// hiddenValue replaces a value that is not known before the apply, or that must not be printed.
type hiddenValue string

const hidden hiddenValue = "not known before the apply, or sensitive"

// newValues reads an object. unknown and sensitive have true in place of each unknown and sensitive value.
func newValues(object, unknown, sensitive json.RawMessage, report func(string)) values {
	v := asObject(marked(decode(object), decode(unknown), decode(sensitive)), report)
	v.raw = object
	return v
}

// asObject returns the attributes of a value; none of null.
func asObject(value any, report func(string)) values {
	attributes, ok := value.(map[string]any)
	if !ok && value != nil {
		report("the whole object")
	}
	return values{attributes: attributes, report: report}
}

// marked returns a value without null attributes and with its hidden parts.
func marked(value, unknown, sensitive any) any {
	if isWhole(sensitive, value) || isWhole(unknown, value) {
		return hidden
	}
	switch value := value.(type) {
	case []any:
		unknown, _ := unknown.([]any)
		sensitive, _ := sensitive.([]any)
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = marked(element, at(unknown, i), at(sensitive, i))
		}
		return list
	case map[string]any:
		unknown, _ := unknown.(map[string]any)
		sensitive, _ := sensitive.(map[string]any)
		object := map[string]any{}
		for _, names := range []map[string]any{value, unknown} { // the value does not contain what is unknown
			for name := range names {
				if part := marked(value[name], unknown[name], sensitive[name]); part != nil {
					object[name] = part
				}
			}
		}
		return object
	}
	return value
}

// isWhole reports whether a mark of after_unknown or after_sensitive is for a whole value, and not for parts of it.
func isWhole(mark, value any) bool {
	return mark == true || hasTrue(mark) && reflect.TypeOf(mark) != reflect.TypeOf(value)
}

func hasTrue(mark any) bool { return contains(mark, func(part any) bool { return part == true }) }

// contains reports whether a value or a part of it matches.
func contains(value any, matches func(any) bool) bool {
	inner := func(part any) bool { return contains(part, matches) }
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, inner)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), inner)
	}
	return matches(value)
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// isHidden reports whether the attribute, or a part of it, is unknown or sensitive.
func (v values) isHidden(name string) bool {
	return contains(v.attributes[name], func(part any) bool { return part == hidden })
}

// get returns an attribute of a type; zero for null and what is hidden.
func get[T any](v values, name string) T {
	attribute := v.attributes[name]
	value, ok := attribute.(T)
	if !ok && attribute != nil && attribute != hidden {
		v.report(name)
	}
	return value
}

// text returns a string; empty for null and what is hidden.
func (v values) text(name string) string { return get[string](v, name) }

// number returns an amount or a count; nil for null and what is hidden.
func (v values) number(name string) *int64 {
	number := get[json.Number](v, name)
	if number == "" {
		return nil
	}
	n, err := number.Int64()
	if err != nil || n < 0 || n > maxKopH {
		v.report(name)
		return nil
	}
	return &n
}

// count returns a number; 0 for nil.
func (v values) count(name string) int64 {
	if n := v.number(name); n != nil {
		return *n
	}
	return 0
}

// child returns a nested object; empty for null.
func (v values) child(name string) values {
	return asObject(v.attributes[name], func(inner string) { v.report(name + "." + inner) })
}

// decode returns a JSON value with its numbers as they are written; nil for null and for what is not JSON.
func decode(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}
