package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// endlessService lists offers and transactions without end, with 200 items per page. Each hundredth page of
// transactions has refunds.
func endlessService(t *testing.T, requests *atomic.Int64) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := requests.Add(1)
		kind := "usage"
		if page%100 == 0 {
			kind = "refund"
		}
		var entries []string
		for i := range int64(200) {
			entries = append(entries, fmt.Sprintf(`{"id":"id_%d","type":%q,"available":true,"price":{"on_demand_kop_h":1}}`,
				200*page+i, kind))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[%s],"next_cursor":"c%d"}`, strings.Join(entries, ","), page)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/v1"
}

// Data sources read only the pages that max_results needs. Transactions have no limit of entries, because the data
// source keeps only the matches in memory.
func TestDataSources_EndlessLists(t *testing.T) {
	refunds := []tftypes.Value{tftypes.NewValue(tftypes.String, "refund")}
	for name, test := range map[string]struct {
		dataSource string
		config     map[string]any
		requests   int64
		failure    string
	}{
		"3 offers":               {"gpurent_offers", map[string]any{"max_results": 3}, 1, ""},
		"201 offers":             {"gpurent_offers", map[string]any{"max_results": 201}, 2, ""},
		"more offers than fit":   {"gpurent_offers", map[string]any{"max_results": 30_000}, 101, "more than 20000 entries"},
		"3 transactions":         {"gpurent_transactions", map[string]any{"max_results": 3}, 1, ""},
		"201 transactions":       {"gpurent_transactions", map[string]any{"max_results": 201}, 2, ""},
		"3 refunds on page 100":  {"gpurent_transactions", map[string]any{"max_results": 3, "types": refunds}, 100, ""},
		"201 refunds on 2 pages": {"gpurent_transactions", map[string]any{"max_results": 201, "types": refunds}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			resp := readDataSource(t, endlessService(t, &requests), test.dataSource, test.config)
			switch {
			case test.failure == "" && len(resp.Diagnostics) > 0:
				t.Error(resp.Diagnostics[0].Detail)
			case test.failure != "" && (len(resp.Diagnostics) == 0 ||
				!strings.Contains(resp.Diagnostics[0].Detail, test.failure)):
				t.Errorf("%v, want an error", resp.Diagnostics)
			}
			if requests.Load() != test.requests {
				t.Errorf("%d requests, want %d", requests.Load(), test.requests)
			}
		})
	}
}

// readDataSource configures a provider and reads a data source.
func readDataSource(t *testing.T, baseURL, name string, values map[string]any) *tfprotov6.ReadDataSourceResponse {
	t.Helper()
	server, schemas := acctest.ProviderServer(t)
	config := acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(),
		map[string]any{"base_url": baseURL, "api_key": "test" + strings.Repeat("0", 40)}))
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatal(err, configured)
	}
	config = acctest.Pack(t, acctest.Value(schemas.DataSourceSchemas[name].ValueType(), values))
	resp, err := server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
