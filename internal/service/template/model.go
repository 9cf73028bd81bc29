package template

import (
	"cmp"
	"context"
	"maps"
	"slices"

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

// fromAPI returns the state of a template. Fields that the API omits or normalizes keep their prior values, because a
// template cannot change.
func fromAPI(ctx context.Context, prior model, t rental.Template) (model, diag.Diagnostics) {
	var diags diag.Diagnostics
	m := prior
	m.Name = tfkit.PriorOrValue(prior.Name, tfkit.OptionalString(t.Name))
	if t.Image != "" && !rental.SameImage(prior.Image.ValueString(), t.Image) {
		m.Image = types.StringValue(t.Image)
	}
	m.Description = sameText(prior.Description, tfkit.OptionalString(t.Description))
	m.LaunchMode = launchMode(prior.LaunchMode, t.LaunchMode)
	if t.Ports != nil || prior.Ports.IsNull() {
		ports, d := types.SetValueFrom(ctx, types.Int64Type, tfkit.Unique(t.Ports))
		diags.Append(d...)
		m.Ports = ports
	}
	if prior.Env.IsNull() || prior.Env.IsUnknown() {
		env := map[string]string{}
		maps.Copy(env, t.Env)
		value, d := types.MapValueFrom(ctx, types.StringType, env)
		diags.Append(d...)
		m.Env = value
	}
	m.Onstart = sameText(prior.Onstart, onstart(t.OnStart))
	m.MinDiskGB = positiveOrPrior(t.MinDiskGB, prior.MinDiskGB)
	m.RecommendedDiskGB = positiveOrPrior(t.RecommendedDiskGB, prior.RecommendedDiskGB)
	m.ID, m.Slug = types.StringValue(t.Slug), types.StringValue(t.Slug)
	m.Public = types.BoolValue(t.Public)
	m.Owner = types.StringValue(string(cmp.Or(t.Owner, rental.OwnerMe)))
	return m, diags
}

// launchMode returns the launch mode of the API, or the prior value if the API omits it or returns an unknown one.
func launchMode(prior types.String, now rental.LaunchMode) types.String {
	known := now == rental.LaunchSSH || now == rental.LaunchJupyter || now == rental.LaunchEntrypoint
	switch {
	case known || now != "" && prior.IsNull():
		return types.StringValue(string(now))
	case prior.IsNull():
		return types.StringValue(string(rental.LaunchSSH)) // the default of the API
	}
	return prior
}

// positiveOrPrior returns the size in GB of the API, or the prior one if the API omits it.
func positiveOrPrior(now int64, prior types.Int64) types.Int64 {
	switch {
	case now > 0:
		return types.Int64Value(now)
	case prior.IsUnknown():
		return types.Int64Null()
	}
	return prior
}

// onstart returns the start command. It is null if the API returns null or an empty command.
func onstart(command *string) types.String {
	if command == nil {
		return types.StringNull()
	}
	return tfkit.OptionalString(*command)
}

// created returns the state after a creation. It keeps the planned image and texts, because Terraform reports an error
// if the state has the normalized ones of the API.
func created(plan, now model) model {
	m := plan
	m.ID, m.Slug, m.Public, m.Owner = now.ID, now.Slug, now.Public, now.Owner
	m.MinDiskGB = tfkit.PlannedOrActual(plan.MinDiskGB, now.MinDiskGB)
	m.RecommendedDiskGB = tfkit.PlannedOrActual(plan.RecommendedDiskGB, now.RecommendedDiskGB)
	return m
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

// sameContent reports whether a template has the content of a create request. It ignores optional fields that the API
// omits, the sizes, which the API may choose, and the launch mode, which may be unknown to this version.
func sameContent(create rental.TemplateCreate, t rental.Template) bool {
	ports, wanted := slices.Sorted(slices.Values(t.Ports)), slices.Sorted(slices.Values(create.Ports))
	return sameLine(t.Name, create.Name) && rental.SameImage(t.Image, create.Image) &&
		(t.Description == "" || sameLine(t.Description, create.Description)) &&
		(t.OnStart == nil || sameLine(*t.OnStart, create.OnStart)) &&
		(t.Ports == nil || slices.Equal(ports, wanted)) && (t.Env == nil || maps.Equal(t.Env, create.Env))
}
