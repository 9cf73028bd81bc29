package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

func TestPlugin_RejectsFrameDumps(t *testing.T) {
	for godebug, refused := range map[string]bool{
		"": false, "http2debug=1": false, "http2client=0": false, "http2debug=2": true, "gctrace=1,http2debug=2": true,
	} {
		t.Setenv(envGODEBUG, godebug)
		plugin, err := NewPlugin("test")
		if err != nil {
			t.Fatal(err)
		}
		schema, err := plugin.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(schema.Diagnostics) > 0; got != refused {
			t.Errorf("GODEBUG=%s: refused %t, want %t: %v", godebug, got, refused, schema.Diagnostics)
		}
	}
}
