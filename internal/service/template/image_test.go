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
	for image, want := range map[string]string{
		"ubuntu:24.04": "", "ghcr.io/team/app:1.2_rc-3": "", "registry.example:5000/a/b:1": "", "ubuntu:24.04" + digest: "",
		"ubuntu": "Container image without a tag", "registry.example:5000/a/b": "Container image without a tag",
		"ubuntu" + digest: "Container image without a tag",
		"a/B:1":           "Not a container image", "UPPER CASE:1": "Not a container image",
		"http://a/b:1": "Not a container image",
		"a:1\n":        "Not a container image", "": "Not a container image",
	} {
		req := validator.StringRequest{Path: path.Root("image"), ConfigValue: types.StringValue(image)}
		var resp validator.StringResponse
		taggedImage.ValidateString(t.Context(), req, &resp)
		got := ""
		if resp.Diagnostics.HasError() {
			got = resp.Diagnostics[0].Summary()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", image, got, want)
		}
	}
}
