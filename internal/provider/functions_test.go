package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// OpenTofu omits null arguments, and Terraform sends null.
func TestCallFunction_NullArgument(t *testing.T) {
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	alias, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, "trainer"))
	if err != nil {
		t.Fatal(err)
	}
	for name, null := range map[string]*tfprotov6.DynamicValue{"missing": nil, "empty": {},
		"MessagePack": {MsgPack: []byte{0xc0}}, "JSON": {JSON: []byte("null")}} {
		req := &tfprotov6.CallFunctionRequest{Name: "ssh_config", Arguments: []*tfprotov6.DynamicValue{&alias, null}}
		resp, err := server.CallFunction(t.Context(), req)
		if err != nil || resp.Error != nil {
			t.Errorf("%s: %v, %+v", name, err, resp.Error)
			continue
		}
		result, err := resp.Result.Unmarshal(tftypes.String)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		if err := result.As(&text); err != nil || !strings.HasPrefix(text, "# trainer: ") {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
}
