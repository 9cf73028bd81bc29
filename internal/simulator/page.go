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
	sealLen     = 16
)

// pageView is a page of any list.
type pageView[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// position is where a page ended. It names the last item by something that never changes, so that neither prices that
// move nor items that come and go shift the pages that follow.
type position struct {
	// List is the list and its filters: a cursor is good for the query that it came from.
	List string `json:"l"`
	// After is the sequence number of the last item, or its id where the order is not that of creation.
	After string `json:"a"`
	// Market is the number of price changes when the first page was read; offers keep the order they had then.
	Market int64 `json:"m,omitempty"`
}

// cursorSealer makes cursors that cannot be built or altered by hand.
type cursorSealer struct{ key [8]byte }

func newCursorSealer(seed uint64) cursorSealer {
	var s cursorSealer
	binary.BigEndian.PutUint64(s.key[:], seed)
	return s
}

func (s cursorSealer) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(payload)
	return h.Sum(nil)[:sealLen]
}

func (s cursorSealer) seal(p position) (string, error) {
	payload, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(s.mac(payload), payload...)), nil
}

func (s cursorSealer) open(cursor string) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < sealLen || !hmac.Equal(raw[:sealLen], s.mac(raw[sealLen:])) {
		return p, false
	}
	return p, json.Unmarshal(raw[sealLen:], &p) == nil
}

// window is the part of a list that a request asks for.
type window struct {
	limit int
	list  string
	// from is where the previous page ended, nil on the first page.
	from *position
}

// window reads limit and cursor of a list.
func (c *call) window(q *query, list string) window {
	w := window{limit: defaultPage, list: listID(list, q.values)}
	if limit := q.integer("limit", 1, maxPage); limit != nil {
		w.limit = int(*limit)
	}
	if raw, ok := q.get("cursor"); ok {
		p, good := c.sealer.open(raw)
		if !good || p.List != w.list {
			q.add("cursor", text{"неверный курсор", "is not a cursor of this list"})
			return w
		}
		w.from = &p
	}
	return w
}

// listID stands for a list with its filters, whatever the page.
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

// cutPage takes the first limit of the items that follow the cursor; after names an item for the next one.
func cutPage[I, V any](c *call, w window, market int64, following []I, after func(I) string, view func(I) V) (pageView[V], error) {
	page := pageView[V]{Data: make([]V, 0, min(w.limit, len(following)))}
	for n, item := range following {
		if n == w.limit {
			cursor, err := c.sealer.seal(position{List: w.list, After: after(following[n-1]), Market: market})
			if err != nil {
				return page, err
			}
			page.NextCursor = &cursor
			break
		}
		page.Data = append(page.Data, view(item))
	}
	return page, nil
}
