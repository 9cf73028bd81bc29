package rental

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// maxValues bounds how many values one thing of an answer may hold in all its collections (urls, lines, scopes, ports, env). The most that
// the document allows are the 1000 lines of a log. Three bytes of an empty entry would become hundreds in memory.
const maxValues = 4000

// Bounds of a page of a list.
const (
	maxPageItems = 5 * MaxPageSize // in case the service does not respect the size asked for
	maxCursor    = 4096            // characters
)

var (
	errEmptyAnswer = errors.New("the answer is empty")
	errNoIdentity  = errors.New("the answer has no id")
	errNoSecret    = errors.New("the answer has no secret, which is returned only once")
	errNotObject   = errors.New("the entry is not an object")
	errManyValues  = fmt.Errorf("the answer has more than %d values", maxValues)
	errNoData      = errors.New("the list has no data field")
	errLongPage    = fmt.Errorf("the list's page has more than %d entries", maxPageItems)
	errLongCursor  = fmt.Errorf("the list's cursor has more than %d characters", maxCursor)
)

// decode reads a success. Unknown fields and absent optional ones are fine; an answer without an id is not. When it fails, out holds what
// could be read, and at least the id where there is one: see readIdentity.
func decode(resp *http.Response, body []byte, out any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return errEmptyAnswer
	}
	if list, ok := out.(interface{ decode([]byte) error }); ok {
		return list.decode(body)
	}
	err := decodeObject(body, out)
	if err == nil {
		return nil
	}
	if made, ok := out.(interface{ readIdentity([]byte) }); ok {
		made.readIdentity(body)
	}
	if kind := resp.Header.Get("Content-Type"); errors.Is(err, errBrokenJSON) && !isJSON(kind) {
		return fmt.Errorf("the answer is not JSON but %q; does the base URL lead to the service?", plain(kind))
	}
	return err
}

var errBrokenJSON = errors.New("the answer's JSON is broken")

// decodeObject reads and checks one thing. The errors of encoding/json are not repeated as they are, for they quote the body.
func decodeObject(body []byte, out any) error {
	if countValues(body) > maxValues {
		return errManyValues
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return errNotObject
	}
	if err := json.Unmarshal(body, out); err != nil {
		return unmarshalError(err, "")
	}
	if named, ok := out.(interface{ identity() string }); ok && named.identity() == "" {
		return errNoIdentity
	}
	if secretive, ok := out.(interface{ secret() string }); ok && secretive.secret() == "" {
		return errNoSecret
	}
	if checked, ok := out.(interface{ validate() error }); ok {
		return checked.validate()
	}
	return nil
}

// unmarshalError names the field that is wrong, below prefix.
func unmarshalError(err error, prefix string) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("the answer's field %s%s is not of type %s", prefix, plain(wrong.Field), wrong.Type)
	}
	return errBrokenJSON
}

// countValues counts the separators and brackets of a JSON text: at least as many as it has values, less one. It allocates nothing.
func countValues(body []byte) int {
	count := 0
	inText, escaped := false, false
	for _, char := range body {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = char == '\\', char != '"'
		case char == '"':
			inText = true
		case char == ',' || char == '[' || char == '{':
			count++
		}
	}
	return count
}

// firstText returns the first text that an object has under one of the names. It needs no more of the body than what comes before, so that
// the id of a server can be read from an answer whose rest is broken, cut or too large.
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
	bytes   int    // size of the answer
}

// decode reads a page entry by entry: an entry that cannot be read is left out, and breaks no other.
func (p *page[T]) decode(body []byte) error {
	p.bytes = len(body)
	if err := checkPageSize(body); err != nil {
		return err
	}
	// Data is a pointer to tell an empty list from an answer that is no list at all.
	var answer struct {
		Data       *[]json.RawMessage `json:"data"`
		NextCursor *string            `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return unmarshalError(err, "")
	}
	if answer.Data == nil {
		return errNoData
	}
	if answer.NextCursor != nil {
		p.next = *answer.NextCursor
	}
	if len(p.next) > maxCursor {
		return errLongCursor
	}
	p.items = make([]T, 0, len(*answer.Data))
	for _, entry := range *answer.Data {
		var item T
		if err := decodeObject(entry, &item); err != nil {
			p.skipped = append(p.skipped, Skipped{ID: firstText(entry, "id", "slug"), Err: err})
			continue
		}
		p.items = append(p.items, item)
	}
	return nil
}

// checkPageSize refuses a page before it is read. It counts the commas in what the envelope holds, whatever the rest is.
func checkPageSize(body []byte) error {
	depth, commas := 0, 0
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
			depth++
		case char == ']' || char == '}':
			depth--
		case char == ',' && depth == 2:
			commas++
		}
	}
	if commas >= maxPageItems {
		return errLongPage
	}
	return nil
}
