package rental

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// unmarshal decodes one object. encoding/json refuses a whole number such as 60.0 for an integer, which JSON does not
// distinguish from 60, and a whole object for one field of another type. So an object that it refuses is decoded again
// with other spellings of its numbers and without the optional fields that cannot be read. Such a field counts as
// omitted: a server must not become unreadable, and be billed unnoticed, for a field that nothing depends on.
func unmarshal(body []byte, out any) error {
	if json.Unmarshal(body, out) == nil {
		return nil
	}
	value := reflect.ValueOf(out).Elem()
	value.SetZero()
	body = wholeNumbers(body)
	err := json.Unmarshal(body, out)
	object, ok := out.(interface{ required() []string })
	if err == nil || !ok {
		return err
	}
	body = dropUnreadable(body, "", object.required(), func(body []byte) bool {
		return json.Unmarshal(body, reflect.New(value.Type()).Interface()) == nil
	})
	value.SetZero()
	return json.Unmarshal(body, out)
}

// dropUnreadable returns an object without the fields that are unreadable, as readable reports, and not required.
// parent is the path of the object, with a period at its end. required are the paths of the required fields, such as
// gpu.count; the path of an object means all of its fields.
func dropUnreadable(object []byte, parent string, required []string, readable func([]byte) bool) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return object
	}
	for name, value := range fields {
		path := parent + strings.ToLower(name) // encoding/json ignores the case
		inside := func(required string) bool { return strings.HasPrefix(required, path+".") }
		alone := func(value []byte) bool { return readable(marshalFields(map[string]json.RawMessage{name: value})) }
		switch {
		case slices.Contains(required, path) || alone(value):
		case slices.ContainsFunc(required, inside):
			fields[name] = dropUnreadable(value, path+".", required, alone)
		default:
			delete(fields, name)
		}
	}
	return marshalFields(fields)
}

func marshalFields(fields map[string]json.RawMessage) []byte {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil // which cannot be read either
	}
	return body
}

// maxWhole is the highest number up to which every whole number has its own float64.
const maxWhole = 1 << 53

// wholeNumbers writes the whole numbers of a JSON text without a fraction and an exponent.
func wholeNumbers(body []byte) []byte {
	whole := make([]byte, 0, len(body))
	for start := 0; start < len(body); {
		end := start + 1
		switch char := body[start]; {
		case char == '"':
			for end < len(body) && body[end] != '"' {
				if body[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(body))
		case char == '-' || '0' <= char && char <= '9':
			for end < len(body) && strings.IndexByte("0123456789.eE+-", body[end]) >= 0 {
				end++
			}
			if number, ok := wholeNumber(body[start:end]); ok {
				whole = strconv.AppendInt(whole, number, 10)
				start = end
			}
		}
		whole = append(whole, body[start:end]...)
		start = end
	}
	return whole
}

// wholeNumber returns the value of a whole number with a fraction or an exponent.
func wholeNumber(token []byte) (number int64, ok bool) {
	if !bytes.ContainsAny(token, ".eE") || !json.Valid(token) {
		return 0, false
	}
	value, err := strconv.ParseFloat(string(token), 64)
	return int64(value), err == nil && value == math.Trunc(value) && math.Abs(value) < maxWhole
}
