package rental

import (
	"context"
	"errors"
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

// ListOptions are common to all lists.
type ListOptions struct {
	PageSize int64 // items per request, 1 to 200; 0: 200
}

var errNoData = errors.New("the list has no data field")

// page is the envelope of every list. Data is a pointer to tell an empty list from an answer that is no list at all.
type page[T any] struct {
	Data       *[]T    `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

func (p page[T]) validate() error {
	if p.Data == nil {
		return errNoData
	}
	return nil
}

// list reads page after page as the consumer asks for more. It stops at the first error, which it yields.
func list[T any](ctx context.Context, c *Client, req request, options ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		req := req // the sequence may be ranged over more than once
		req.method = http.MethodGet
		seen := map[string]bool{}
		empty := 0
		for cursor := ""; ; {
			req.query = pageQuery(req.query, options, cursor)
			answer, err := fetch[page[T]](ctx, c, req)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, item := range *answer.Data {
				if !yield(item, nil) {
					return
				}
			}
			if answer.NextCursor == nil || *answer.NextCursor == "" {
				return
			}
			cursor = *answer.NextCursor
			if len(*answer.Data) > 0 {
				empty = 0
			} else {
				empty++
			}
			if seen[cursor] || empty > maxEmptyPages {
				yield(zero, c.refuse(req, fmt.Errorf("the list does not end: %d pages were read, the last %d empty", len(seen)+1, empty)))
				return
			}
			seen[cursor] = true
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
