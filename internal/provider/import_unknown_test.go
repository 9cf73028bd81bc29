package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// An import with an unknown address or key is an error, because the plan would replace a resource that it cannot read.
func TestImportResourceState_UnknownProviderConfiguration(t *testing.T) {
	for _, unknown := range []string{"base_url", "api_key"} {
		server, schemas := acctest.ProviderServer(t)
		arguments := map[string]any{"base_url": "http://127.0.0.1:1/api/v1"}
		arguments[unknown] = tftypes.UnknownValue
		config := acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), arguments))
		req := &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.9", Config: config}
		resp, err := server.ConfigureProvider(t.Context(), req)
		if err != nil || len(resp.Diagnostics) > 0 {
			t.Fatal(err, resp.Diagnostics)
		}
		for name := range schemas.ResourceSchemas {
			req := &tfprotov6.ImportResourceStateRequest{TypeName: name, ID: "id_1"}
			imported, err := server.ImportResourceState(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			const want = "Provider configuration is unknown"
			if len(imported.Diagnostics) != 1 || imported.Diagnostics[0].Summary != want || len(imported.ImportedResources) > 0 {
				t.Errorf("%s unknown: the import of a %s returns %v and %v", unknown, name, imported.Diagnostics,
					imported.ImportedResources)
			}
		}
	}
}
