package rental

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

var (
	errNoIdentity = errors.New("the response has no id")
	errNoSecret   = errors.New("the response has no secret, which the API returns only once")
	errNotObject  = errors.New("the entry is not an object")
	errNoData     = errors.New("the list has no data field")
)

// identified is an object with an id.
type identified interface{ identity() string }

// decode decodes the body of a success into out. Unknown fields are ignored, and optional ones can be missing; the id
// cannot. With an error, out contains the fields that could be decoded, and the id if possible.
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
func readIdentity(out any, body []byte) {
	if object, ok := out.(identified); ok && object.identity() == "" {
		identity, err := json.Marshal(map[string]string{"id": firstText(body, "id"), "slug": firstText(body, "slug")})
		if err == nil {
			_ = json.Unmarshal(identity, out) //nolint:errcheck // best effort
		}
	}
}

var errInvalidJSON = errors.New("the response is not valid JSON")

// decodeObject decodes and checks one object. Its errors do not contain those of encoding/json, which quote the body.
func decodeObject(body []byte, out any) error {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return errNotObject
	}
	if err := unmarshal(body, out); err != nil {
		return unmarshalError(err)
	}
	if object, ok := out.(identified); ok && object.identity() == "" {
		return errNoIdentity
	}
	if object, ok := out.(interface{ validate() error }); ok {
		return object.validate()
	}
	return nil
}

// unmarshal decodes one object. encoding/json refuses a whole number such as 60.0 for an integer, which JSON does not
// distinguish from 60. So an object that it refuses is decoded again with another spelling of its numbers.
func unmarshal(body []byte, out any) error {
	err := json.Unmarshal(body, out)
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); !wrongType {
		return err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	if body, err = json.Marshal(wholeNumbers(value)); err != nil {
		return err
	}
	return json.Unmarshal(body, out)
}

// maxWhole is the highest number up to which every whole number has its own float64.
const maxWhole = 1 << 53

// wholeNumbers replaces the whole numbers with a fraction or an exponent in a JSON value.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		whole := err == nil && number == math.Trunc(number) && math.Abs(number) < maxWhole
		if whole && strings.ContainsAny(value.String(), ".eE") {
			return int64(number)
		}
	case []any:
		for i := range value {
			value[i] = wholeNumbers(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = wholeNumbers(value[name])
		}
	}
	return value
}

// checkSecret returns an error for a missing secret.
func checkSecret(secret string) error {
	if secret == "" {
		return errNoSecret
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
}

// decode decodes the entries one by one, and skips those that cannot be decoded.
func (p *page[T]) decode(body []byte) error {
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
	p.items = make([]T, 0, len(*envelope.Data))
	for _, entry := range *envelope.Data {
		var item T
		if err := decodeObject(entry, &item); err != nil {
			p.skipped = append(p.skipped, Skipped{ID: Printable(firstText(entry, "id", "slug"), maxRequestID), Err: err})
			continue
		}
		p.items = append(p.items, item)
	}
	return nil
}
