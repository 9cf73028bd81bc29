package rental

import "testing"

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
