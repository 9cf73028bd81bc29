package fleet

import (
	"context"
	"maps"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
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

const replacesMembers = " A change forces a new resource to be created, which loses all members and their data, " +
	"unless `update` is `rolling`."

// Schema implements resource.Resource.
//
//nolint:funlen // one literal
func (r *fleetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := tfinstance.ArgumentAttributes(replacesMembers, " Changed in place, without an effect on existing "+
		"members.")
	maps.Copy(attributes, map[string]schema.Attribute{
		"image": tfinstance.ImageAttribute(replacesMembers),
		"name": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Name of the fleet. The names of its members are `NAME-0`, `NAME-1` and so on. 1 to 40 " +
				"characters. Must consist of letters, digits, dots, underscores and hyphens, and must begin with a letter or " +
				"digit. Changing this forces a new resource to be created. Another fleet may have the same name.",
			Validators: []validator.String{
				stringvalidator.UTF8LengthBetween(1, maxNameLength),
				tfkit.Matches(fleetName, "must consist of letters, digits, dots, underscores and hyphens, and "+
					"must begin with a letter or digit"),
			},
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"size": schema.Int64Attribute{
			Required: true,
			MarkdownDescription: "Number of members. Must be between 0 and 5000. `0` keeps the resource and rents nothing. " +
				"Changed in place: a larger size fills the lowest free slots, a smaller one destroys the members in " +
				"the highest ones.",
			Validators: []validator.Int64{int64validator.Between(0, maxSize)},
		},
		"offer_queries": schema.ListNestedAttribute{
			Required: true,
			MarkdownDescription: "Queries for the offers of new members, in order of preference. Each query has the " +
				"filters of `gpurent_offers`; `[{}]` accepts any offer. Must not be empty. The provider selects offers for all " +
				"missing members together, as many as `same` and `max_price_kop_h` allow. It prefers the " +
				"first query, and within a query its `order`. Changed in place, without an effect on existing members.",
			NestedObject: schema.NestedAttributeObject{Attributes: tfinstance.QueryArguments()},
			Validators:   []validator.List{tfkit.NotEmpty()},
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
			MarkdownDescription: "What happens if not all members can be rented or become ready in time. Valid values: " +
				"`any` (keeps the members; the apply succeeds once `min_ready` members are ready, and the next apply " +
				"continues), `all` (destroys the members that the apply created, and fails; existing members stay). Defaults " +
				"to `any`. Changed in place.",
			Validators: []validator.String{tfkit.OneOf(allocationAny, allocationAll)},
		},
		"min_ready": schema.Int64Attribute{
			Optional: true, Computed: true,
			Default: int64default.StaticInt64(defaultMinReady),
			MarkdownDescription: "Minimum number of members in the `desired_state` for a successful apply. With fewer, the " +
				"apply fails. With more, but not all, it ends with a warning that lists the missing slots, and the next plan " +
				"contains them. Must be at least 0. Must not exceed `size`. Defaults to `1`. Changed in place. Has no effect " +
				"with `allocation = \"all\"`.",
			Validators: []validator.Int64{int64validator.AtLeast(0)},
		},
		"update": schema.StringAttribute{
			Optional: true, Computed: true,
			Default: stringdefault.StaticString(defaultUpdate),
			MarkdownDescription: "How a change to `template`, `disk_gb`, `type` or `image` is applied. Valid values: " +
				"`replace` (forces a new resource to be created), `rolling` (replaces `max_unavailable` members at a time, " +
				"each with its disk, and stops at the first failure). Defaults to `replace`. Changed in place.",
			Validators: []validator.String{tfkit.OneOf(updateReplace, updateRolling)},
		},
		"max_unavailable": schema.Int64Attribute{
			Optional: true, Computed: true,
			Default: int64default.StaticInt64(defaultMaxUnavailable),
			MarkdownDescription: "Number of members that `update = \"rolling\"` replaces at a time. Must be at least 1. " +
				"Defaults to `1`. Changed in place.",
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"wait_for_offer": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Maximum time that an apply waits for missing offers, as a Go duration such as `45m` or " +
				"`2h`. Must be above zero. By default, it does not wait. The provider reads the offers every 30 seconds. With " +
				"`allocation = \"all\"`, it rents nothing until there are offers for all missing members. Changed in place.",
			Validators: []validator.String{tfkit.Duration()},
		},
		"timeouts": tfinstance.Timeouts(ctx, "`30m`, plus one second for each member, plus `wait_for_offer`",
			"the same as `create`. It applies to each group of `max_unavailable` members of a rolling update",
			"`15m`, plus one second for each member"),

		"id": schema.StringAttribute{
			Computed: true, MarkdownDescription: "Id of the fleet: its name, a slash and 16 random characters. The " +
				"idempotency keys of its members derive from it.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"instances": instancesAttribute(),
		"ready": schema.Int64Attribute{
			Computed: true, MarkdownDescription: "Number of members in the `desired_state` that are ready.",
		},
		"running_kop_h": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "Sum of the running prices of all members in kopecks per hour, including extra disk.",
		},
		"hosts": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "SSH addresses (`HOST:PORT`) of the members that have one, by slot, for example for an " +
				"inventory.",
		},
		"ssh_config": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "Blocks of all members for an SSH configuration file. The host alias of a member is its " +
				"name, such as `train-0`. A member without a login has a comment instead.",
		},
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a fleet: several instances with the same arguments, its members. The provider rents, " +
			"starts, replaces and destroys members individually and concurrently, independent of `-parallelism`.\n\nAn " +
			"apply rents the members that are missing, starts or waits for members that are not in the `desired_state`, and " +
			"replaces failed ones. If all members were stopped outside Terraform, a plan shows that as a change of " +
			"`desired_state`, and `ignore_changes` leaves them stopped. If only some were stopped, an apply starts them. " +
			"If an apply of an existing fleet is killed, the next one finds the instances that it rented by their " +
			"idempotency keys, which derive from `id`.",
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
	{
		"status", types.StringType, "Status of the instance: `creating`, `starting`, `running`, `stopping`, `stopped`, " +
			"`destroying`, `destroyed`, `failed` or `outbid`. It is `unknown`, and `id` is null, if the outcome of the create " +
			"request is unknown: the next apply or destroy requests the key again.",
	},
	{"gpu", types.StringType, "Slug of the GPU model, as in the `gpu` filter of `gpurent_offers`."},
	{
		"country", types.StringType, "Country of the server as an ISO 3166-1 alpha-2 code. Null if the API returns none.",
	},
	{"running_kop_h", types.Int64Type, "Price while the instance runs, in kopecks per hour, extra disk included."},
	{"offer_id", types.StringType, tfinstance.RentedOfferID},
	{
		"ssh_host", types.StringType, "Host name or IP address of the SSH server. Null until the port is assigned, and " +
			"while the instance does not run.",
	},
	{"ssh_port", types.Int64Type, "TCP port of the SSH server. Null whenever `ssh_host` is null."},
	{"ssh_user", types.StringType, "User name of the SSH login. Null whenever `ssh_host` is null."},
	{"url", types.StringType, "Address of the first web page of the template. Null until it is ready, or without one."},
	{
		"generation", types.Int64Type, "Number of the instance in the slot, counted from 1: a replacement increases it. " +
			"Null after an import.",
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
		MarkdownDescription: "Members that exist, by slot: `instances[\"0\"]`, `instances[\"1\"]` and so on. The slots " +
			"have gaps while a member is missing. Each member has the attributes:" +
			// The generator of the documents appends a link to the end.
			list.String() + "\n\n  The nested schema contains the types of these attributes.",
	}
}
