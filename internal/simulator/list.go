package simulator

import (
	"sort"
	"strconv"
)

// numbered is anything that was created in an order.
type numbered interface{ number() int64 }

// listNumbered answers a page of the items that keep accepts, in the order of their numbers: oldest first, or newest
// first where down is set.
func listNumbered[I numbered, V any](c *call, name string, q *query, items []I, down bool, keep func(I) bool, view func(I) V) (pageView[V], error) {
	w := c.window(q, name)
	if err := q.err(); err != nil {
		return pageView[V]{}, err
	}
	last := int64(0)
	if w.from != nil {
		n, err := strconv.ParseInt(w.from.After, 10, 64)
		if err != nil {
			return pageView[V]{}, err
		}
		last = n
	}
	// The numbers rise: skip to the first item past the cursor, and take no more than tells whether there is a next page.
	passed := 0
	if w.from != nil {
		passed = sort.Search(len(items), func(n int) bool {
			if down {
				return items[len(items)-1-n].number() < last
			}
			return items[n].number() > last
		})
	}
	var following []I
	for n := passed; n < len(items) && len(following) <= w.limit; n++ {
		item := items[n]
		if down {
			item = items[len(items)-1-n]
		}
		if keep(item) {
			following = append(following, item)
		}
	}
	return cutPage(c, w, 0, following, func(i I) string { return strconv.FormatInt(i.number(), 10) }, view)
}

func all[I any](I) bool { return true }
