package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
)

const (
	defaultPage = 50
	maxPage     = 200
	macLen      = 16
)

// pageView is a page of a list.
type pageView[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// cursorPosition is the content of a cursor. It identifies the last item by a value that never changes, so that price
// changes and new or deleted items do not shift later pages.
type cursorPosition struct {
	// Seq is the sequence number of the last item. ID is its id instead, if the list has another order.
	Seq int64  `json:"s,omitempty"`
	ID  string `json:"a,omitempty"`
	// PriceChanges is the number of price changes when the first page was read. Offers keep the order of that time.
	PriceChanges int64 `json:"m,omitempty"`
}

// pageRequest is the requested part of a list.
type pageRequest struct {
	limit int
	// after is the end of the previous page, nil for the first page.
	after *cursorPosition
	// key signs cursors: the seed, the list and its filters. Clients cannot build or change a cursor, or use it for
	// another query.
	key []byte
}

// readPageRequest reads limit and cursor.
func (c *call) readPageRequest(q *query, list string) pageRequest {
	filters := maps.Clone(q.values)
	delete(filters, "limit")
	delete(filters, "cursor")
	req := pageRequest{limit: defaultPage, key: fmt.Appendf(nil, "%d %s?%s", c.config.Seed, list, filters.Encode())}
	if limit := q.integer("limit", 1, maxPage); limit != nil {
		req.limit = int(*limit)
	}
	if raw, ok := q.get("cursor"); ok {
		if req.after = req.decode(raw); req.after == nil {
			q.add("cursor", text{"неверный курсор", "is not a cursor of this list"})
		}
	}
	return req
}

func (req pageRequest) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, req.key)
	h.Write(payload)
	return h.Sum(nil)[:macLen]
}

func (req pageRequest) encode(p cursorPosition) string {
	payload := encodeJSON(p)
	return base64.RawURLEncoding.EncodeToString(append(req.mac(payload), payload...))
}

// decode returns nil for what is not a cursor of the list.
func (req pageRequest) decode(cursor string) (p *cursorPosition) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < macLen || !hmac.Equal(raw[:macLen], req.mac(raw[macLen:])) {
		return nil
	}
	if json.Unmarshal(raw[macLen:], &p) != nil {
		return nil
	}
	return p
}

// newPage returns a page of the first limit items. The function position returns the position of an item for the next
// cursor.
func newPage[I, V any](
	req pageRequest, following []I, position func(I) cursorPosition, view func(I) V,
) pageView[V] {
	page := pageView[V]{Data: make([]V, 0, min(req.limit, len(following)))}
	for n, item := range following {
		if n == req.limit {
			page.NextCursor = new(req.encode(position(following[n-1])))
			break
		}
		page.Data = append(page.Data, view(item))
	}
	return page
}
