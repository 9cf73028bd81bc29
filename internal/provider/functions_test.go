package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// OpenTofu omits null arguments, and Terraform sends null.
func TestCallFunction_NullArgument(t *testing.T) {
	server, _ := acctest.ProviderServer(t)
	alias := acctest.Pack(t, tftypes.NewValue(tftypes.String, "trainer"))
	for name, null := range map[string]*tfprotov6.DynamicValue{"missing": nil, "empty": {},
		"MessagePack": {MsgPack: []byte{0xc0}}, "JSON": {JSON: []byte("null")}} {
		req := &tfprotov6.CallFunctionRequest{Name: "ssh_config", Arguments: []*tfprotov6.DynamicValue{alias, null}}
		resp, err := server.CallFunction(t.Context(), req)
		if err != nil || resp.Error != nil {
			t.Errorf("%s: %v, %+v", name, err, resp.Error)
			continue
		}
		result, err := resp.Result.Unmarshal(tftypes.String)
		if text := must(t, result, err).String(); !strings.Contains(text, `"# trainer: `) {
			t.Errorf("%s: got %s", name, text)
		}
	}
}
