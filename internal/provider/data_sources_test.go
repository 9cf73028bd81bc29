package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
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

// Data sources read only the pages that max_results needs.
func TestDataSources_EndlessLists(t *testing.T) {
	refunds := []tftypes.Value{tftypes.NewValue(tftypes.String, "refund")}
	for name, test := range map[string]struct {
		dataSource string
		config     map[string]any
		requests   int64
	}{
		"3 offers":               {"gpurent_offers", map[string]any{"max_results": 3}, 1},
		"201 offers":             {"gpurent_offers", map[string]any{"max_results": 201}, 2},
		"3 transactions":         {"gpurent_transactions", map[string]any{"max_results": 3}, 1},
		"201 transactions":       {"gpurent_transactions", map[string]any{"max_results": 201}, 2},
		"3 refunds on page 100":  {"gpurent_transactions", map[string]any{"max_results": 3, "types": refunds}, 100},
		"201 refunds on 2 pages": {"gpurent_transactions", map[string]any{"max_results": 201, "types": refunds}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			p := configured(t, map[string]any{"base_url": endlessService(t, &requests), "api_key": rentaltest.Key})
			_, diags := p.data(test.dataSource, test.config)
			if len(diags) > 0 {
				t.Error(texts(diags))
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
	const skipped, missing = "They were left out", "lists all of them"
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
		"no GPU model":                {"gpurent_gpu", "slug", "three", []string{skipped, "terraform-provider-gpurent gpus"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := configured(t, map[string]any{"base_url": server.URL + "/api/v1", "api_key": rentaltest.Key})
			_, diags := p.data(test.dataSource, map[string]any{test.argument: test.value})
			if len(diags) != len(test.want) {
				t.Fatalf("%d diagnostics, want %d: %s", len(diags), len(test.want), texts(diags))
			}
			for i, want := range test.want {
				if !strings.Contains(diags[i].Detail, want) {
					t.Errorf("%q is not in: %s", want, diags[i].Detail)
				}
			}
		})
	}
}

// lookups returns the arguments of a data source that select one item: once for each argument that can.
func lookups(schema *tfprotov6.Schema) (all []map[string]any) {
	required := map[string]any{}
	for _, a := range schema.Block.Attributes {
		if a.Required {
			required[a.Name] = "anything"
		}
	}
	for _, a := range schema.Block.Attributes {
		if value, ok := lookupArguments[a.Name]; ok && a.Optional && a.Computed {
			one := maps.Clone(required)
			one[a.Name] = value
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		all = append(all, required)
	}
	return all
}

// lookupArguments are the arguments that select one item in a data source with several of them, with a value.
var lookupArguments = map[string]any{
	"id": "anything", "slug": "anything", "name": "anything", "prefix": "anything",
	"fingerprint": "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo",
}

// A data source with several arguments that select its item requires exactly one of them.
func TestDataSources_ExactlyOneLookupArgument(t *testing.T) {
	server, all := acctest.ProviderServer(t)
	for name, schema := range all.DataSourceSchemas {
		one := lookups(schema)
		if len(one) == 1 {
			continue
		}
		both := maps.Clone(one[0])
		maps.Copy(both, one[1])
		for _, arguments := range []map[string]any{{}, both, one[0], one[1]} {
			resp, err := server.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{
				TypeName: name, Config: acctest.Pack(t, acctest.Value(schema.ValueType(), arguments)),
			})
			if must(t, resp, err); (len(resp.Diagnostics) == 0) != (len(arguments) == 1) {
				t.Errorf("%s with %v: %s", name, arguments, texts(resp.Diagnostics))
			}
		}
	}
}

// requiredScope matches the scope in the description of a type.
var requiredScope = regexp.MustCompile("Requires the\\s+scope\\s+`([a-z:]+)`")

// A data source reports an error of the service with the next step, and never returns it as an empty result. One whose
// description names a scope reports a missing key, and a key without the scope; the others need no key.
func TestDataSources_ReportErrors(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	t.Setenv(provider.EnvAPIKey, "")
	env := acctest.Start(t)
	narrow := env.Secret(`{"name":"narrow","scopes":["user:write"]}`)
	for name, schema := range schemas(t).DataSourceSchemas {
		scope := requiredScope.FindStringSubmatch(schema.Block.Description)
		for _, lookup := range lookups(schema) {
			fails := func(key any, want string) {
				t.Helper()
				config := map[string]any{"base_url": env.BaseURL, "api_key": key, "max_retries": int64(0)}
				_, diags := configured(t, config).data(name, lookup)
				text := texts(diags)
				if !regexp.MustCompile(want).MatchString(text) || want == "" && strings.Contains(text, "Missing API key") {
					t.Errorf("%s with %v: %q does not match %q", name, lookup, text, want)
				}
			}
			if err := env.AddFault(simulator.Fault{Path: "/", Status: 503}); err != nil {
				t.Fatal(err)
			}
			fails(env.APIKey, `(?s)^Cannot (read|list) .*provider_unavailable.*Run again`)
			env.ClearFaults()
			if scope == nil {
				fails(nil, "")
				continue
			}
			fails(nil, "^Missing API key: ")
			fails(narrow, `(?s)^Cannot (read|list) .*lacks the scope `+scope[1])
		}
	}
}
