package offer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// contains checks that the state and the messages of a data source contain texts.
func contains(t *testing.T, p acctest.Plugin, dataSource string, arguments map[string]any, want ...string) {
	t.Helper()
	state, diags := p.Data(dataSource, arguments)
	for _, text := range want {
		if all := state + acctest.Texts(diags); !strings.Contains(all, text) {
			t.Errorf("%s %v: no %q in %s", dataSource, arguments, text, all)
		}
	}
}

// An offer that is not available can be read, and has its present price. The read of an offer that is gone fails.
func TestOffer_Unavailable(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	kopH := cheapest.Price.OnDemandKopH + 100
	if err := env.SetOffer(cheapest.ID, simulator.OfferPatch{Available: new(false), OnDemandKopH: &kopH}); err != nil {
		t.Fatal(err)
	}
	p := acctest.Configured(t, env.Arguments())
	contains(t, p, "gpurent_offer", map[string]any{"id": cheapest.ID}, `"available":tftypes.Bool<"false">`,
		fmt.Sprintf(`"on_demand_kop_h":tftypes.Number<"%d">`, kopH), `"count":tftypes.Number<"1">`)
	contains(t, p, "gpurent_offer", map[string]any{"id": "off_gone"}, "Cannot read offer off_gone", "not_found",
		"when it is rented", "gpurent_offers", "offer_query")
}

// The price estimate and the availability check of a plan use the offer of the data source, without another request.
func TestOffer_OneRequestPerPlan(t *testing.T) {
	t.Parallel()
	// With these quirks, a change is not visible at once, or a request is repeated.
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers", "gateway-errors"))
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	for _, available := range []bool{true, false} {
		if err := env.SetOffer(cheapest.ID, simulator.OfferPatch{Available: &available}); err != nil {
			t.Fatal(err)
		}
		env.ClearRequests()
		p := acctest.Configured(t, env.Arguments())
		p.Data("gpurent_offer", map[string]any{"id": cheapest.ID})
		_, diags := p.Plan(p.None("gpurent_instance"), map[string]any{
			"offer_id": cheapest.ID, "template": "pytorch", "disk_gb": int64(60),
		})
		if n := env.CountRequests("GET", "/offers"); n != 1 {
			t.Errorf("%d requests for one offer: %v", n, env.Requests())
		}
		text := acctest.Texts(diags)
		if warned := strings.Contains(text, "Offer "+cheapest.ID+" is not available"); warned == available {
			t.Errorf("available %t, warning %t: %s", available, warned, text)
		}
	}
}

func TestOffers_Filters(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	contains(t, p, "gpurent_offers", map[string]any{
		"country": []any{"DE", "NL", "FI", "RU", "US", "KZ"}, "verified": true, "min_cuda": 11.5, "min_disk_gb": 10.0,
		"min_inet_down_mbps": 1.0, "min_reliability": 0.1,
	}, `"verified":tftypes.Bool<"true">`)
	contains(t, p, "gpurent_offers", map[string]any{"max_price_kop_h": int64(0)}, `"ids":tftypes.List[tftypes.String]<>`)
	contains(t, p, "gpurent_offers", map[string]any{"gpu": []any{"rtx_4090", "rtx-3090"}}, "No such GPU model",
		`run "terraform-provider-gpurent gpus"`)
}
