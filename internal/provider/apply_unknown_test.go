package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

// A destroy with an unknown api_key uses the key of the environment, and names it. Without any other key, or with an
// unknown base_url, it fails without a request. Data sources use no such key.
func TestApplyResourceChange_UnknownProviderConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		unknown   string
		key       bool // in the environment
		summary   string
		destroyed bool
	}{
		"key of the environment": {"api_key", true, "API key from GPURENT_API_KEY used", true},
		"no other key":           {"api_key", false, "Provider configuration is unknown at apply", false},
		"address":                {"base_url", true, "Provider configuration is unknown at apply", false},
	} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			env.Post("templates", `{"name":"Own","image":"ubuntu:24.04"}`)
			slug := env.OwnTemplate()
			testhome.Use(t, t.TempDir())
			t.Setenv(provider.EnvBaseURL, "")
			t.Setenv(provider.EnvAPIKey, "")
			if test.key {
				t.Setenv(provider.EnvAPIKey, env.APIKey+"\n")
			}
			server := configureUnknown(t, env, test.unknown)
			resp := destroyTemplate(t, server, slug)
			if len(resp.Diagnostics) != 1 || resp.Diagnostics[0].Summary != test.summary {
				t.Errorf("%+v, want %s", *resp.Diagnostics[0], test.summary)
			}
			if left := env.NoneOwned() != nil; left == test.destroyed {
				t.Errorf("the template exists: %t", left)
			}
		})
	}
}

// configureUnknown returns a provider with one unknown argument.
func configureUnknown(t *testing.T, env *acctest.Env, unknown string) tfprotov6.ProviderServer {
	t.Helper()
	server, schemas := acctest.ProviderServer(t)
	arguments := map[string]any{"base_url": env.BaseURL}
	arguments[unknown] = tftypes.UnknownValue
	config := acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), arguments))
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(err, resp.Diagnostics)
	}
	if unknown == "api_key" {
		readWithoutKey(t, env, server, schemas)
	}
	return server
}

// readWithoutKey reads the catalog of templates, and checks that the request has no key.
func readWithoutKey(
	t *testing.T, env *acctest.Env, server tfprotov6.ProviderServer, schemas *tfprotov6.GetProviderSchemaResponse,
) {
	t.Helper()
	const name = "gpurent_templates"
	config := acctest.Value(schemas.DataSourceSchemas[name].ValueType(), map[string]any{"owner": "catalog"})
	before := len(env.Requests())
	resp, err := server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: name, Config: acctest.Pack(t, config),
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatal(err, resp.Diagnostics)
	}
	requests := env.Requests()[before:]
	for _, request := range requests {
		if request.KeyID != "" {
			t.Errorf("%s %s was sent with the key %s", request.Method, request.Path, request.KeyID)
		}
	}
	if len(requests) == 0 {
		t.Error("the data source sent no request")
	}
}

func destroyTemplate(
	t *testing.T, server tfprotov6.ProviderServer, slug string,
) *tfprotov6.ApplyResourceChangeResponse {
	t.Helper()
	const name = "gpurent_template"
	_, schemas := acctest.ProviderServer(t)
	typ := schemas.ResourceSchemas[name].ValueType()
	state := acctest.Value(typ, map[string]any{"id": slug, "slug": slug})
	resp, err := server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: name, PriorState: acctest.Pack(t, state), PlannedState: acctest.Pack(t, tftypes.NewValue(typ, nil)),
		Config: acctest.Pack(t, tftypes.NewValue(typ, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range resp.Diagnostics {
		if strings.Contains(d.Detail, "panic") {
			t.Error(d.Detail)
		}
	}
	return resp
}
