package cost_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
)

// A query has every filter of the schema.
func TestQuery_HasEveryFilter(t *testing.T) {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[rental.OfferQuery]()) {
		name := cmp.Or(field.Tag.Get("json"), "-")
		if !slices.Contains([]string{"-", "type", "max_price_kop_h"}, name) { // these are arguments beside the query
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if want := slices.Sorted(maps.Keys(tfinstance.QueryArguments())); !slices.Equal(names, want) {
		t.Errorf("the query has %v, and the schema %v", names, want)
	}
}

// The prices are those of the offers that an apply takes, each once, with the disk; the cap counts without one.
func TestNewReportWithPrices(t *testing.T) {
	simtest.InBubble(t, simulator.Config{Seed: 1}, testPrices)
}

func testPrices(t *testing.T, b *simtest.Bubble) {
	offers := slices.DeleteFunc(b.Offers(), func(offer rental.Offer) bool {
		return offer.GPU.Slug != "rtx_4090" || offer.GPU.Count != 1
	})
	// price is what a server from the n-th offer costs with 60 GB.
	price := func(n int) int64 { return offers[n].Price.OnDemandKopH + offers[n].DiskKopH(50) }
	const query = `{"gpu": ["rtx_4090"], "num_gpus": [1]}`
	const server60 = `"type": "on_demand", "disk_gb": 60`
	const queried = server60 + `, "max_price_kop_h": 9000, "offer_query": ` + query
	create := func(kind, name, after string) string {
		return changeOf(kind, name, `"actions": ["create"], "before": null, "after": {`+after+`}, "after_unknown": {}`)
	}
	report, err := cost.NewReportWithPrices(t.Context(), b.Client, planOf(t,
		create(instance, "a", queried),
		create("gpurent_fleet", "train", server60+`, "size": 2, "offer_queries": [`+query+`]`),
		create(instance, "named", server60+`, "offer_id": "`+offers[5].ID+`"`),
		create(instance, "gone", server60+`, "offer_id": "off_none", "max_price_kop_h": 700`),
		create(instance, "above", server60+`, "max_price_kop_h": 2, "offer_id": "`+offers[6].ID+`"`),
		create(instance, "none", strings.Replace(queried, "9000", "1", 1)),
		create(instance, "fallback", server60+`, "offer_query": {"gpu": ["none"]}, "fallback_queries": [`+query+`]`),
		strings.Replace(create(instance, "unknown", queried), `"after_unknown": {`,
			`"after_unknown": {"offer_query": {"gpu": [true]}`, 1),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"gpurent_fleet.train create 0 now " + fmt.Sprint(price(1)+price(2)) + " uncapped",
		"gpurent_instance.a create 0 now " + fmt.Sprint(price(0)),
		"gpurent_instance.above create 0 <=2+disk",
		"gpurent_instance.fallback create 0 now " + fmt.Sprint(price(3)) + " uncapped",
		"gpurent_instance.gone create 0 <=700+disk",
		"gpurent_instance.named create 0 now " + fmt.Sprint(price(5)) + " uncapped",
		"gpurent_instance.none create 0 <=1+disk",
		"gpurent_instance.unknown create 0 <=9000+disk",
	}
	var got []string
	for _, s := range report.Servers {
		got = append(got, lineOf(s))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if table := report.Table(); !strings.Contains(table, "No offer now for 1 of 1") {
		t.Errorf("the table is\n%s", table)
	}
}

// anyOffer returns a plan that creates servers from any offer.
func anyOffer(t *testing.T, servers int) cost.Plan {
	t.Helper()
	change := creation(instance, `"type": "on_demand", "disk_gb": 10, "offer_query": {}`)
	return planOf(t, slices.Repeat([]string{change}, servers)...)
}

// Servers with equal queries share lists of offers.
func TestNewReportWithPrices_ReadsFewLists(t *testing.T) {
	lists := 0
	api := new(rentaltest.Transport)
	api.Script("GET /offers", func(req *http.Request) (*http.Response, error) {
		page := 0
		if _, err := fmt.Sscan(req.URL.Query().Get("cursor"), &page); err != nil {
			lists++
		}
		var offers []any
		for n := range rental.MaxPageSize {
			offers = append(offers, rentaltest.Offer(fmt.Sprintf("off_%d_%d", page, n), 100))
		}
		body := map[string]any{"data": offers, "next_cursor": fmt.Sprint(page + 1)}
		return rentaltest.JSONResponse(req, http.StatusOK, body)
	})
	const servers = 520
	synctest.Test(t, func(t *testing.T) {
		report, err := cost.NewReportWithPrices(t.Context(), rentaltest.Client(t, api), anyOffer(t, servers))
		if err != nil || report.Totals.AfterKopH != servers*100 || lists > 3 {
			t.Errorf("%d lists, %+v, %v", lists, report.Totals, err)
		}
	})
}

// An API that fails is an error, and not a plan without offers.
func TestNewReportWithPrices_Fails(t *testing.T) {
	api := new(rentaltest.Transport)
	api.Script("GET /offers", rentaltest.Fail(http.StatusNotFound))
	if report, err := cost.NewReportWithPrices(t.Context(), rentaltest.Client(t, api), anyOffer(t, 1)); err == nil {
		t.Errorf("%+v", report)
	}
}
