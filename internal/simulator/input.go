package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

var (
	textRequired    = text{"обязательное поле", "is required"}
	textUnknown     = text{en: "unknown field"}
	textNotString   = text{"должно быть строкой", "must be a string"}
	textNotInteger  = text{"должно быть целым числом", "must be an integer"}
	textNotNumber   = text{"должно быть числом", "must be a number"}
	textWrongType   = text{en: "has the wrong type"}
	textNotBool     = text{"должно быть true или false", "must be true or false"}
	textNotArray    = text{"должно быть массивом строк", "must be an array of strings"}
	textNotIntegers = text{"должно быть массивом целых чисел", "must be an array of integers"}
	textNotMap      = text{"должно быть объектом со строковыми значениями", "must be an object of string values"}
	textLength      = text{"длина должна быть от %d до %d символов", "must be %d to %d characters long"}
	textRange       = text{"должно быть от %d до %d", "must be between %d and %d"}
	textItems       = text{"не более %d элементов", "at most %d items"}
	textOneOf       = text{"допустимые значения: %s", "must be one of: %s"}
	textBadJSON     = text{"тело запроса должно быть одним объектом JSON в UTF-8",
		"the body must be one JSON object in UTF-8"}
	textMediaType = text{"Content-Type должен быть application/json", "Content-Type must be application/json"}
)

// readFields reads the members of a JSON body of at most maxBody bytes. An empty body is an empty object.
func readFields(w http.ResponseWriter, r *http.Request) (*fields, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
		return nil, newError(codeValidation).withStatus(http.StatusRequestEntityTooLarge).
			withText(text{"Тело запроса больше 1 МиБ", "The body is larger than 1 MiB"}).
			withHeader("Connection", "close")
	}
	if err != nil {
		return nil, invalid("body", textBadJSON)
	}
	f := &fields{members: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(body)) == 0 {
		return f, nil
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || (charset != "" && !isUTF8(charset)) {
		return nil, invalid("body", textMediaType)
	}
	if !utf8.Valid(body) || json.Unmarshal(body, &f.members) != nil || f.members == nil {
		return nil, invalid("body", textBadJSON)
	}
	return f, nil
}

func isUTF8(charset string) bool {
	return charset == "utf-8" || charset == "UTF-8" || charset == "utf8"
}

// issues collects all problems, so that one response names all of them.
type issues []issue

func (l *issues) add(field string, t text) { *l = append(*l, issue{field, t}) }

// within returns a value that lies between low and high, or nil.
func (l *issues) within(field string, value *int64, low, high int64) *int64 {
	if value != nil && (*value < low || *value > high) {
		l.add(field, textRange.with(low, high))
		return nil
	}
	return value
}

func (l issues) err() error {
	if len(l) == 0 {
		return nil
	}
	e := newError(codeValidation)
	e.issues = l
	return e
}

// fields reads the members of a JSON object. Each getter returns nil for a member that is absent or invalid; finish
// returns the problems.
type fields struct {
	issues
	members map[string]json.RawMessage
	// strict makes unknown members an error, in the control API. The API document does not define such an error.
	strict bool
	known  []string
}

// raw returns the JSON of a member and marks it as known.
func (f *fields) raw(name string) (json.RawMessage, bool) {
	f.known = append(f.known, name)
	raw, ok := f.members[name]
	return raw, ok
}

// decode decodes a member. Null is invalid.
func decode[T any](f *fields, name string, message text) *T {
	value := new(T)
	if !f.decode(name, value, message) {
		return nil
	}
	return value
}

func (f *fields) decode(name string, value any, message text) bool {
	raw, ok := f.raw(name)
	if ok && (isNull(raw) || json.Unmarshal(raw, value) != nil) {
		f.add(name, message)
		return false
	}
	return ok
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// isNull reports whether a member is null. It marks such a member as known.
func (f *fields) isNull(name string) bool {
	raw, ok := f.members[name]
	if ok && isNull(raw) {
		f.known = append(f.known, name)
		return true
	}
	return false
}

// str reads a string of low to high characters.
func (f *fields) str(name string, low, high int) *string {
	value := decode[string](f, name, textNotString)
	if value == nil {
		return nil
	}
	if n := utf8.RuneCountInString(*value); n < low || n > high {
		f.add(name, textLength.with(low, high))
		return nil
	}
	return value
}

func (f *fields) enum(name string, allowed ...string) *string {
	value := decode[string](f, name, textNotString)
	if value == nil {
		return nil
	}
	if !slices.Contains(allowed, *value) {
		f.add(name, textOneOf.with(joined(allowed)))
		return nil
	}
	return value
}

func (f *fields) integer(name string, low, high int64) *int64 {
	return f.within(name, decode[int64](f, name, textNotInteger), low, high)
}

// number reads a number from 0 to high.
func (f *fields) number(name string, high float64) *float64 {
	value := decode[float64](f, name, textNotNumber)
	if value == nil {
		return nil
	}
	if *value < 0 || *value > high {
		f.add(name, text{en: "must be between 0 and %v"}.with(high))
		return nil
	}
	return value
}

// strings reads an array. Nil means absent.
func (f *fields) strings(name string, maxItems int) []string {
	return list[string](f, name, maxItems, textNotArray)
}

// integers reads an array of integers between low and high.
func (f *fields) integers(name string, maxItems int, low, high int64) []int64 {
	values := list[int64](f, name, maxItems, textNotIntegers)
	for i, v := range values {
		if v < low || v > high {
			f.add(name+"["+strconv.Itoa(i)+"]", textRange.with(low, high))
		}
	}
	return values
}

func list[T any](f *fields, name string, maxItems int, message text) []T {
	// Pointers distinguish null items from zero values.
	items := decode[[]*T](f, name, message)
	if items == nil {
		return nil
	}
	if len(*items) > maxItems {
		f.add(name, textItems.with(maxItems))
		return nil
	}
	values := make([]T, 0, len(*items))
	for _, item := range *items {
		if item == nil {
			f.add(name, message)
			return nil
		}
		values = append(values, *item)
	}
	return values
}

func (f *fields) stringMap(name string, maxItems int) map[string]string {
	members := decode[map[string]*string](f, name, textNotMap)
	if members == nil {
		return nil
	}
	if len(*members) > maxItems {
		f.add(name, textItems.with(maxItems))
		return nil
	}
	values := make(map[string]string, len(*members))
	for k, v := range *members {
		if v == nil {
			f.add(name, textNotMap)
			return nil
		}
		values[k] = *v
	}
	return values
}

// into reads the members that the fields of a struct name, and returns all problems as one error. Null is invalid.
func (f *fields) into(target any) error {
	value := reflect.ValueOf(target).Elem()
	for field, member := range value.Fields() {
		if name := field.Tag.Get("json"); name != "-" {
			f.decode(name, member.Addr().Interface(), textWrongType)
		}
	}
	return f.finish()
}

// require reports members that are absent.
func (f *fields) require(names ...string) {
	for _, name := range names {
		if _, ok := f.members[name]; !ok {
			f.add(name, textRequired)
		}
	}
}

// finish returns all problems as one error.
func (f *fields) finish() error {
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if f.strict && !slices.Contains(f.known, name) {
			f.add(name, textUnknown)
		}
	}
	return f.err()
}
