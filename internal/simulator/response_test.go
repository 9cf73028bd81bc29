package simulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// response is a response of the simulator, with methods that check and decode it.
type response struct {
	t       testing.TB
	request string
	status  int
	header  http.Header
	body    []byte
}

// want fails the test unless the response has the status.
func (a response) want(status int) response {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %.300s", a.request, a.status, status, a.body)
	}
	return a
}

// object returns the body, which must be a JSON object.
func (a response) object() object {
	a.t.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil || o == nil {
		a.t.Fatalf("%s: the body is no JSON object: %v: %.300s", a.request, err, a.body)
	}
	return o
}

// ok returns the object of a response 200.
func (a response) ok() object { a.t.Helper(); return a.want(http.StatusOK).object() }

// created returns the object of a response 201.
func (a response) created() object { a.t.Helper(); return a.want(http.StatusCreated).object() }

// headerNumber returns a header that must be a whole number.
func (a response) headerNumber(name string) int {
	a.t.Helper()
	n, err := strconv.Atoi(a.header.Get(name))
	check(a.t, err == nil && n >= 0, "%s: header %s is %q, want a whole number", a.request, name, a.header.Get(name))
	return n
}

// failsWith checks the status and the code of an error. It returns the details, nil if there are none.
func (a response) failsWith(code string) object {
	a.t.Helper()
	return a.failsWithStatus(apidoc.Errors[code], code)
}

// failsWithStatus is like failsWith for a status that is not in the table of errors.
func (a response) failsWithStatus(status int, code string) object {
	a.t.Helper()
	failure := a.want(status).object()
	if failure.text("error.code") != code || failure.text("error.message") == "" {
		a.t.Fatalf("%s: want the code %s: %.300s", a.request, code, a.body)
	}
	return failure.object("error.details")
}

// invalid checks a 422 response whose issues name the field.
func (a response) invalid(field string) {
	a.t.Helper()
	issues := a.failsWith("validation_error").objects("issues")
	check(a.t, slices.ContainsFunc(issues, func(issue object) bool {
		name := issue.text("field")
		return strings.EqualFold(name, field) || strings.HasPrefix(name, field+".") || strings.HasPrefix(name, field+"[")
	}), "%s: no issue of %q: %.300s", a.request, field, a.body)
}

// object is a JSON object. Its methods find a member by its path, such as "gpu.slug". They return the zero value if
// the member is null or missing.
type object map[string]any

func (o object) value(path string) any {
	var value any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

func (o object) text(path string) string { v, _ := o.value(path).(string); return v }

func (o object) integer(path string) int64 { v, _ := o.number(path); return int64(v) }

// number returns a number; known is false if it is null or missing.
func (o object) number(path string) (v float64, known bool) {
	v, known = o.value(path).(float64)
	return v, known
}

func (o object) time(path string) time.Time {
	v, _ := time.Parse(time.RFC3339Nano, o.text(path)) //nolint:errcheck // the contract checks the format
	return v
}

func (o object) object(path string) object { v, _ := o.value(path).(map[string]any); return v }

// objects returns the elements of an array of objects.
func (o object) objects(path string) (all []object) {
	elements, _ := o.value(path).([]any)
	for _, element := range elements {
		all = append(all, element.(map[string]any))
	}
	return all
}

// ids returns the ids or slugs of a list in its order.
func ids(items []object) []string {
	var all []string
	for _, o := range items {
		all = append(all, o.text("id")+o.text("slug"))
	}
	return all
}

// asJSON formats a value for a comparison or a message.
func asJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// check reports an error if ok is false.
func check(t testing.TB, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// equal checks that two values are equal.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// absent is the value of a field that is left out.
type absent struct{}

// checkField sends the body once with each value of the field. Valid values must be accepted; each invalid one must be
// refused with an issue that names the field.
func checkField(body object, field string, valid, invalid []any, send func(body object) response) {
	try := func(value any) response {
		changed := maps.Clone(body)
		changed[field] = value
		if _, leave := value.(absent); leave {
			delete(changed, field)
		}
		a := send(changed)
		a.request += " with " + field + " = " + asJSON(value)
		return a
	}
	for _, value := range valid {
		a := try(value)
		check(a.t, a.status/100 == 2, "%s: refused with %d: %.300s", a.request, a.status, a.body)
	}
	for _, value := range invalid {
		try(value).invalid(field)
	}
}
