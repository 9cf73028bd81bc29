package cost

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// values are the attributes of an object in a plan.
type values struct {
	raw                            json.RawMessage
	attributes, unknown, sensitive map[string]json.RawMessage
	// report is called with the name of each attribute whose value has an unexpected type or range.
	report func(attribute string)
}

// newValues reads an object. unknown and sensitive have true in place of each unknown and sensitive value.
func newValues(object, unknown, sensitive json.RawMessage, report func(string)) values {
	v := values{raw: object, report: report}
	if !isNull(object) && json.Unmarshal(object, &v.attributes) != nil {
		report("the whole object")
	}
	for _, part := range []struct {
		raw  json.RawMessage
		into *map[string]json.RawMessage
	}{{unknown, &v.unknown}, {sensitive, &v.sensitive}} {
		if json.Unmarshal(part.raw, part.into) != nil && hasTrue(part.raw) {
			report("the whole object") // all of it is unknown or sensitive
		}
	}
	return v
}

// isUnknown reports whether the attribute, or a part of it, is not known before the apply.
func (v values) isUnknown(name string) bool { return hasTrue(v.unknown[name]) }

// isHidden reports whether the attribute is unknown, or must not be printed because it is sensitive.
func (v values) isHidden(name string) bool { return v.isUnknown(name) || hasTrue(v.sensitive[name]) }

// text returns a string; empty for null and unknown.
func (v values) text(name string) string {
	var text string
	if raw := v.attributes[name]; !isNull(raw) && json.Unmarshal(raw, &text) != nil {
		v.report(name)
	}
	return text
}

// number returns an amount or a count; nil for null, and for what is unknown or sensitive.
func (v values) number(name string) *int64 {
	raw := v.attributes[name]
	if isNull(raw) || v.isHidden(name) {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
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

// child returns a nested object; empty for null. What is sensitive in it counts for the whole object.
func (v values) child(name string) values {
	return newValues(v.attributes[name], v.unknown[name], v.sensitive[name], func(inner string) {
		v.report(name + "." + inner)
	})
}

// children returns a list or map of objects, by index or key.
func (v values) children(name string) map[string]values {
	found := map[string]values{}
	part := func(raw json.RawMessage) map[string]json.RawMessage {
		var parts map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil && json.Unmarshal(raw, &list) == nil {
			parts = map[string]json.RawMessage{}
			for i, element := range list {
				parts[strconv.Itoa(i)] = element
			}
		}
		return parts
	}
	objects, unknown, sensitive := part(v.attributes[name]), part(v.unknown[name]), part(v.sensitive[name])
	if objects == nil && !isNull(v.attributes[name]) {
		v.report(name)
	}
	for key, object := range objects {
		found[key] = newValues(object, unknown[key], sensitive[key], func(inner string) {
			v.report(name + "." + key + "." + inner)
		})
	}
	return found
}

// texts returns a set or list of strings.
func (v values) texts(name string) []string {
	var texts []string
	if raw := v.attributes[name]; !isNull(raw) && json.Unmarshal(raw, &texts) != nil {
		v.report(name)
	}
	return texts
}

// isNull reports whether a value is null or missing.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// hasTrue reports whether a value of after_unknown or after_sensitive, or a part of it, is true.
func hasTrue(raw json.RawMessage) bool {
	if !bytes.Contains(raw, []byte("true")) {
		return false // nearly all values: it saves their decoding
	}
	return isTrue(decode(raw))
}

func isTrue(value any) bool {
	switch value := value.(type) {
	case bool:
		return value
	case []any:
		return slices.ContainsFunc(value, isTrue)
	case map[string]any:
		for _, part := range value {
			if isTrue(part) {
				return true
			}
		}
	}
	return false
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
