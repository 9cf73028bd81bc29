package quirks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
)

// Quirks of offers that are listed and cannot be rented.

const (
	// refuseOneIn is the inverse probability that refused-disks applies to an offer.
	refuseOneIn = 3
	// phantomSuffix ends the id of a phantom offer, after the id of the offer that it copies.
	phantomSuffix = "0"
	// phantomPercent is the price of a phantom in percent of the copied offer.
	phantomPercent = 97
)

// refuseOffer returns the response of refused-disks or phantom-offers to a creation, nil for none. It replaces the 404
// of the service, which has then checked everything else, for an offer that does not exist.
func (a *active) refuseOffer(op *operation, r *http.Request) *failure {
	var body map[string]json.RawMessage
	var offerID string
	if json.Unmarshal(op.body, &body) != nil || json.Unmarshal(body["offer_id"], &offerID) != nil {
		return nil
	}
	switch {
	case a.has(phantomOffers) && a.phantom(offerID) != nil:
		return apiFailure(http.StatusConflict, "conflict", "The offer has been taken")
	case a.has(refusedDisks) && a.randomInt(refuseOneIn, refusedDisks, offerID) == 0:
		body["offer_id"] = json.RawMessage(`"refused"`)
		r.Body = io.NopCloser(bytes.NewReader(encode(body)))
		r.ContentLength = -1
		return apiFailure(http.StatusUnprocessableEntity, "validation_error", "Invalid request",
			map[string]any{"field": "disk_gb", "message": "the server does not accept this disk"})
	}
	return nil
}

// phantom returns a phantom offer that was listed, nil if there is none with this id.
func (q *Set) phantom(id string) map[string]any {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.phantoms[id]
}

type listAllKey struct{}

// ListsAll is true for the search for the offer that a phantom copies.
func (*Set) ListsAll(r *http.Request) bool { return r.Context().Value(listAllKey{}) != nil }

// listWithPhantom implements phantom-offers for a page of a list. The phantom is the first item.
func (res *response) listWithPhantom(
	service http.Handler, w http.ResponseWriter, r *http.Request,
) *httptest.ResponseRecorder {
	query := r.URL.Query()
	limit := pageLimit(query)
	if limit < 2 || query.Has("cursor") || query.Get("order") == "-price" {
		return record(service, w, r)
	}
	query.Set("limit", strconv.Itoa(limit-1))
	reply := record(service, w, withQuery(r, query))
	if reply.Code != http.StatusOK {
		return reply
	}
	if phantom := res.findPhantom(service, w, r); phantom != nil {
		page := decode(reply.Body.Bytes())
		data, _ := page["data"].([]any)
		page["data"] = append([]any{phantom}, data...)
		reply.Body = bytes.NewBuffer(encode(page))
	}
	return reply
}

func withQuery(r *http.Request, query url.Values) *http.Request {
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return r
}

// findPhantom returns the phantom of a list, nil if no server has the requested properties.
func (res *response) findPhantom(service http.Handler, w http.ResponseWriter, r *http.Request) map[string]any {
	query := r.URL.Query()
	query.Del("cursor")
	query.Set("limit", "1")
	if strings.HasSuffix(query.Get("order"), "price") && query.Get("order") != "dlperf_per_price" {
		query.Del("order")
	}
	r = r.WithContext(context.WithValue(r.Context(), listAllKey{}, true))
	found, _ := decode(record(service, w, withQuery(r, query)).Body.Bytes())["data"].([]any)
	if len(found) == 0 {
		return nil
	}
	phantom := found[0].(map[string]any)
	id := identifier(phantom) + phantomSuffix
	phantom["id"], phantom["available"] = id, true
	prices := object(phantom, "price")
	for _, name := range []string{"on_demand_kop_h", "interruptible_kop_h"} {
		if price, err := strconv.ParseInt(fmt.Sprint(prices[name]), 10, 64); err == nil {
			prices[name] = max(min(price*phantomPercent/100, price-1), 0)
		}
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	res.phantoms[id] = phantom
	return phantom
}
