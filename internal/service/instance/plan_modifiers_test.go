package instance

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// An imported instance is not replaced because of arguments that the API omits in every response.
func TestPlanModifiers_ArgumentsUnknownSinceImport(t *testing.T) {
	const slug, image = "pytorch", "ubuntu:24.04"
	attributes := schemaOf(t).Attributes
	something := tftypes.NewValue(tftypes.Object{}, map[string]tftypes.Value{})
	state, plan := tfsdk.State{Raw: something}, tfsdk.Plan{Raw: something}
	text := func(name string, before types.String, now string) bool {
		resp := planmodifier.StringResponse{PlanValue: types.StringValue(now)}
		req := planmodifier.StringRequest{
			State: state, Plan: plan, StateValue: before,
			ConfigValue: types.StringValue(now), PlanValue: types.StringValue(now),
		}
		for _, modifier := range attributes[name].(schema.StringAttribute).PlanModifiers {
			modifier.PlanModifyString(t.Context(), req, &resp)
		}
		return resp.RequiresReplace
	}
	disk := func(before types.Int64) bool {
		resp := planmodifier.Int64Response{PlanValue: types.Int64Value(60)}
		req := planmodifier.Int64Request{
			State: state, Plan: plan, StateValue: before,
			ConfigValue: types.Int64Value(60), PlanValue: types.Int64Value(60),
		}
		for _, modifier := range attributes["disk_gb"].(schema.Int64Attribute).PlanModifiers {
			modifier.PlanModifyInt64(t.Context(), req, &resp)
		}
		return resp.RequiresReplace
	}
	other := types.StringValue("other")
	if text("template", types.StringNull(), slug) || text("image", types.StringNull(), image) || disk(types.Int64Null()) {
		t.Error("a server is replaced for a value that the service left out")
	}
	if !text("template", other, slug) || !text("image", other, image) || !disk(types.Int64Value(50)) {
		t.Error("a server is not replaced for a changed value")
	}
}
