package simulator_test

import (
	"strings"
	"time"
)

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
