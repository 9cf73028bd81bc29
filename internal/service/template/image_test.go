package template

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestTaggedImage(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for image, valid := range map[string]bool{
		"ubuntu:24.04": true, "ghcr.io/team/app:1.2_rc-3": true, "registry.example:5000/a/b:1": true,
		"ubuntu:24.04" + digest: true,
		"ubuntu":                false, "registry.example:5000/a/b": false, "ubuntu" + digest: false, "a/B:1": false,
		"UPPER CASE:1": false, "http://a/b:1": false, "a:1\n": false, "": false,
	} {
		req := validator.StringRequest{Path: path.Root("image"), ConfigValue: types.StringValue(image)}
		var resp validator.StringResponse
		taggedImage.ValidateString(t.Context(), req, &resp)
		if resp.Diagnostics.HasError() == valid {
			t.Errorf("%q: valid %t, got %v", image, valid, resp.Diagnostics)
		}
	}
}
