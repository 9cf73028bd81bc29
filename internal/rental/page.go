package rental

import (
	"context"
	"crypto/sha256"
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

// Bounds of a whole list. Pages bound its time: 2500 take 21 minutes at the limit of 120 requests a minute. Entries and bytes bound the
// memory of a caller that keeps the list. 20,000 instances are about 14 MiB of JSON.
const (
	maxPages = 2500
	maxItems = 20_000
	maxBytes = 32 << 20

	maxStreamItems = maxPages * MaxPageSize
	maxStreamBytes = 128 << 20
)

// listTooLong is the cause of an error when a list exceeds a bound. The entries before it were returned.
type listTooLong struct{ error }

func tooLong(limit int, unit string) listTooLong {
	return listTooLong{fmt.Errorf("the list is too long: it has more than %d %s", limit, unit)}
}

// IsListTooLong reports that a list was read only in part, because it exceeds a bound of the client or ListOptions.MaxPages.
func IsListTooLong(err error) bool {
	_, ok := errors.AsType[listTooLong](err)
	return ok
}

// ListOptions are common to all lists.
type ListOptions struct {
	PageSize int64 // items per request, 1 to 200; 0: 200

	// MaxPages ends the list with an error IsListTooLong when there are more pages. 0: the client's own bound.
	MaxPages int

	// Stream is set by a caller that does not keep all entries. The list may then be longer.
	Stream bool
}

// list reads page after page as the consumer asks for more. It stops at the first error, which it yields. An entry that cannot be read is
// left out: see WithSkipped.
func list[T any](ctx context.Context, c *Client, req request, options ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		req := req // the sequence may be ranged over more than once
		req.method = http.MethodGet
		progress := newListProgress(options)
		for cursor := ""; ; {
			req.query = pageQuery(req.query, options, cursor)
			answer, err := fetch[page[T]](ctx, c, req)
			if err != nil {
				yield(zero, err)
				return
			}
			c.reportSkipped(ctx, answer.skipped)
			size := len(answer.items) + len(answer.skipped)
			if err := progress.add(size, answer.bytes); err != nil {
				yield(zero, c.badList(req, err))
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
			if err := progress.next(answer.next); err != nil {
				yield(zero, c.badList(req, err))
				return
			}
			cursor = answer.next
		}
	}
}

// badList is the failure of a list whose pages could be read.
func (c *Client) badList(req request, cause error) *Error {
	e := c.refuse(req, cause)
	e.Status = http.StatusOK
	return e
}

// listProgress is how much of a list was read.
type listProgress struct {
	maxPages, maxItems, maxBytes int
	pages, items, bytes          int
	empty                        int                        // latest pages in a row without an entry
	seen                         map[[sha256.Size]byte]bool // cursors, which may be long
}

func newListProgress(options ListOptions) *listProgress {
	p := &listProgress{maxPages: maxPages, maxItems: maxItems, maxBytes: maxBytes, seen: map[[sha256.Size]byte]bool{}}
	if options.Stream {
		p.maxItems, p.maxBytes = maxStreamItems, maxStreamBytes
	}
	if options.MaxPages > 0 {
		p.maxPages = min(p.maxPages, options.MaxPages)
	}
	return p
}

// add counts a page. With an error, its entries are not to be returned.
func (p *listProgress) add(items, bytes int) error {
	p.pages++
	p.items += items
	p.bytes += bytes
	p.empty++
	if items > 0 {
		p.empty = 0
	}
	switch {
	case p.items > p.maxItems:
		return tooLong(p.maxItems, "entries")
	case p.bytes > p.maxBytes:
		return tooLong(p.maxBytes>>20, "MiB")
	}
	return nil
}

// next returns why the page of a cursor is not read.
func (p *listProgress) next(cursor string) error {
	known := sha256.Sum256([]byte(cursor))
	switch {
	case p.seen[known] || p.empty > maxEmptyPages:
		return fmt.Errorf("the list does not end: %d pages were read, the last %d empty", p.pages, p.empty)
	case p.pages == p.maxPages:
		return tooLong(p.maxPages, "pages")
	}
	p.seen[known] = true
	return nil
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
