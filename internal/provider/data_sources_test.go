package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// Data sources read only the pages that max_results needs, of lists without end. Each hundredth page of transactions
// has refunds.
func TestDataSources_EndlessLists(t *testing.T) {
	refunds := []any{"refund"}
	for name, test := range map[string]struct {
		dataSource string
		config     map[string]any
		requests   int64
	}{
		"3 offers":              {"gpurent_offers", map[string]any{"max_results": int64(3)}, 1},
		"201 offers":            {"gpurent_offers", map[string]any{"max_results": int64(201)}, 2},
		"201 transactions":      {"gpurent_transactions", map[string]any{"max_results": int64(201)}, 2},
		"3 refunds on page 100": {"gpurent_transactions", map[string]any{"max_results": int64(3), "types": refunds}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			var pages atomic.Int64
			env := acctest.Start(t, acctest.Intercept(simtest.Request("GET", "/(?:offers|transactions)").Do(
				func(w http.ResponseWriter, r *http.Request, api http.Handler) {
					page, kind := pages.Add(1), "usage"
					if page%100 == 0 {
						kind = "refund"
					}
					const item = `{"id":"id_%d","type":%q,"available":true,"price":{"on_demand_kop_h":1}}`
					var items []string
					for i := range int64(200) {
						items = append(items, fmt.Sprintf(item, 200*page+i, kind))
					}
					list := fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, strings.Join(items, ","), page)
					simtest.Respond(http.StatusOK, list)(w, r, api)
				})))
			_, diags := run(t, env).Data(test.dataSource, test.config)
			if len(diags) > 0 || pages.Load() != test.requests {
				t.Errorf("%d requests, want %d: %s", pages.Load(), test.requests, texts(diags))
			}
		})
	}
}

// Entries that cannot be read are named beside an object that is not found, because it may be one of them.
func TestDataSources_UnreadableEntries(t *testing.T) {
	env := acctest.Start(t)
	env.Proxy.Set(simtest.AnyRequest.Do(simtest.Respond(http.StatusOK,
		`{"data":[{"id":"one","slug":"one","name":"one"},{"id":"two","slug":"two","name":5}],"next_cursor":null}`)))
	defer env.Proxy.Set()
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
		_, diags := run(t, env).Data(test.dataSource, map[string]any{test.argument: test.value})
		if len(diags) != len(test.want) {
			t.Errorf("%s: %d diagnostics, want %d: %s", name, len(diags), len(test.want), texts(diags))
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(diags[i].Detail, want) {
				t.Errorf("%s: %q is not in: %s", name, want, diags[i].Detail)
			}
		}
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
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors")) // the provider does not retry
	narrow := env.Secret(`{"name":"narrow","scopes":["user:write"]}`)
	for name, schema := range schemas(t).DataSourceSchemas {
		scope := requiredScope.FindStringSubmatch(schema.Block.Description)
		for _, lookup := range lookups(schema) {
			fails := func(key any, want string) {
				t.Helper()
				config := map[string]any{"base_url": env.BaseURL, "api_key": key, "max_retries": int64(0)}
				_, diags := configured(t, config).Data(name, lookup)
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
