package conformance

import (
	"net/http"
	"slices"
	"strings"
)

// statusOf is the document's table of errors.
var statusOf = map[string]int{
	"authorization_pending": http.StatusBadRequest,
	"slow_down":             http.StatusBadRequest,
	"access_denied":         http.StatusBadRequest,
	"expired_token":         http.StatusBadRequest,
	"unauthorized":          http.StatusUnauthorized,
	"insufficient_funds":    http.StatusPaymentRequired,
	"forbidden":             http.StatusForbidden,
	"not_found":             http.StatusNotFound,
	"conflict":              http.StatusConflict,
	"validation_error":      http.StatusUnprocessableEntity,
	"rate_limited":          http.StatusTooManyRequests,
	"internal":              http.StatusInternalServerError,
	"provider_unavailable":  http.StatusServiceUnavailable,
}

// fails judges a refusal: its status, its shape and its code. It returns the details, nil when there are none.
func (a answer) fails(code string) object {
	a.t.Helper()
	return a.failsAs(statusOf[code], code)
}

// failsAs is fails with a status that is not in the table of errors.
func (a answer) failsAs(status int, code string) object {
	a.t.Helper()
	if !check(a.t, a.status == status, "%s: status %d, want %d %s: %.300s", a.what, a.status, status, code, a.raw) {
		return nil
	}
	o := a.object()
	errorTable().judge(a.t, o)
	equal(a.t, a.what+": code", text(o, "error.code"), code)
	check(a.t, text(o, "error.message") != "", "%s: no message", a.what)
	details, _ := at(o, "error.details").(object)
	return details
}

// invalid judges a 422 whose issues name the field; "" is any field.
func (a answer) invalid(field string) {
	a.t.Helper()
	details := a.fails("validation_error")
	issues, _ := details["issues"].([]any)
	check(a.t, len(issues) > 0, "%s: details.issues is missing: %.300s", a.what, a.raw)
	named := func(issue any) bool {
		o, _ := issue.(object)
		name := text(o, "field")
		check(a.t, text(o, "message") != "", "%s: an issue without a message: %.300s", a.what, a.raw)
		return field == "" || strings.EqualFold(name, field) || strings.HasPrefix(name, field+".") || strings.HasPrefix(name, field+"[")
	}
	check(a.t, slices.ContainsFunc(issues, named), "%s: no issue of %q: %.300s", a.what, field, a.raw)
}

// edge is a value of a field, and whether the document lets it pass.
type edge struct {
	field string
	value any
	pass  bool
}

// absent is the value of a field that is left out.
type absent struct{}

// edges sends the good body once for each edge, with the field changed.
func edges(good object, list []edge, send func(body object) answer) {
	for _, e := range list {
		body := make(object, len(good))
		for name, value := range good {
			body[name] = value
		}
		body[e.field] = e.value
		if _, leave := e.value.(absent); leave {
			delete(body, e.field)
		}
		a := send(body)
		a.t.Helper()
		a.what += " with " + e.field + " = " + brief(e.value)
		if e.pass {
			check(a.t, a.status/100 == 2, "%s: refused with %d: %.300s", a.what, a.status, a.raw)
		} else {
			a.invalid(e.field)
		}
	}
}

// wrongKinds are the edges of a field that takes one kind of value only, "string", "integer", "array" or "object".
func wrongKinds(field, kind string, nullable bool) []edge {
	values := map[string]any{"string": "x", "number": 1.5, "boolean": true, "array": []any{}, "object": object{}}
	var list []edge
	for name, value := range values {
		if name != kind {
			list = append(list, edge{field, value, false})
		}
	}
	return append(list, edge{field, nil, nullable})
}
