package template

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Limits of the API. Lengths are in characters.
const (
	minNameLength        = 2
	maxNameLength        = 60
	maxDescriptionLength = 500
	maxOnstartLength     = 4000
	maxPorts             = 10
	maxEnv               = 30
	minDiskGB            = 10
	maxDiskGB            = 2000
	maxPort              = 65535
)

// Schema implements resource.Resource.
func (r *templateResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	addRequired(attributes)
	addOptional(attributes)
	addComputed(attributes)
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages one of the account's own templates: the container image, ports, environment " +
			"variables and start command of instances. An account can have up to 20 templates.\n\nThe API cannot change a " +
			"template, so a change to any argument replaces it, and its `slug` changes. An instance or a fleet whose " +
			"`template` refers to it is then replaced as well, and **loses its disk**. To keep an instance, add `lifecycle { " +
			"ignore_changes = [template] }` to it: the API keeps the instances of a deleted template.",
		Attributes: attributes,
	}
}

func addRequired(attributes map[string]schema.Attribute) {
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Name of the template. 2 to 60 characters. Changing this forces a new resource to be created.",
		Validators:          []validator.String{stringvalidator.UTF8LengthBetween(minNameLength, maxNameLength)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
	attributes["image"] = schema.StringAttribute{
		Required: true,
		MarkdownDescription: "Container image with a tag, such as `ubuntu:24.04`. Changing this forces a new resource " +
			"to be created. Another spelling of the same image is not a change.",
		Validators:    []validator.String{taggedImage},
		PlanModifiers: []planmodifier.String{replaceUnless(rental.SameImage)},
	}
}

// addOptional adds the arguments that are not required.
//
//nolint:funlen // one literal for each attribute
func addOptional(attributes map[string]schema.Attribute) {
	replaceText := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	attributes["description"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "Description of the template. Up to 500 characters. Null by default. Changing this forces " +
			"a new resource to be created.",
		Validators:    []validator.String{stringvalidator.UTF8LengthAtMost(maxDescriptionLength)},
		PlanModifiers: []planmodifier.String{replaceUnless(func(before, now string) bool { return before == now })},
	}
	attributes["launch_mode"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(rental.LaunchSSH)),
		MarkdownDescription: "Launch mode of the container. Valid values: `ssh`, `jupyter`, `entrypoint`. Defaults to " +
			"`ssh`. Changing this forces a new resource to be created.",
		Validators: []validator.String{tfkit.OneOf(
			string(rental.LaunchSSH), string(rental.LaunchJupyter), string(rental.LaunchEntrypoint))},
		PlanModifiers: replaceText,
	}
	attributes["ports"] = schema.SetAttribute{
		Optional: true, Computed: true, ElementType: types.Int64Type,
		Default: setdefault.StaticValue(types.SetValueMust(types.Int64Type, []attr.Value{})),
		MarkdownDescription: "Container ports. Must be between 1 and 65535. Up to 10 ports. Defaults to `[]`. Changing " +
			"this forces a new resource to be created.",
		Validators: []validator.Set{
			setvalidator.SizeAtMost(maxPorts), setvalidator.NoNullValues(),
			setvalidator.ValueInt64sAre(int64validator.Between(1, maxPort)),
		},
		PlanModifiers: []planmodifier.Set{setplanmodifier.RequiresReplace()},
	}
	attributes["env"] = schema.MapAttribute{
		Optional: true, Computed: true, ElementType: types.StringType,
		Default: mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{})),
		MarkdownDescription: "Environment variables of the container. Up to 30 variables. Names must not be empty. " +
			"Defaults to `{}`. Changing this forces a new resource to be created. Do not use them for secrets: the API " +
			"returns them in the list of templates, and they are in the state.",
		Validators: []validator.Map{
			mapvalidator.SizeAtMost(maxEnv), mapvalidator.NoNullValues(),
			mapvalidator.KeysAre(tfkit.NotEmpty()),
		},
		PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
	}
	attributes["onstart"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "Command that runs at the start of an instance. 1 to 4000 characters. Null by default. " +
			"Changing this forces a new resource to be created.",
		Validators:    []validator.String{stringvalidator.UTF8LengthBetween(1, maxOnstartLength)},
		PlanModifiers: replaceText,
	}
	disk := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: description,
			Validators:          []validator.Int64{int64validator.Between(minDiskGB, maxDiskGB)},
			PlanModifiers: []planmodifier.Int64{
				int64planmodifier.UseStateForUnknown(), int64planmodifier.RequiresReplaceIfConfigured(),
			},
		}
	}
	attributes["min_disk_gb"] = disk("Minimum disk size of an instance in GB. Must be between 10 and 2000. Defaults " +
		"to the value that the API chooses. Changing this forces a new resource to be created.")
	attributes["recommended_disk_gb"] = disk("Recommended disk size of an instance in GB. Must be between 10 and " +
		"2000, and not below `min_disk_gb`. Defaults to the value that the API chooses. Changing this forces a new " +
		"resource to be created.")
}

func addComputed(attributes map[string]schema.Attribute) {
	attributes["id"] = tfkit.ComputedOnce("Slug of the template, the same as `slug`.")
	attributes["slug"] = tfkit.ComputedOnce("Slug of the template, as in `template` of an instance.")
	attributes["public"] = schema.BoolAttribute{
		Computed: true, MarkdownDescription: "Whether the template is visible to all accounts.",
		PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
	}
	attributes["owner"] = tfkit.ComputedOnce("Owner of the template: `me`.")
}

// replaceUnless replaces the template if a text changes, unless the new one is the same. Null is an empty text, because
// the API does not distinguish them.
func replaceUnless(same func(before, now string) bool) planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(
		_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
	) {
		resp.RequiresReplace = req.PlanValue.IsUnknown() || !same(req.StateValue.ValueString(), req.PlanValue.ValueString())
	}, "Changing this forces a new resource to be created, unless the new value is the same.", "")
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *templateResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var minimum, recommended types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("min_disk_gb"), &minimum)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("recommended_disk_gb"), &recommended)...)
	known := !minimum.IsNull() && !minimum.IsUnknown() && !recommended.IsNull() && !recommended.IsUnknown()
	if known && recommended.ValueInt64() < minimum.ValueInt64() {
		addRecommendedBelowMinimum(&resp.Diagnostics, recommended.ValueInt64(), minimum.ValueInt64())
	}
}
