package simulator

import "strconv"

// numbered is anything that was created in an order.
type numbered interface{ number() int64 }

// listNumbered answers a page of the items that keep accepts, in the order of their numbers: oldest first, or newest
// first where down is set.
func listNumbered[I numbered, V any](c *call, name string, q *query, items []I, down bool, keep func(I) bool, view func(I) V) (any, error) {
	w := c.window(q, name)
	if err := q.err(); err != nil {
		return nil, err
	}
	last := int64(0)
	if w.from != nil {
		n, err := strconv.ParseInt(w.from.After, 10, 64)
		if err != nil {
			return nil, err
		}
		last = n
	}
	var following []I
	for n := range items {
		item := items[n]
		if down {
			item = items[len(items)-1-n]
		}
		passed := w.from != nil && (down == (item.number() > last) || item.number() == last)
		if !passed && keep(item) {
			following = append(following, item)
		}
	}
	return cutPage(c, w, 0, following, func(i I) string { return strconv.FormatInt(i.number(), 10) }, view)
}

func all[I any](I) bool { return true }
