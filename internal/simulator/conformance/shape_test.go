package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// row is a row of one of the document's tables of fields.
type row struct {
	name string
	// kind is "string", "integer", "number", "boolean", "time", "object", "objects" (an array), "strings", "integers",
	// "map" (string to string) or "a|b|c" (an enum); a "?" at the end says that it may be null, a "!" that it always is.
	kind string
	// optional is "no" in the document's column "required".
	optional bool
	rows     []row
}

func must(name, kind string, rows ...row) row { return row{name: name, kind: kind, rows: rows} }
func may(name, kind string, rows ...row) row {
	return row{name: name, kind: kind, optional: true, rows: rows}
}

// table is one of the document's tables, with what was seen of it.
type table struct {
	name string
	rows []row
	// seen has the fields that had a value, the optional and nullable ones that had none, and the enum values.
	seen map[string]int
}

func newTable(name string, rows ...row) *table {
	return &table{name: name, rows: rows, seen: map[string]int{}}
}

// judge holds an object against every row, and against having more members than rows.
func (tb *table) judge(t *testing.T, o object) {
	t.Helper()
	tb.object(t, tb.name, tb.rows, o)
}

func (tb *table) object(t *testing.T, path string, rows []row, o object) {
	t.Helper()
	for name := range o {
		known := slices.ContainsFunc(rows, func(r row) bool { return r.name == name })
		check(t, known, "%s: a field %q that the document does not know", path, name)
	}
	for _, r := range rows {
		value, present := o[r.name]
		if !present {
			check(t, r.optional, "%s: no field %q", path, r.name)
			continue
		}
		tb.value(t, path+"."+r.name, r, value)
	}
}

func (tb *table) value(t *testing.T, path string, r row, value any) {
	t.Helper()
	kind, always := strings.CutSuffix(r.kind, "!")
	kind, nullable := strings.CutSuffix(kind, "?")
	if value == nil || always {
		check(t, value == nil && (nullable || always), "%s is %v, want %s", path, value, r.kind)
		tb.seen[path+"=null"]++
		return
	}
	tb.seen[path]++
	if !check(t, isKind(kind, value), "%s is %T %v, want %s", path, value, value, r.kind) {
		return
	}
	switch kind {
	case "object":
		if len(r.rows) > 0 { // else the document leaves its members open
			tb.object(t, path, r.rows, value.(object))
		}
	case "objects":
		for _, element := range value.([]any) {
			member, ok := element.(object)
			if check(t, ok, "%s has an element %v, want an object", path, element) {
				tb.object(t, path, r.rows, member)
			}
		}
	default:
		if strings.Contains(kind, "|") {
			tb.seen[path+"="+value.(string)]++
		}
	}
}

func isKind(kind string, value any) bool {
	switch kind {
	case "string":
		_, ok := value.(string)
		return ok
	case "boolean":
		_, ok := value.(bool)
		return ok
	case "number":
		_, ok := value.(json.Number)
		return ok
	case "integer":
		n, ok := value.(json.Number)
		_, err := n.Int64()
		return ok && err == nil
	case "time":
		s, _ := value.(string)
		at, err := time.Parse(time.RFC3339Nano, s)
		_, offset := at.Zone()
		return err == nil && offset == 0 && strings.HasSuffix(s, "Z")
	case "object":
		_, ok := value.(object)
		return ok
	case "objects":
		_, ok := value.([]any)
		return ok
	case "strings", "integers":
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !isKind(strings.TrimSuffix(kind, "s"), e) })
	case "map":
		members, ok := value.(object)
		for _, e := range members {
			ok = ok && isKind("string", e)
		}
		return ok
	default:
		s, ok := value.(string)
		return ok && slices.Contains(strings.Split(kind, "|"), s)
	}
}

// complete judges that every row was seen at work: with a value, and null where it may be. Paths in except were not:
// "gpu.count" (never a value) or "email=null".
func (tb *table) complete(t *testing.T, except ...string) {
	t.Helper()
	tb.completeRows(t, tb.name, tb.rows, except)
}

func (tb *table) completeRows(t *testing.T, path string, rows []row, except []string) {
	t.Helper()
	for _, r := range rows {
		at := path + "." + r.name
		short := strings.TrimPrefix(at, tb.name+".")
		if !strings.HasSuffix(r.kind, "!") && !slices.Contains(except, short) {
			check(t, tb.seen[at] > 0, "%s: never seen with a value", at)
		}
		if strings.HasSuffix(r.kind, "?") && !slices.Contains(except, short+"=null") {
			check(t, tb.seen[at+"=null"] > 0, "%s: never seen null", at)
		}
		kind := strings.TrimSuffix(r.kind, "?")
		if strings.Contains(kind, "|") && !slices.Contains(except, short+"=") {
			for _, value := range strings.Split(kind, "|") {
				check(t, tb.seen[at+"="+value] > 0 || slices.Contains(except, short+"="+value), "%s: value %q never seen", at, value)
			}
		}
		tb.completeRows(t, at, r.rows, except)
	}
}
