package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBody is the largest request body in bytes.
const maxBody = 1 << 20

var (
	textRequired    = text{"обязательное поле", "is required"}
	textUnknown     = text{"неизвестное поле", "unknown field"}
	textNotString   = text{"должно быть строкой", "must be a string"}
	textNotInteger  = text{"должно быть целым числом", "must be an integer"}
	textNotNumber   = text{"должно быть числом", "must be a number"}
	textNotBool     = text{"должно быть true или false", "must be true or false"}
	textNotArray    = text{"должно быть массивом строк", "must be an array of strings"}
	textNotIntegers = text{"должно быть массивом целых чисел", "must be an array of integers"}
	textNotMap      = text{"должно быть объектом со строковыми значениями", "must be an object of string values"}
	textLength      = text{"длина должна быть от %d до %d символов", "must be %d to %d characters long"}
	textRange       = text{"должно быть от %d до %d", "must be between %d and %d"}
	textItems       = text{"не более %d элементов", "at most %d items"}
	textOneOf       = text{"допустимые значения: %s", "must be one of: %s"}
	textBadJSON     = text{"тело запроса должно быть одним объектом JSON в UTF-8", "the body must be one JSON object in UTF-8"}
	textMediaType   = text{"Content-Type должен быть application/json", "Content-Type must be application/json"}
)

// readBody reads a JSON body, at most maxBody bytes. An absent body is nil.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
		return nil, fail(codeValidation).answeredAs(http.StatusRequestEntityTooLarge).
			saying("Тело запроса больше 1 МиБ", "The body is larger than 1 MiB").
			withHeader("Connection", "close")
	}
	if err != nil {
		return nil, invalid("body", textBadJSON)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || (charset != "" && !isUTF8(charset)) {
		return nil, invalid("body", textMediaType)
	}
	return body, nil
}

func isUTF8(charset string) bool {
	return charset == "utf-8" || charset == "UTF-8" || charset == "utf8"
}

// issues collects what is wrong, so that one answer names it all.
type issues []issue

func (l *issues) add(field string, t text) { *l = append(*l, issue{field, t}) }

func (l issues) err() error {
	if len(l) == 0 {
		return nil
	}
	e := fail(codeValidation)
	e.issues = l
	return e
}

// fields reads the members of a JSON object one by one. Each getter returns nil for a member that is absent or wrong;
// what is wrong comes out of end.
type fields struct {
	issues
	raw map[string]json.RawMessage
	// strict makes members that no getter asked for wrong; else they are ignored.
	strict bool
	taken  []string
}

// parseStrictFields is for the control API, which refuses members that it does not know.
func parseStrictFields(body []byte) (*fields, error) {
	f, err := parseFields(body)
	if err != nil {
		return nil, err
	}
	f.strict = true
	return f, nil
}

// parseFields takes an empty body for an empty object. Members that nobody asks for are ignored: the API document does
// not say that they are refused.
func parseFields(body []byte) (*fields, error) {
	f := &fields{raw: map[string]json.RawMessage{}}
	if len(body) == 0 {
		return f, nil
	}
	if !utf8.Valid(body) || json.Unmarshal(body, &f.raw) != nil || f.raw == nil {
		return nil, invalid("body", textBadJSON)
	}
	return f, nil
}

// take returns a member's JSON and marks it as known.
func (f *fields) take(name string) (json.RawMessage, bool) {
	f.taken = append(f.taken, name)
	raw, ok := f.raw[name]
	return raw, ok
}

// decode reads a member into a T. JSON null is not a T.
func decode[T any](f *fields, name string, otherwise text) *T {
	raw, ok := f.take(name)
	if !ok {
		return nil
	}
	value := new(T)
	if isNull(raw) || json.Unmarshal(raw, value) != nil {
		f.add(name, otherwise)
		return nil
	}
	return value
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// null tells whether a member is there and null; it is known then.
func (f *fields) null(name string) bool {
	raw, ok := f.raw[name]
	if ok && isNull(raw) {
		f.taken = append(f.taken, name)
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
	value := decode[int64](f, name, textNotInteger)
	if value == nil {
		return nil
	}
	if *value < low || *value > high {
		f.add(name, textRange.with(low, high))
		return nil
	}
	return value
}

func (f *fields) number(name string, low, high float64) *float64 {
	value := decode[float64](f, name, textNotNumber)
	if value == nil {
		return nil
	}
	if *value < low || *value > high {
		f.add(name, text{"должно быть от %v до %v", "must be between %v and %v"}.with(low, high))
		return nil
	}
	return value
}

func (f *fields) boolean(name string) *bool { return decode[bool](f, name, textNotBool) }

// strings reads an array; nil means absent, empty means empty.
func (f *fields) strings(name string, most int) []string {
	return list[string](f, name, most, textNotArray)
}

// integers reads an array of integers, each between low and high.
func (f *fields) integers(name string, most int, low, high int64) []int64 {
	values := list[int64](f, name, most, textNotIntegers)
	for i, v := range values {
		if v < low || v > high {
			f.add(name+"["+strconv.Itoa(i)+"]", textRange.with(low, high))
		}
	}
	return values
}

func list[T any](f *fields, name string, most int, otherwise text) []T {
	// Pointers tell a null item from a zero one.
	items := decode[[]*T](f, name, otherwise)
	if items == nil {
		return nil
	}
	if len(*items) > most {
		f.add(name, textItems.with(most))
		return nil
	}
	values := make([]T, 0, len(*items))
	for _, item := range *items {
		if item == nil {
			f.add(name, otherwise)
			return nil
		}
		values = append(values, *item)
	}
	return values
}

func (f *fields) stringMap(name string, most int) map[string]string {
	members := decode[map[string]*string](f, name, textNotMap)
	if members == nil {
		return nil
	}
	if len(*members) > most {
		f.add(name, textItems.with(most))
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

// need complains about members that are absent.
func (f *fields) need(names ...string) {
	for _, name := range names {
		if _, ok := f.raw[name]; !ok {
			f.add(name, textRequired)
		}
	}
}

// end returns everything wrong as one error.
func (f *fields) end() error {
	for name := range f.raw {
		if f.strict && !slices.Contains(f.taken, name) {
			f.add(name, textUnknown)
		}
	}
	slices.SortStableFunc(f.issues, func(a, b issue) int { return strings.Compare(a.field, b.field) })
	return f.err()
}
