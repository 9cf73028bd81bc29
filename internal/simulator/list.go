package simulator

import (
	"sort"
	"strconv"
)

// sequenced is an item with a sequence number.
type sequenced interface{ sequence() int64 }

// listPage returns a page of the items that keep accepts, in the order of their sequence numbers, or in reverse order
// if newestFirst is set.
func listPage[I sequenced, V any](c *call, name string, q *query, items []I, newestFirst bool, keep func(I) bool,
	view func(I) V) (pageView[V], error) {
	req := c.readPageRequest(q, name)
	if err := q.err(); err != nil {
		return pageView[V]{}, err
	}
	following, err := itemsAfter(req, items, newestFirst, keep)
	if err != nil {
		return pageView[V]{}, err
	}
	return newPage(c, req, 0, following, func(i I) string { return strconv.FormatInt(i.sequence(), 10) }, view)
}

// itemsAfter returns the items of a page. One item more than the limit shows that there is a next page.
func itemsAfter[I sequenced](req pageRequest, items []I, newestFirst bool, keep func(I) bool) ([]I, error) {
	last := int64(0)
	if req.after != nil {
		n, err := strconv.ParseInt(req.after.After, 10, 64)
		if err != nil {
			return nil, err
		}
		last = n
	}
	skipped := 0 // up to the cursor
	if req.after != nil {
		skipped = sort.Search(len(items), func(n int) bool {
			if newestFirst {
				return items[len(items)-1-n].sequence() < last
			}
			return items[n].sequence() > last
		})
	}
	var following []I
	for n := skipped; n < len(items) && len(following) <= req.limit; n++ {
		item := items[n]
		if newestFirst {
			item = items[len(items)-1-n]
		}
		if keep(item) {
			following = append(following, item)
		}
	}
	return following, nil
}

func keepAll[I any](I) bool { return true }
