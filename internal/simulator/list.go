package simulator

import "sort"

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
	following := itemsAfter(req, items, newestFirst, keep)
	return newPage(req, following, func(i I) cursorPosition { return cursorPosition{Seq: i.sequence()} }, view), nil
}

// itemsAfter returns the items of a page. One item more than the limit shows that there is a next page.
func itemsAfter[I sequenced](req pageRequest, items []I, newestFirst bool, keep func(I) bool) []I {
	at := func(n int) I {
		if newestFirst {
			return items[len(items)-1-n]
		}
		return items[n]
	}
	skipped := 0 // up to the cursor
	if req.after != nil {
		skipped = sort.Search(len(items), func(n int) bool {
			if newestFirst {
				return at(n).sequence() < req.after.Seq
			}
			return at(n).sequence() > req.after.Seq
		})
	}
	var following []I
	for n := skipped; n < len(items) && len(following) <= req.limit; n++ {
		if item := at(n); keep(item) {
			following = append(following, item)
		}
	}
	return following
}

func keepAll[I any](I) bool { return true }
