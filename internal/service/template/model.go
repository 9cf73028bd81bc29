package template

import (
	"cmp"
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// model is the model of the resource.
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

// fromAPI returns the state of a template. A template cannot change, so the state keeps what it has. Null is a value of
// description and onstart, except after an import, which sets only the id.
func fromAPI(ctx context.Context, prior model, t rental.Template) (model, diag.Diagnostics) {
	ports, diags := types.SetValueFrom(ctx, types.Int64Type, tfkit.Unique(t.Ports))
	env, d := types.MapValueFrom(ctx, types.StringType, maps.Collect(maps.All(t.Env)))
	diags.Append(d...)
	m := model{
		Name:        tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(t.Name)),
		Image:       tfkit.PriorOrValue(prior.Image, tfkit.OptionalString(t.Image)),
		Description: prior.Description,
		LaunchMode:  tfkit.PriorOrValue(prior.LaunchMode, types.StringValue(string(cmp.Or(t.LaunchMode, rental.LaunchSSH)))),
		Ports:       tfkit.PriorOrValue(prior.Ports, ports),
		Env:         tfkit.PriorOrValue(prior.Env, env),
		Onstart:     prior.Onstart,

		MinDiskGB:         tfkit.PriorOrValue(prior.MinDiskGB, tfkit.OptionalInt64(t.MinDiskGB)),
		RecommendedDiskGB: tfkit.PriorOrValue(prior.RecommendedDiskGB, tfkit.OptionalInt64(t.RecommendedDiskGB)),

		ID:     types.StringValue(t.Slug),
		Slug:   types.StringValue(t.Slug),
		Public: tfkit.PriorOrValue(prior.Public, types.BoolValue(t.Public)),
		Owner:  tfkit.PriorOrValue(prior.Owner, types.StringValue(string(cmp.Or(t.Owner, rental.OwnerMe)))),
	}
	if imported := prior.Name.IsNull(); imported {
		m.Description = tfkit.OptionalString(t.Description)
		if t.OnStart != nil {
			m.Onstart = tfkit.OptionalString(*t.OnStart)
		}
	}
	return m, diags
}

// toCreate returns the body of the create request.
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
