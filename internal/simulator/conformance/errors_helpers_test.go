package conformance

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// failsWith checks the status, the fields and the code of an error. It returns the details, nil if there are none.
func (a response) failsWith(code string) object {
	a.t.Helper()
	return a.failsWithStatus(apidoc.Errors[code], code)
}

// failsWithStatus is like failsWith for a status that is not in the table of errors.
func (a response) failsWithStatus(status int, code string) object {
	a.t.Helper()
	if !check(a.t, a.status == status, "%s: status %d, want %d %s: %.300s", a.request, a.status, status, code, a.raw) {
		return nil
	}
	o := a.object()
	newTable("Error").verify(a.t, o)
	equal(a.t, a.request+": code", text(o, "error.code"), code)
	check(a.t, text(o, "error.message") != "", "%s: no message", a.request)
	details, _ := at(o, "error.details").(object)
	return details
}

// invalid checks a 422 response whose issues name the field; "" means any field.
func (a response) invalid(field string) {
	a.t.Helper()
	details := a.failsWith("validation_error")
	issues, _ := details["issues"].([]any)
	check(a.t, len(issues) > 0, "%s: details.issues is missing: %.300s", a.request, a.raw)
	named := func(issue any) bool {
		o, _ := issue.(object)
		name := text(o, "field")
		check(a.t, text(o, "message") != "", "%s: an issue without a message: %.300s", a.request, a.raw)
		return field == "" || strings.EqualFold(name, field) || strings.HasPrefix(name, field+".") ||
			strings.HasPrefix(name, field+"[")
	}
	check(a.t, slices.ContainsFunc(issues, named), "%s: no issue of %q: %.300s", a.request, field, a.raw)
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
		a.request += " with " + field + " = " + short(value)
		return a
	}
	for _, value := range valid {
		a := try(value)
		a.t.Helper()
		check(a.t, a.status/100 == 2, "%s: refused with %d: %.300s", a.request, a.status, a.raw)
	}
	for _, value := range invalid {
		try(value).invalid(field)
	}
}

// checkBounds sends the body with each field of a table left out, with all values of apidoc.Bounds, and with values of
// other types.
func checkBounds(table string, body object, send func(body object) response) {
	for _, f := range apidoc.Fields(table) {
		invalid := apidoc.InvalidTypes(f)
		if f.Required {
			checkField(body, f.Name, nil, append(invalid, absent{}), send)
		} else {
			checkField(body, f.Name, []any{absent{}}, invalid, send)
		}
	}
	for _, b := range apidoc.Bounds {
		if b.Table == table {
			checkField(body, b.Field, b.Valid, b.Invalid, send)
		}
	}
}

// bodyOf returns an invalid body for tests of access, nil for an operation without a body.
func bodyOf(op apidoc.Operation) any {
	switch op.Body {
	case "":
		return nil
	case "DeviceCodeCreate":
		return object{"client_name": 1}
	}
	return object{}
}
