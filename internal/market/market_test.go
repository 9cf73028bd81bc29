package market

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// ids returns the ids of candidates without their common prefix.
func ids(candidates []lifecycle.Candidate) (ids []string) {
	for _, candidate := range candidates {
		ids = append(ids, candidate.Offer.ID[len("off_"):])
	}
	return ids
}

// The best offers are chosen that belong together and that the budget allows: as many as possible, of the first
// queries, then the cheapest ones.
func TestEstimate(t *testing.T) {
	prices := map[string]int64{
		"off_a_ru_1": 100, "off_a_ru_2": 110, "off_a_de_1": 90, "off_a_de_2": 200, "off_b_de_1": 80, "off_b_de_2": 85,
		"off_c_1": 10,
	}
	for name, test := range map[string]struct {
		change func(*Demand)
		want   string
		counts Counts // Needed and Matching are not compared
	}{
		"the first ones": {func(*Demand) {}, "[a_de_1 a_de_2]", Counts{Found: 2}},
		"without one": {
			func(d *Demand) { d.Except = map[string]bool{"off_a_de_1": true} }, "[a_de_2 a_ru_1]", Counts{Found: 2},
		},
		"within a cap":   {func(d *Demand) { d.MaxPriceKopH = 100 }, "[a_de_1 a_ru_1]", Counts{Found: 2}},
		"in one country": {func(d *Demand) { d.SameCountry = true }, "[a_ru_1 a_ru_2]", Counts{Found: 2}},
		"of one model": {
			func(d *Demand) { d.SameGPU, d.Count = true, 3 }, "[a_de_1 a_de_2 a_ru_1]", Counts{Found: 3},
		},
		"with an existing one": {
			func(d *Demand) { d.SameCountry, d.Existing = true, []Location{{"a", ""}, {"a", "de"}} },
			"[a_de_1 a_de_2]", Counts{Found: 2},
		},
		"too few in one country": {
			func(d *Demand) { d.SameCountry, d.Count = true, 5 }, "[a_de_1 a_de_2 b_de_1 b_de_2]",
			Counts{Found: 4, Split: true},
		},
		"of the first query, not the cheapest": {
			func(d *Demand) { d.SameCountry, d.SameGPU, d.Count = true, true, 1 }, "[a_de_1]", Counts{Found: 1},
		},
		"the second query, too": {
			func(d *Demand) { d.Count = 5 }, "[a_de_1 a_de_2 a_ru_1 a_ru_2 b_de_1]", Counts{Found: 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inMarket(t, rentaltest.NewMarket(prices), func(t *testing.T, m *Market) {
				d := demand(2, "a", "b")
				test.change(&d)
				for range 2 { // it claims nothing
					choice, err := m.Estimate(t.Context(), d)
					got := choice.Counts
					got.Needed, got.Matching = 0, 0
					if err != nil || fmt.Sprint(ids(choice.Candidates)) != test.want || got != test.counts {
						t.Errorf("got %v, %+v, %v", ids(choice.Candidates), choice.Counts, err)
					}
				}
			})
		})
	}
}

// The price of a candidate contains its disk. An offer without a country could be anywhere.
func TestEstimate_DiskAndUnknownCountry(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 10, "off_2": 10, "off_a_de_1": 100})
	api.StorageKop = 730
	inMarket(t, api, func(t *testing.T, m *Market) {
		d := demand(2)
		d.SameCountry = true
		choice, err := m.Estimate(t.Context(), d)
		if err != nil || fmt.Sprint(ids(choice.Candidates)) != "[a_de_1]" || choice.Candidates[0].KopH != 150 {
			t.Errorf("got %+v, %v", choice, err)
		}
	})
}

// Instances that belong together are rented together: too few offers are not claimed, and do not decide where the
// others are.
func TestTake_Together(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_a_ru_1": 100})
	inMarket(t, api, func(t *testing.T, m *Market) {
		d := demand(2)
		d.SameCountry, d.Wait, d.All = true, time.Hour, true
		time.AfterFunc(time.Minute, func() {
			if len(m.taken) > 0 {
				t.Errorf("claimed %v", m.taken)
			}
			api.Set("off_a_de_1", 100)
			api.Set("off_a_de_2", 100)
		})
		taken, err := m.Search(d).Take(t.Context(), 2, 2, true)
		if err != nil || fmt.Sprint(ids(taken)) != "[a_de_1 a_de_2]" {
			t.Errorf("took %v, %v", ids(taken), err)
		}
	})
}

// The first offer decides where the others are, unless nothing is rented from it.
func TestTake_Joins(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{
		"off_a_de_1": 100, "off_a_de_2": 110, "off_a_ru_1": 90, "off_a_ru_2": 120,
	})
	inMarket(t, api, func(t *testing.T, m *Market) {
		d := demand(1)
		d.SameCountry = true
		search := m.Search(d)
		take := func(want string) []lifecycle.Candidate {
			taken, err := search.Take(t.Context(), 1, 1, false)
			if err != nil || fmt.Sprint(ids(taken)) != want {
				t.Errorf("took %v, %v, want %s", ids(taken), err, want)
			}
			return taken
		}
		first := take("[a_ru_1]")
		second := take("[a_ru_2]")
		search.Release(second...)
		take("[a_ru_2]")
		search.Release(append(first, second...)...)
		api.Set("off_a_ru_1", 0)
		api.Set("off_a_ru_2", 0)
		time.Sleep(ListAge)
		take("[a_de_1]")
	})
}
