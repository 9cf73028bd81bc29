package rental

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// MaxPageSize is the service's limit, and what is asked for by default: the fewest requests.
const MaxPageSize = 200

// maxEmptyPages is how many pages in a row may be empty while more are promised, before the list counts as endless.
const maxEmptyPages = 10

// maxItems bounds a whole list: an hour of reading at the request limit.
const maxItems = 500_000

// ListOptions are common to all lists.
type ListOptions struct {
	PageSize int64 // items per request, 1 to 200; 0: 200
}

// list reads page after page as the consumer asks for more. It stops at the first error, which it yields. An entry that cannot be read is
// left out: see WithSkipped.
func list[T any](ctx context.Context, c *Client, req request, options ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		req := req // the sequence may be ranged over more than once
		req.method = http.MethodGet
		seen := map[[sha256.Size]byte]bool{} // of cursors, which may be long
		read, empty := 0, 0
		for cursor := ""; ; {
			req.query = pageQuery(req.query, options, cursor)
			answer, err := fetch[page[T]](ctx, c, req)
			if err != nil {
				yield(zero, err)
				return
			}
			c.reportSkipped(ctx, answer.skipped)
			size := len(answer.items) + len(answer.skipped)
			if read += size; read > maxItems {
				yield(zero, c.refuse(req, fmt.Errorf("the list does not end: it has more than %d entries", maxItems)))
				return
			}
			for _, item := range answer.items {
				if !yield(item, nil) {
					return
				}
			}
			if answer.next == "" {
				return
			}
			cursor = answer.next
			if size > 0 {
				empty = 0
			} else {
				empty++
			}
			known := sha256.Sum256([]byte(cursor))
			if seen[known] || empty > maxEmptyPages {
				yield(zero, c.refuse(req, fmt.Errorf("the list does not end: %d pages were read, the last %d empty", len(seen)+1, empty)))
				return
			}
			seen[known] = true
		}
	}
}

func pageQuery(query url.Values, options ListOptions, cursor string) url.Values {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	size := options.PageSize
	if size == 0 {
		size = MaxPageSize
	}
	query.Set("limit", strconv.FormatInt(size, 10))
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return query
}
