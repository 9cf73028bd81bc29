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
)

// Bounds of the service.
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
		MarkdownDescription: "An own template: the container image, ports, environment and start command that instances start from. Up to 20 in an account.\n\n" +
			"The service cannot change a template, so any change replaces it. Instances created from a deleted template keep running.",
		Attributes: attributes,
	}
}

func addRequired(attributes map[string]schema.Attribute) {
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Name, 2 to 60 characters.",
		Validators:          []validator.String{stringvalidator.UTF8LengthBetween(minNameLength, maxNameLength)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
	attributes["image"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Container image with a tag, for example `ubuntu:24.04`.",
		Validators:          []validator.String{taggedImage{}},
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplaceIf(otherImage,
			"A change replaces the resource. Spellings of the same image are the same.", "")},
	}
}

func addOptional(attributes map[string]schema.Attribute) {
	replaceText := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	attributes["description"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Description, up to 500 characters. Null by default.",
		Validators:          []validator.String{stringvalidator.UTF8LengthAtMost(maxDescriptionLength)},
		PlanModifiers:       []planmodifier.String{replaceForText{}},
	}
	attributes["launch_mode"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(rental.LaunchSSH)),
		MarkdownDescription: "How the container is launched: `ssh` (default), `jupyter` or `entrypoint`.",
		Validators: []validator.String{stringvalidator.OneOf(
			string(rental.LaunchSSH), string(rental.LaunchJupyter), string(rental.LaunchEntrypoint))},
		PlanModifiers: replaceText,
	}
	attributes["ports"] = schema.SetAttribute{
		Optional: true, Computed: true, ElementType: types.Int64Type,
		Default:             setdefault.StaticValue(types.SetValueMust(types.Int64Type, []attr.Value{})),
		MarkdownDescription: "Container ports to expose, 1 to 65535, up to 10. None by default.",
		Validators:          []validator.Set{setvalidator.SizeAtMost(maxPorts), setvalidator.ValueInt64sAre(int64validator.Between(1, maxPort))},
		PlanModifiers:       []planmodifier.Set{setplanmodifier.RequiresReplace()},
	}
	attributes["env"] = schema.MapAttribute{
		Optional: true, Computed: true, ElementType: types.StringType,
		Default: mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{})),
		MarkdownDescription: "Environment variables, up to 30. None by default. They can be read by everyone with a key of the account and stand in the state: " +
			"no place for secrets.",
		Validators:    []validator.Map{mapvalidator.SizeAtMost(maxEnv), mapvalidator.KeysAre(stringvalidator.LengthAtLeast(1))},
		PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
	}
	attributes["onstart"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Command run at start, up to 4000 characters. None by default.",
		Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxOnstartLength)},
		PlanModifiers:       replaceText,
	}
	disk := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: description,
			Validators:          []validator.Int64{int64validator.Between(minDiskGB, maxDiskGB)},
			PlanModifiers:       []planmodifier.Int64{int64planmodifier.UseStateForUnknown(), int64planmodifier.RequiresReplaceIfConfigured()},
		}
	}
	attributes["min_disk_gb"] = disk("Smallest disk an instance may have, GB, 10 to 2000. The service chooses by default.")
	attributes["recommended_disk_gb"] = disk("Recommended disk, GB, 10 to 2000, not below `min_disk_gb`. The service chooses by default.")
}

func addComputed(attributes map[string]schema.Attribute) {
	keepText := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	attributes["id"] = schema.StringAttribute{Computed: true, MarkdownDescription: "The same as `slug`.", PlanModifiers: keepText}
	attributes["slug"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Identifier, the `template` of an instance.", PlanModifiers: keepText}
	attributes["public"] = schema.BoolAttribute{
		Computed: true, MarkdownDescription: "Visible to everyone. Own templates are not.",
		PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
	}
	attributes["owner"] = schema.StringAttribute{Computed: true, MarkdownDescription: "`me` for own templates.", PlanModifiers: keepText}
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *templateResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var smallest, recommended types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("min_disk_gb"), &smallest)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("recommended_disk_gb"), &recommended)...)
	if smallest.IsNull() || smallest.IsUnknown() || recommended.IsNull() || recommended.IsUnknown() {
		return
	}
	if recommended.ValueInt64() < smallest.ValueInt64() {
		addRecommendedBelowMinimum(&resp.Diagnostics, recommended.ValueInt64(), smallest.ValueInt64())
	}
}
