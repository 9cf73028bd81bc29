package rental

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxValues is the maximum number of values in one object of a response, in all its collections (urls, lines, scopes,
// ports, env). The API document allows 1000 lines of a log. An empty entry has 3 bytes of JSON, but hundreds in memory.
const maxValues = 4000

// Limits of a page of a list.
const (
	maxPageItems = 5 * MaxPageSize // the API may ignore the requested page size
	maxCursor    = 4096            // characters
)

var (
	errNoIdentity = errors.New("the response has no id")
	errNoSecret   = errors.New("the response has no secret, which the API returns only once")
	errNotObject  = errors.New("the entry is not an object")
	errManyValues = fmt.Errorf("the response has more than %d values", maxValues)
	errNoData     = errors.New("the list has no data field")
	errLongPage   = fmt.Errorf("the page of the list has more than %d entries", maxPageItems)
	errLongCursor = fmt.Errorf("the cursor of the list has more than %d characters", maxCursor)
)

// decode decodes the body of a success into out. Unknown fields are ignored, and optional ones can be missing or
// unreadable; the id cannot. With an error, out contains the fields that could be decoded, and the id if possible.
func decode(body []byte, out any) error {
	if list, ok := out.(interface{ decode([]byte) error }); ok {
		return list.decode(body)
	}
	err := decodeObject(body, out)
	if err != nil {
		readIdentity(out, body)
	}
	return err
}

// readIdentity sets the id of an object from a body that cannot be decoded as a whole.
func readIdentity(object any, body []byte) {
	if object, ok := object.(interface{ readIdentity([]byte) }); ok {
		object.readIdentity(body)
	}
}

var errInvalidJSON = errors.New("the response is not valid JSON")

// decodeObject decodes and checks one object. Its errors do not contain those of encoding/json, which quote the body.
func decodeObject(body []byte, out any) error {
	if values, _ := countJSON(body); values > maxValues {
		return errManyValues
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return errNotObject
	}
	if err := unmarshal(body, out); err != nil {
		return unmarshalError(err)
	}
	if object, ok := out.(interface{ identity() string }); ok && object.identity() == "" {
		return errNoIdentity
	}
	if object, ok := out.(interface{ secret() string }); ok && object.secret() == "" {
		return errNoSecret
	}
	if object, ok := out.(interface{ validate() error }); ok {
		return object.validate()
	}
	return nil
}

// unmarshalError returns an error that names the invalid field.
func unmarshalError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("the field %s of the response is not of type %s", sanitize(wrong.Field), wrong.Type)
	}
	return errInvalidJSON
}

// countJSON counts, without allocation, the commas and opening brackets of a JSON text, which are at least its values
// minus one, and the commas between the entries of the lists in an object.
func countJSON(body []byte) (values, entries int) {
	depth := 0
	inText, escaped := false, false
	for _, char := range body {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = char == '\\', char != '"'
		case char == '"':
			inText = true
		case char == '[' || char == '{':
			values++
			depth++
		case char == ']' || char == '}':
			depth--
		case char == ',':
			values++
			if depth == 2 {
				entries++
			}
		}
	}
	return values, entries
}

// firstText returns the first non-empty string among the named fields of an object. It ignores the rest of the body,
// which can be invalid, incomplete or too large.
func firstText(body []byte, names ...string) string {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for {
		key, err := decoder.Token()
		if err != nil || key == json.Delim('}') {
			return ""
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return ""
		}
		var text string
		for _, name := range names {
			if key == name && json.Unmarshal(value, &text) == nil && text != "" {
				return text
			}
		}
	}
}

// page is one page of a list.
type page[T any] struct {
	items   []T
	skipped []Skipped
	next    string // the cursor of the next page; empty on the last one
	bytes   int    // size of the body
}

// decode decodes the entries one by one, and skips those that cannot be decoded.
func (p *page[T]) decode(body []byte) error {
	p.bytes = len(body)
	if _, entries := countJSON(body); entries >= maxPageItems {
		return errLongPage
	}
	// Data is a pointer to distinguish an empty list from a body that is not a list.
	var envelope struct {
		Data       *[]json.RawMessage `json:"data"`
		NextCursor *string            `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return unmarshalError(err)
	}
	if envelope.Data == nil {
		return errNoData
	}
	if envelope.NextCursor != nil {
		p.next = *envelope.NextCursor
	}
	if len(p.next) > maxCursor {
		return errLongCursor
	}
	p.items = make([]T, 0, len(*envelope.Data))
	for _, entry := range *envelope.Data {
		var item T
		if err := decodeObject(entry, &item); err != nil {
			p.skipped = append(p.skipped, Skipped{ID: firstText(entry, "id", "slug"), Err: err})
			continue
		}
		p.items = append(p.items, item)
	}
	return nil
}
