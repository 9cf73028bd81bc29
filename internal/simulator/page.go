package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
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
	// List identifies the list and its filters. A cursor is valid only for the same query.
	List string `json:"l"`
	// Seq is the sequence number of the last item. ID is its id instead, if the list has another order.
	Seq int64  `json:"s,omitempty"`
	ID  string `json:"a,omitempty"`
	// PriceChanges is the number of price changes when the first page was read. Offers keep the order of that time.
	PriceChanges int64 `json:"m,omitempty"`
}

// cursorSigner makes cursors that clients cannot build or change.
type cursorSigner struct{ key [8]byte }

func newCursorSigner(seed uint64) cursorSigner {
	var s cursorSigner
	binary.BigEndian.PutUint64(s.key[:], seed)
	return s
}

func (s cursorSigner) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(payload)
	return h.Sum(nil)[:macLen]
}

func (s cursorSigner) encode(p cursorPosition) string {
	payload := encodeJSON(p)
	return base64.RawURLEncoding.EncodeToString(append(s.mac(payload), payload...))
}

func (s cursorSigner) decode(cursor string) (p cursorPosition, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < macLen || !hmac.Equal(raw[:macLen], s.mac(raw[macLen:])) {
		return p, false
	}
	return p, json.Unmarshal(raw[macLen:], &p) == nil
}

// pageRequest is the requested part of a list.
type pageRequest struct {
	limit int
	list  string
	// after is the end of the previous page, nil for the first page.
	after *cursorPosition
}

// readPageRequest reads limit and cursor.
func (c *call) readPageRequest(q *query, list string) pageRequest {
	req := pageRequest{limit: defaultPage, list: listID(list, q.values)}
	if limit := q.integer("limit", 1, maxPage); limit != nil {
		req.limit = int(*limit)
	}
	if raw, ok := q.get("cursor"); ok {
		p, good := c.cursors.decode(raw)
		if !good || p.List != req.list {
			q.add("cursor", text{"неверный курсор", "is not a cursor of this list"})
			return req
		}
		req.after = &p
	}
	return req
}

// listID identifies a list with its filters.
func listID(list string, values url.Values) string {
	filters := url.Values{}
	for name, v := range values {
		if name != "limit" && name != "cursor" {
			filters[name] = v
		}
	}
	sum := sha256.Sum256([]byte(list + "?" + filters.Encode()))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// newPage returns a page of the first limit items. The function position returns the position of an item for the next
// cursor.
func newPage[I, V any](
	c *call, req pageRequest, following []I, position func(I) cursorPosition, view func(I) V,
) pageView[V] {
	page := pageView[V]{Data: make([]V, 0, min(req.limit, len(following)))}
	for n, item := range following {
		if n == req.limit {
			next := position(following[n-1])
			next.List = req.list
			page.NextCursor = new(c.cursors.encode(next))
			break
		}
		page.Data = append(page.Data, view(item))
	}
	return page
}
