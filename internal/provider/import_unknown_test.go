package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// While the address or the key is unknown, an import is an error: without a read, the plan would replace what it imports.
func TestImportResourceState_UnknownProviderConfiguration(t *testing.T) {
	for _, unknown := range []string{"base_url", "api_key"} {
		server, schemas := acctest.ProviderServer(t)
		arguments := map[string]any{"base_url": "http://127.0.0.1:1/api/v1"}
		arguments[unknown] = tftypes.UnknownValue
		config := acctest.Pack(t, acctest.Value(schemas.Provider.ValueType(), arguments))
		resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.15.9", Config: config})
		if err != nil || len(resp.Diagnostics) > 0 {
			t.Fatal(err, resp.Diagnostics)
		}
		for name := range schemas.ResourceSchemas {
			imported, err := server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: name, ID: "id_1"})
			if err != nil {
				t.Fatal(err)
			}
			if len(imported.Diagnostics) != 1 || imported.Diagnostics[0].Summary != "Cannot import: the provider configuration is unknown" || len(imported.ImportedResources) > 0 {
				t.Errorf("%s unknown: the import of a %s returns %v and %v", unknown, name, imported.Diagnostics, imported.ImportedResources)
			}
		}
	}
}
