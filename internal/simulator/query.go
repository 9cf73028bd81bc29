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

// parsed parses a parameter. It returns nil for one that is absent or invalid.
func parsed[T any](q *query, name string, message text, parse func(string) (value T, ok bool)) *T {
	raw, sent := q.get(name)
	if !sent {
		return nil
	}
	value, ok := parse(raw)
	if !ok {
		q.add(name, message)
		return nil
	}
	return &value
}

func (q *query) integer(name string, low, high int64) *int64 {
	return q.within(name, parsed(q, name, textNotInteger, func(raw string) (int64, bool) {
		value, err := strconv.ParseInt(raw, 10, 64)
		return value, err == nil
	}), low, high)
}

func (q *query) number(name string, low, high float64) *float64 {
	value := parsed(q, name, textNotNumber, func(raw string) (float64, bool) {
		value, err := strconv.ParseFloat(raw, 64)
		return value, err == nil && !math.IsNaN(value) && !math.IsInf(value, 0)
	})
	if value != nil && (*value < low || *value > high) {
		q.add(name, text{"вне допустимого диапазона", "is out of range"})
		return nil
	}
	return value
}

func (q *query) boolean(name string) *bool {
	return parsed(q, name, textNotBool, func(raw string) (value, ok bool) {
		return raw == "true", raw == "true" || raw == "false"
	})
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
