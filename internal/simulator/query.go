package simulator

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func joined(values []string) string { return strings.Join(values, ", ") }

// query reads query parameters. Each getter returns the zero value for a parameter that is absent or invalid.
type query struct {
	issues
	values url.Values
}

func parseQuery(u *url.URL) *query {
	values, err := url.ParseQuery(u.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.add("query", text{"строка запроса записана с ошибкой", "the query string is malformed"})
	}
	return q
}

// get returns a parameter and whether it was sent. A repeated parameter is invalid.
func (q *query) get(name string) (string, bool) {
	values, ok := q.values[name]
	if !ok {
		return "", false
	}
	if len(values) > 1 {
		q.add(name, text{"указано несколько раз", "is given more than once"})
	}
	return values[0], true
}

func (q *query) integer(name string, low, high int64) *int64 {
	raw, ok := q.get(name)
	if !ok {
		return nil
	}
	value, err := strconv.ParseInt(raw, 10, 64)
	switch {
	case err != nil:
		q.add(name, textNotInteger)
		return nil
	case value < low || value > high:
		q.add(name, textRange.with(low, high))
		return nil
	}
	return &value
}

func (q *query) number(name string, low, high float64) *float64 {
	raw, ok := q.get(name)
	if !ok {
		return nil
	}
	value, err := strconv.ParseFloat(raw, 64)
	switch {
	case err != nil || math.IsNaN(value) || math.IsInf(value, 0):
		q.add(name, textNotNumber)
		return nil
	case value < low || value > high:
		q.add(name, text{"вне допустимого диапазона", "is out of range"})
		return nil
	}
	return &value
}

func (q *query) boolean(name string) *bool {
	raw, ok := q.get(name)
	if !ok {
		return nil
	}
	value := raw == "true"
	if !value && raw != "false" {
		q.add(name, textNotBool)
		return nil
	}
	return &value
}

// enum returns the value, or the first allowed value if the parameter is absent.
func (q *query) enum(name string, allowed ...string) string {
	raw, ok := q.get(name)
	if !ok {
		return allowed[0]
	}
	if !slices.Contains(allowed, raw) {
		q.add(name, textOneOf.with(joined(allowed)))
		return allowed[0]
	}
	return raw
}

// list splits a comma-separated parameter. Nil means no filter.
func (q *query) list(name string) []string {
	raw, ok := q.get(name)
	if !ok {
		return nil
	}
	var items []string
	for item := range strings.SplitSeq(raw, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
