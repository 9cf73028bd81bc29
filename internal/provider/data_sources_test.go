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
		"an SSH key by name":     {"gpurent_ssh_key", map[string]any{"name": "x"}, 101, "more than 20000 entries"},
		"an API key by prefix":   {"gpurent_api_key", map[string]any{"prefix": "x"}, 101, "more than 20000 entries"},
		"a GPU model":            {"gpurent_gpu", map[string]any{"slug": "x"}, 101, "more than 20000 entries"},
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

// Entries that cannot be read are named beside an object that is not found, because it may be one of them.
func TestDataSources_UnreadableEntries(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"id":"one","slug":"one","name":"one"},{"id":"two","slug":"two","name":5}],`+
			`"next_cursor":null}`)
	}))
	t.Cleanup(server.Close)
	const skipped, missing = "They were left out", "Existing: "
	for name, test := range map[string]struct {
		dataSource, argument, value string
		want                        []string // parts of the diagnostics
	}{
		"an SSH key that can be read": {"gpurent_ssh_key", "name", "one", []string{skipped}},
		"an SSH key":                  {"gpurent_ssh_key", "name", "two", []string{skipped, missing}},
		"an API key":                  {"gpurent_api_key", "name", "two", []string{skipped, missing}},
		"a template by name":          {"gpurent_template", "name", "two", []string{skipped, missing}},
		"a template by slug":          {"gpurent_template", "slug", "two", []string{"it cannot be read"}},
		"a GPU model":                 {"gpurent_gpu", "slug", "two", []string{skipped, missing}},
		"no GPU model":                {"gpurent_gpu", "slug", "three", []string{skipped, missing}},
	} {
		t.Run(name, func(t *testing.T) {
			resp := readDataSource(t, server.URL+"/api/v1", test.dataSource, map[string]any{test.argument: test.value})
			if len(resp.Diagnostics) != len(test.want) {
				t.Fatalf("%d diagnostics, want %d: %v", len(resp.Diagnostics), len(test.want), resp.Diagnostics)
			}
			for i, want := range test.want {
				if !strings.Contains(resp.Diagnostics[i].Detail, want) {
					t.Errorf("%q is not in: %s", want, resp.Diagnostics[i].Detail)
				}
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
