package offer_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// The data source reads no more of an endless market than max_results needs, and no more than the provider holds.
func TestOffersDataSource_LargeMarket(t *testing.T) {
	for maxResults, want := range map[int64]struct {
		requests int64
		failure  string
	}{3: {1, ""}, 200: {1, ""}, 201: {2, ""}, 30_000: {101, "more than 20000 entries"}} {
		t.Run(fmt.Sprint(maxResults), func(t *testing.T) {
			var requests atomic.Int64
			market := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				page := requests.Add(1)
				var offers []string
				for i := range int64(200) {
					offers = append(offers, fmt.Sprintf(`{"id":"off_%d","available":true,"price":{"on_demand_kop_h":1}}`, 200*page+i))
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, strings.Join(offers, ","), page)) //nolint:errcheck // the client reports it
			}))
			t.Cleanup(market.Close)
			resp := readOffers(t, market.URL+"/api/v1", maxResults)
			switch {
			case want.failure == "" && len(resp.Diagnostics) > 0:
				t.Error(resp.Diagnostics[0].Detail)
			case want.failure != "" && (len(resp.Diagnostics) == 0 || !strings.Contains(resp.Diagnostics[0].Detail, want.failure)):
				t.Errorf("%v, want an error", resp.Diagnostics)
			}
			if requests.Load() != want.requests {
				t.Errorf("%d requests, want %d", requests.Load(), want.requests)
			}
		})
	}
}

// readOffers reads the data source gpurent_offers with max_results.
func readOffers(t *testing.T, baseURL string, maxResults int64) *tfprotov6.ReadDataSourceResponse {
	t.Helper()
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	config := pack(t, schemas.Provider.ValueType(), map[string]any{"base_url": baseURL})
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatal(err, configured)
	}
	resp, err := server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: "gpurent_offers", Config: pack(t, schemas.DataSourceSchemas["gpurent_offers"].ValueType(), map[string]any{"max_results": maxResults}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// pack makes an object whose other attributes are null.
func pack(t *testing.T, as tftypes.Type, values map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	attributes := map[string]tftypes.Value{}
	for name, kind := range as.(tftypes.Object).AttributeTypes {
		attributes[name] = tftypes.NewValue(kind, values[name])
	}
	packed, err := tfprotov6.NewDynamicValue(as, tftypes.NewValue(as, attributes))
	if err != nil {
		t.Fatal(err)
	}
	return &packed
}
