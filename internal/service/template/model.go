package template

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

type model struct {
	Name  types.String `tfsdk:"name"`
	Image types.String `tfsdk:"image"`

	Description       types.String `tfsdk:"description"`
	LaunchMode        types.String `tfsdk:"launch_mode"`
	Ports             types.Set    `tfsdk:"ports"`
	Env               types.Map    `tfsdk:"env"`
	Onstart           types.String `tfsdk:"onstart"`
	MinDiskGB         types.Int64  `tfsdk:"min_disk_gb"`
	RecommendedDiskGB types.Int64  `tfsdk:"recommended_disk_gb"`

	ID     types.String `tfsdk:"id"`
	Slug   types.String `tfsdk:"slug"`
	Public types.Bool   `tfsdk:"public"`
	Owner  types.String `tfsdk:"owner"`
}

// fromAPI is the read side.
func fromAPI(ctx context.Context, t rental.Template) (model, diag.Diagnostics) {
	var diags diag.Diagnostics
	ports, problems := types.SetValueFrom(ctx, types.Int64Type, append([]int64{}, t.Ports...))
	diags.Append(problems...)
	env := t.Env
	if env == nil {
		env = map[string]string{}
	}
	envValue, problems := types.MapValueFrom(ctx, types.StringType, env)
	diags.Append(problems...)
	return model{
		Name:              types.StringValue(t.Name),
		Image:             types.StringValue(t.Image),
		Description:       tfkit.Text(t.Description),
		LaunchMode:        types.StringValue(string(t.LaunchMode)),
		Ports:             ports,
		Env:               envValue,
		Onstart:           onstart(t.OnStart),
		MinDiskGB:         types.Int64Value(t.MinDiskGB),
		RecommendedDiskGB: types.Int64Value(t.RecommendedDiskGB),
		ID:                types.StringValue(t.Slug),
		Slug:              types.StringValue(t.Slug),
		Public:            types.BoolValue(t.Public),
		Owner:             types.StringValue(string(t.Owner)),
	}, diags
}

// onstart is null for no command, however the service writes that.
func onstart(command *string) types.String {
	if command == nil {
		return types.StringNull()
	}
	return tfkit.Text(*command)
}

// created is the state after a creation: what was planned stands, so that an
// image name or a text the service normalises is not a broken promise.
func created(plan, now model) model {
	m := plan
	m.ID, m.Slug, m.Public, m.Owner = now.ID, now.Slug, now.Public, now.Owner
	m.MinDiskGB = tfkit.Prefer(plan.MinDiskGB, now.MinDiskGB)
	m.RecommendedDiskGB = tfkit.Prefer(plan.RecommendedDiskGB, now.RecommendedDiskGB)
	return m
}

// toCreate is the write side.
func toCreate(ctx context.Context, plan model) (rental.TemplateCreate, diag.Diagnostics) {
	create := rental.TemplateCreate{
		Name:        plan.Name.ValueString(),
		Image:       plan.Image.ValueString(),
		Description: plan.Description.ValueString(),
		LaunchMode:  rental.LaunchMode(plan.LaunchMode.ValueString()),
		OnStart:     plan.Onstart.ValueString(),
	}
	diags := plan.Ports.ElementsAs(ctx, &create.Ports, false)
	diags.Append(plan.Env.ElementsAs(ctx, &create.Env, false)...)
	if !plan.MinDiskGB.IsUnknown() {
		create.MinDiskGB = plan.MinDiskGB.ValueInt64()
	}
	if !plan.RecommendedDiskGB.IsUnknown() {
		create.RecommendedDiskGB = plan.RecommendedDiskGB.ValueInt64()
	}
	return create, diags
}

// sameContent says whether a template has what create asked for, leaving out
// the sizes that the service may have chosen itself.
func sameContent(create rental.TemplateCreate, t rental.Template) bool {
	ports, wanted := slices.Sorted(slices.Values(t.Ports)), slices.Sorted(slices.Values(create.Ports))
	return t.Name == create.Name && t.Image == create.Image && t.Description == create.Description && t.LaunchMode == create.LaunchMode &&
		onstart(t.OnStart).ValueString() == create.OnStart && slices.Equal(ports, wanted) && maps.Equal(t.Env, create.Env)
}
