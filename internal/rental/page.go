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

// Bounds of what a list may be. A service that tells more has lost its mind, and must not take our memory with it.
const (
	maxPageItems = 5 * MaxPageSize // in a page, in case the service does not heed the size asked for
	maxItems     = 500_000         // in a whole list: an hour of reading at the request limit
	maxCursor    = 4096            // characters
)

// ListOptions are common to all lists.
type ListOptions struct {
	PageSize int64 // items per request, 1 to 200; 0: 200
}

var (
	errNoData     = errors.New("the list has no data field")
	errLongPage   = fmt.Errorf("the list's page has more than %d entries", maxPageItems)
	errLongCursor = fmt.Errorf("the list's cursor has more than %d characters", maxCursor)
)

// page is the envelope of every list. Data is a pointer to tell an empty list from an answer that is no list at all.
type page[T any] struct {
	Data       *[]T    `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// check refuses a page before it is read: three bytes of an empty entry become hundreds in memory, and a body of the largest size
// gigabytes. It counts the commas in what the envelope holds, whatever the rest is.
func (p *page[T]) check(body []byte) error {
	depth, commas := 0, 0
	inText, escaped := false, false
	for _, char := range body {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = char == '\\', char != '"'
		case char == '"':
			inText = true
		case char == '[' || char == '{':
			depth++
		case char == ']' || char == '}':
			depth--
		case char == ',' && depth == 2:
			commas++
		}
	}
	if commas >= maxPageItems {
		return errLongPage
	}
	return nil
}

func (p page[T]) validate() error {
	if p.Data == nil {
		return errNoData
	}
	if p.NextCursor != nil && len(*p.NextCursor) > maxCursor {
		return errLongCursor
	}
	for i := range *p.Data {
		item := any(&(*p.Data)[i])
		if named, ok := item.(interface{ identity() string }); ok && named.identity() == "" {
			return errNoIdentity
		}
		if checked, ok := item.(interface{ validate() error }); ok {
			if err := checked.validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// list reads page after page as the consumer asks for more. It stops at the first error, which it yields.
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
			if read += len(*answer.Data); read > maxItems {
				yield(zero, c.refuse(req, fmt.Errorf("the list does not end: it has more than %d entries", maxItems)))
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
