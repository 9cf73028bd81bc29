package fleet

import (
	"context"
	"maps"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	maxNameLength = 40
	maxSize       = 5000
)

// The values of the arguments.
const (
	allocationAny = "any"
	allocationAll = "all"

	updateReplace = "replace"
	updateRolling = "rolling"

	sameCountry = "country"
	sameGPU     = "gpu"
)

// The defaults of policies, which an import sets, too.
const (
	defaultAllocation     = allocationAny
	defaultUpdate         = updateReplace
	defaultMaxUnavailable = 1
	defaultMinReady       = 1
)

// fleetName matches names that can be part of host aliases.
var fleetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const replacesMembers = " Changing this forces a new resource to be created, unless `update` is `rolling`."

// Schema implements resource.Resource.
//
//nolint:funlen // one literal
func (r *fleetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := tfinstance.ArgumentAttributes(replacesMembers, " A later change applies to new members only.")
	maps.Copy(attributes, map[string]schema.Attribute{
		"image": tfinstance.ImageAttribute(replacesMembers),
		"name": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Name of the fleet. Its members are named `NAME-0`, `NAME-1` and so on. 1 to 40 " +
				"characters. Must consist of ASCII letters, digits, dots, underscores and hyphens, and must begin with a letter " +
				"or digit. Changing this forces a new resource to be created.",
			Validators: []validator.String{
				stringvalidator.UTF8LengthBetween(1, maxNameLength),
				tfkit.Matches(fleetName, "must consist of the letters a to z and A to Z, digits, dots, underscores "+
					"and hyphens, and must begin with a letter or digit, because host aliases contain it"),
			},
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"size": schema.Int64Attribute{
			Required: true,
			MarkdownDescription: "Number of members. Must be between 0 and 5000. A larger size fills the lowest free slots, " +
				"a smaller one drops missing members, then destroys those in the highest slots.",
			Validators: []validator.Int64{int64validator.Between(0, maxSize)},
		},
		"offer_queries": schema.ListNestedAttribute{
			Required: true,
			MarkdownDescription: "Queries for the offers of new members, in order of preference. `[{}]` accepts any offer. " +
				"Must not be empty. A later change applies to new members only.",
			NestedObject: schema.NestedAttributeObject{Attributes: tfinstance.QueryArguments()},
			Validators:   []validator.List{listvalidator.SizeAtLeast(1), listvalidator.NoNullValues()},
		},
		"same": schema.SetAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Properties that all members share. Valid values: `country`, `gpu` (the GPU model). " +
				"Defaults to none. New members also share those of existing ones.",
			Validators: []validator.Set{tfkit.Elements(tfkit.OneOf(sameCountry, sameGPU))},
		},
		"allocation": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(defaultAllocation),
			MarkdownDescription: "Policy if an apply cannot rent all missing members in time. Valid values: `any` (keeps " +
				"those that it rented), `all` (destroys those that it rented, and [fails](../guides/fleets.md#all-or-none)). " +
				"Defaults to `any`.",
			Validators: []validator.String{tfkit.OneOf(allocationAny, allocationAll)},
		},
		"min_ready": schema.Int64Attribute{
			Optional: true, Computed: true,
			Default: int64default.StaticInt64(defaultMinReady),
			MarkdownDescription: "Minimum number of members in the `desired_state`. With fewer, the apply fails. With more, " +
				"but not all, it ends with a warning, and the next apply continues. Must be at least 0. Must not exceed " +
				"`size`. Defaults to `1`. Has no effect with `allocation = \"all\"`.",
			Validators: []validator.Int64{int64validator.AtLeast(0), int64validator.AtMostSumOf(path.MatchRoot("size"))},
		},
		"update": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(defaultUpdate),
			MarkdownDescription: "How a change to `template`, `disk_gb`, `type` or `image` is applied. Valid values: " +
				"`replace` (forces a new resource to be created), `rolling` ([replaces](../guides/fleets.md#rolling-update) " +
				"`max_unavailable` members at a time). Defaults to `replace`.",
			Validators: []validator.String{tfkit.OneOf(updateReplace, updateRolling)},
		},
		"max_unavailable": schema.Int64Attribute{
			Optional: true, Computed: true,
			Default: int64default.StaticInt64(defaultMaxUnavailable),
			MarkdownDescription: "Number of members that `update = \"rolling\"` replaces at a time. Must be at least 1. " +
				"Defaults to `1`.",
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"wait_for_offer": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Maximum time that an apply waits for missing offers, as a Go duration such as `45m`. Must " +
				"be above zero. By default, it [does not wait](../guides/getting-capacity.md).",
			Validators: []validator.String{tfkit.Duration()},
		},
		"timeouts": tfinstance.Timeouts(ctx, "`30m`, plus one second for each member, plus `wait_for_offer`",
			"the same as `create`. In a rolling update, it applies to each group of members",
			"`15m`, plus one second for each member"),

		"id": schema.StringAttribute{
			Computed: true, MarkdownDescription: "Id of the fleet: its name, a slash and 16 random characters.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"instances": instancesAttribute(),
		"ready": schema.Int64Attribute{
			Computed: true, MarkdownDescription: "Number of members in the `desired_state` that are ready.",
		},
		"running_kop_h": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "Sum of the running prices of all members in kopecks per hour, with extra disk.",
		},
		"hosts": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "SSH addresses (`HOST:PORT`) of the members that have one, by slot.",
		},
		"ssh_config": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Blocks of all members for an SSH configuration file. The host alias of a member is its name.",
		},
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a fleet: several instances with the same arguments, its members. The provider rents, " +
			"starts, replaces and destroys members individually and concurrently, independent of `-parallelism`.",
		Attributes: attributes,
	}
}

// memberAttributes are the attributes of an element of instances.
var memberAttributes = []struct {
	name        string
	kind        attr.Type
	description string
}{
	{"id", types.StringType, "Id of the instance."},
	{"status", types.StringType, "Status, as of `gpurent_instance`, or `unknown`, with a null `id`."},
	{"gpu", types.StringType, "Slug of the GPU model."},
	{
		"country", types.StringType, "Country of the server as an ISO 3166-1 alpha-2 code. Null if the API returns none.",
	},
	{"running_kop_h", types.Int64Type, "Price while the instance runs, in kopecks per hour, with extra disk."},
	{"offer_id", types.StringType, tfinstance.RentedOfferID},
	{
		"ssh_host", types.StringType, "Host name or IP address of the SSH server. Null while the instance has no address.",
	},
	{"ssh_port", types.Int64Type, "TCP port of the SSH server. Null whenever `ssh_host` is null."},
	{"ssh_user", types.StringType, "User name of the SSH login. Null whenever `ssh_host` is null."},
	{"url", types.StringType, "Address of the first web page of the template. Null while not ready, or without one."},
	{
		"generation", types.Int64Type, "Number of the instance in the slot, from 1: a replacement increases it. Null " +
			"after an import.",
	},
}

// instancesAttribute are the members by slot. It is not a nested attribute, because the framework and the CLI need much
// more time for the values of those.
func instancesAttribute() schema.MapAttribute {
	var list strings.Builder
	for _, attribute := range memberAttributes {
		list.WriteString("\n  - `" + attribute.name + "`: " + attribute.description)
	}
	return schema.MapAttribute{
		Computed: true, ElementType: memberType,
		MarkdownDescription: "Members that exist, by slot: `instances[\"0\"]`, `instances[\"1\"]` and so on. Each has the " +
			"attributes:" +
			// The generator of the documents appends a link to the end.
			list.String() + "\n\n  The nested schema contains the types of these attributes.",
	}
}
