package rental

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// MaxPageSize is the maximum page size of the API, and that of all requests.
const MaxPageSize = 200

// maxPages limits the time of a list: 2500 pages take 21 minutes at 120 requests per minute.
const maxPages = 2500

// errTooLong is the cause of the error of a list with too many pages. The entries of the pages before were returned.
var errTooLong = errors.New("the list is too long: it has more pages than the client reads")

// IsListTooLong reports that a list is incomplete because it has more pages than the client, or ListOptions.MaxPages,
// allows.
func IsListTooLong(err error) bool { return errors.Is(err, errTooLong) }

// ListOptions are the options of all lists.
type ListOptions struct {
	// MaxPages is the maximum number of pages. If there are more, the error is IsListTooLong. 0: 2500.
	MaxPages int

	// Skipped receives the entries that are omitted because they cannot be read. Nil: they are lost.
	Skipped *[]Skipped
}

// Skipped is an entry that is missing in a list because it cannot be decoded or has invalid values.
type Skipped struct {
	ID  string // of the entry; empty if unknown
	Err error  // why it was skipped
}

// list requests a page when the consumer needs it. It stops at the first error and yields it. It skips entries that
// cannot be decoded: see ListOptions.Skipped.
func list[T any](ctx context.Context, c *Client, req request, options ListOptions) iter.Seq2[T, error] {
	req.method = http.MethodGet
	limit := cmp.Or(min(options.MaxPages, maxPages), maxPages)
	return func(yield func(T, error) bool) {
		var none T
		seen := map[string]bool{} // cursors
		cursor := ""
		for pages := 1; ; pages++ {
			pageRequest := req
			pageRequest.query = pageQuery(req.query, cursor)
			current, err := fetch[page[T]](ctx, c, pageRequest)
			if err != nil {
				yield(none, err)
				return
			}
			if options.Skipped != nil {
				*options.Skipped = append(*options.Skipped, current.skipped...)
			}
			for _, item := range current.items {
				if !yield(item, nil) {
					return
				}
			}
			cursor = current.next
			switch {
			case cursor == "":
				return
			case seen[cursor]:
				err = errRepeatedCursor
			case pages == limit:
				err = errTooLong
			}
			if err != nil {
				invalid := c.requestError(req, err)
				invalid.Status = http.StatusOK // of the pages
				yield(none, invalid)
				return
			}
			seen[cursor] = true
		}
	}
}

var errRepeatedCursor = errors.New("the list does not end: the cursor of a page is that of an earlier page")

func pageQuery(query url.Values, cursor string) url.Values {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(MaxPageSize))
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return query
}
