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

// MaxPageSize is the maximum page size of the API, and the default.
const MaxPageSize = 200

// maxEmptyPages is how many consecutive empty pages with a cursor are read before the list counts as endless.
const maxEmptyPages = 10

// Limits of a whole list. maxPages limits its time: 2500 pages take 21 minutes at 120 requests per minute. The others
// limit the memory of a caller that keeps the list: 20,000 instances have about 14 MiB of JSON.
const (
	maxPages = 2500
	maxItems = 20_000
	maxBytes = 32 << 20

	maxStreamItems = maxPages * MaxPageSize
	maxStreamBytes = 128 << 20
)

// listTooLong is the cause of the error of a list that exceeds a limit. The entries before were returned.
type listTooLong struct{ error }

func tooLong(limit int, unit string) listTooLong {
	return listTooLong{fmt.Errorf("the list is too long: it has more than %d %s", limit, unit)}
}

// IsListTooLong reports that a list is incomplete because it exceeds a limit of the client or ListOptions.MaxPages.
func IsListTooLong(err error) bool {
	_, ok := errors.AsType[listTooLong](err)
	return ok
}

// ListOptions are the options of all lists.
type ListOptions struct {
	PageSize int64 // entries per request, 1 to 200; 0 for 200

	// MaxPages is the maximum number of pages. If there are more, the error is IsListTooLong. 0: 2500.
	MaxPages int

	// Stream raises the limits of entries and bytes, for a caller that does not keep the entries.
	Stream bool

	// Skipped receives the entries that are omitted because they cannot be read. Nil: they are lost.
	Skipped *[]Skipped
}

// list requests a page when the consumer needs it. It stops at the first error and yields it. It skips entries that
// cannot be decoded: see ListOptions.Skipped.
func list[T any](ctx context.Context, c *Client, req request, options ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { readPages(ctx, c, req, options, yield) }
}

func readPages[T any](ctx context.Context, c *Client, req request, options ListOptions, yield func(T, error) bool) {
	var zero T
	req.method = http.MethodGet
	progress := newListProgress(options)
	for cursor := ""; ; {
		req.query = pageQuery(req.query, options, cursor)
		current, err := fetch[page[T]](ctx, c, req)
		if err != nil {
			yield(zero, err)
			return
		}
		options.reportSkipped(mask{c.apiKey}, current.skipped)
		size := len(current.items) + len(current.skipped)
		if err := progress.add(size, current.bytes); err != nil {
			yield(zero, c.listError(req, err))
			return
		}
		for _, item := range current.items {
			if !yield(item, nil) {
				return
			}
		}
		if current.next == "" {
			return
		}
		if err := progress.next(current.next); err != nil {
			yield(zero, c.listError(req, err))
			return
		}
		cursor = current.next
	}
}

// listError returns the error of a list whose pages are valid.
func (c *Client) listError(req request, cause error) *Error {
	e := c.requestError(req, cause)
	e.Status = http.StatusOK
	return e
}

// listProgress counts the pages, entries and bytes that were read of a list.
type listProgress struct {
	maxPages, maxItems, maxBytes int
	pages, items, bytes          int
	empty                        int             // consecutive empty pages until now
	seen                         map[string]bool // cursors
}

func newListProgress(options ListOptions) *listProgress {
	p := &listProgress{maxPages: maxPages, maxItems: maxItems, maxBytes: maxBytes, seen: map[string]bool{}}
	if options.Stream {
		p.maxItems, p.maxBytes = maxStreamItems, maxStreamBytes
	}
	if options.MaxPages > 0 {
		p.maxPages = min(p.maxPages, options.MaxPages)
	}
	return p
}

// add counts a page. With an error, the caller must not return its entries.
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

// next returns an error if the page of the cursor must not be read.
func (p *listProgress) next(cursor string) error {
	switch {
	case p.seen[cursor] || p.empty > maxEmptyPages:
		return fmt.Errorf("the list does not end: %d pages were read, the last %d empty", p.pages, p.empty)
	case p.pages == p.maxPages:
		return tooLong(p.maxPages, "pages")
	}
	p.seen[cursor] = true
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

// Collect returns all objects of a list. The result is never nil without an error.
func Collect[T any](list iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for object, err := range list {
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	return all, nil
}
