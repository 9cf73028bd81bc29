package rental

import (
	"strings"
	"testing"
)

// The filters that the API does not have match the bound itself. An offer that omits the value does not match.
func TestOfferQuery_ClientFilters(t *testing.T) {
	full := Offer{
		ID: "full", RAMGB: new(int64(8)), CPU: OfferCPU{Cores: new(int64(8))}, MaxDurationDays: new(int64(8)),
		Network: OfferNetwork{UpMbps: new(int64(8)), Ports: new(int64(8))}, Disk: OfferDisk{BWMBps: new(int64(8))},
		Country: new("DE"),
	}
	atLeast := func(n int64) OfferQuery {
		amount := new(float64(n))
		return OfferQuery{
			MinRAMGB: amount, MinCPUCores: new(n), MinInetUpMbps: amount, MinDurationDays: new(n), MinPorts: new(n),
			MinDiskBWMBps: amount,
		}
	}
	for want, query := range map[bool]OfferQuery{true: atLeast(8), false: atLeast(9)} {
		query.ExcludeCountries, query.ExcludeOfferIDs = []string{"FR"}, []string{"other"}
		if !want {
			query.ExcludeCountries, query.ExcludeOfferIDs = []string{"FR", "DE"}, []string{"other", "full"}
		}
		filters := query.clientFilters()
		if len(filters) != 8 {
			t.Errorf("%d filters", len(filters))
		}
		for _, filter := range filters {
			if filter.Matches(full) != want {
				t.Errorf("%s = %s matches: %t", filter.Name, filter.Value, !want)
			}
			if filter.Matches(Offer{ID: "full"}) && filter.Name != "exclude_offer_ids" {
				t.Errorf("%s = %s matches an offer that omits it", filter.Name, filter.Value)
			}
		}
	}
}

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
