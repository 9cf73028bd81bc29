package rental

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Many resources can name an offer that is gone: its absence is read once.
func TestCache_MissingOffer(t *testing.T) {
	reads := 0
	client := newTestClient(t, "https://service.test/api/v1", func(c *Config) {
		c.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			status, body := http.StatusOK, `{"data": [], "next_cursor": null}`
			if strings.HasSuffix(req.URL.Path, "/offers/off_gone") {
				reads++
				status, body = http.StatusNotFound, `{"error": {"code": "not_found", "message": "no such offer"}}`
			}
			return &http.Response{
				StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: req,
				Header: http.Header{"Content-Type": {"application/json"}},
			}, nil
		})
	})
	cache := NewCache(client)
	for range 100 {
		if _, found, err := cache.Offer(t.Context(), "off_gone", OnDemand); found || err != nil {
			t.Fatal(found, err)
		}
	}
	if reads != 1 {
		t.Errorf("%d requests for the offer, want 1", reads)
	}
}
