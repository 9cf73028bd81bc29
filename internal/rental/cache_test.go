package rental

import (
	"strings"
	"testing"
)

// Many resources can name offers: the first one is read by its id, the others from one list. An offer that is gone is
// read once.
func TestCache_Offer(t *testing.T) {
	const first = "o/1?x %2F"
	listed := onePage(strings.Replace(offerJSON, first, "listed", 1))
	client, s := scriptedClient(t, ok(offerJSON), ok(listed), failed(CodeNotFound))
	cache := NewCache(client)
	for range 3 {
		for _, id := range []string{first, "listed", "gone"} {
			if _, found, err := cache.Offer(t.Context(), id, OnDemand); found != (id != "gone") || err != nil {
				t.Errorf("%s: found %t, %v", id, found, err)
			}
		}
	}
	if s.attempts() != 3 {
		t.Errorf("%d requests, want the first offer, the list and the missing offer", s.attempts())
	}
}
