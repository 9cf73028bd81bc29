package instance

import (
	"context"
	"maps"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Bounds of the API.
const (
	minDiskGB     = 10
	maxDiskGB     = 2000
	maxNameLength = 60
	maxSSHKeys    = 10
	maxKeyLength  = 64
)

// idempotencyKey matches the values that the header Idempotency-Key accepts. A separate validator checks the length,
// because the length in the pattern would make every start of the provider slower.
var idempotencyKey = regexp.MustCompile(`^[!-~]+$`)

const forcesReplacement = " Changing this forces a new resource to be created."

// Schema implements resource.Resource.
//
//nolint:funlen // one literal
func (r *instanceResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"template": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Slug of the template that the instance starts from." + forcesReplacement,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			PlanModifiers:       []planmodifier.String{replaceIfStateHasText()},
		},
		"disk_gb": schema.Int64Attribute{
			Required: true,
			MarkdownDescription: "Disk size in GB. Must be between 10 and 2000, and not below the minimum of the template." +
				forcesReplacement + " The disk and its data are then lost.",
			Validators:    []validator.Int64{int64validator.Between(minDiskGB, maxDiskGB)},
			PlanModifiers: []planmodifier.Int64{replaceIfStateHasDisk()},
		},
		"offer_id": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Id of the offer to rent, from `gpurent_offers`. Exactly one of `offer_id` and " +
				"`offer_query` is required. Applies at creation only: a later change plans nothing, unless `replace_on` " +
				"contains `offer_id`.",
			Validators: []validator.String{
				stringvalidator.LengthAtLeast(1),
				stringvalidator.ExactlyOneOf(path.MatchRoot(argOfferID), path.MatchRoot(argOfferQuery)),
			},
		},
		"offer_query": queryAttribute(),
		"name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Name of the instance, up to 60 characters. Changed in place.",
			Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
		},
		"type": schema.StringAttribute{
			Optional: true,
			Computed: true,
			Default:  stringdefault.StaticString(string(rental.OnDemand)),
			MarkdownDescription: "Rental type. Valid values: `on_demand`, `interruptible` (cheaper, and outbid when the " +
				"market price rises above the bid). Defaults to `on_demand`." + forcesReplacement,
			Validators:    []validator.String{stringvalidator.OneOf(string(rental.OnDemand), string(rental.Interruptible))},
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"max_price_kop_h": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Maximum price in kopecks per hour of the whole server for its `type`, as in the filter of " +
				"`gpurent_offers`. It applies to the creation, to every later start, and to every new bid of an interruptible " +
				"instance. Disk beyond the offer's base disk is billed on top. No maximum by default.",
			Validators: []validator.Int64{int64validator.AtLeast(1)},
		},
		"ssh_key_ids": schema.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Ids of the SSH keys to attach, up to 10. Defaults to all keys of the account; an empty set " +
				"attaches none. Applies at creation only: the API cannot change the keys of an instance, so a later change " +
				"causes a warning, unless `replace_on` contains `ssh_key_ids`.",
			Validators: []validator.Set{
				setvalidator.SizeAtMost(maxSSHKeys),
				setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
			},
		},
		"image": schema.StringAttribute{
			Optional: true,
			Computed: true,
			MarkdownDescription: "Container image. With `template = \"custom\"`, any image. With another template, only the " +
				"image of that template, which is the default." + forcesReplacement,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseStateForUnknown(),
				sameImage{},
				replaceIfConfiguredText(),
			},
		},
		"desired_state": schema.StringAttribute{
			Optional: true,
			Computed: true,
			Default:  stringdefault.StaticString(string(rental.DesiredRunning)),
			MarkdownDescription: "State of the instance after an apply. Valid values: `running`, `stopped` (keeps the disk; " +
				"only the disk is billed). Defaults to `running`. Changed in place.",
			Validators: []validator.String{stringvalidator.OneOf(string(rental.DesiredRunning), string(rental.DesiredStopped))},
		},
		"on_outbid": schema.StringAttribute{
			Optional: true,
			Computed: true,
			Default:  stringdefault.StaticString(string(lifecycle.OutbidRestart)),
			MarkdownDescription: "What the next apply does with an interruptible instance that was outbid. Valid values: " +
				"`restart` (places a new bid within `max_price_kop_h`), `keep` (leaves it outbid), `replace` (creates another " +
				"instance). Defaults to `restart`.",
			Validators: []validator.String{
				stringvalidator.OneOf(
					string(lifecycle.OutbidRestart),
					string(lifecycle.OutbidKeep),
					string(lifecycle.OutbidReplace),
				),
			},
		},
		"keep_on_timeout": schema.BoolAttribute{
			Optional: true,
			Computed: true,
			Default:  booldefault.StaticBool(false),
			MarkdownDescription: "Whether a creation that does not finish within `timeouts.create` ends with a warning, and " +
				"the next apply continues to wait. Otherwise it ends with an error, the instance is marked tainted, and the " +
				"next apply replaces it. Defaults to `false`.",
		},
		"replace_on": schema.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Arguments that apply at creation only and whose change forces a new resource to be " +
				"created. Valid values: `offer_id`, `offer_query`, `ssh_key_ids`. Defaults to none. The disk and its data are " +
				"lost in a replacement.",
			Validators: []validator.Set{
				setvalidator.ValueStringsAre(stringvalidator.OneOf(argOfferID, argOfferQuery, argSSHKeyIDs)),
			},
		},
		"idempotency_key": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Idempotency key of this instance, up to 64 printable ASCII characters without spaces, " +
				"different for each instance. With a fixed key, a run that is killed between the creation and the saved " +
				"state loses no instance: the next apply receives the same instance and saves it. When the instance is replaced, " +
				"the provider uses `KEY-2`, `KEY-3` and so on; with `create_before_destroy`, change the key with each " +
				"replacement. A later change only updates the state. Defaults to a random key for each creation.",
			Validators: []validator.String{
				stringvalidator.LengthAtMost(maxKeyLength),
				stringvalidator.RegexMatches(idempotencyKey, "must be 1 to 64 printable ASCII characters without spaces"),
			},
		},
		"timeouts": describedTimeouts(ctx),

		"rented_offer_id": schema.StringAttribute{
			Computed: true,
			MarkdownDescription: "Id of the offer that was rented. Null after an import, and if an instance of an earlier " +
				"run was recovered: the API does not return it.",
		},
		"quoted_kop_h": schema.Int64Attribute{
			Computed: true,
			MarkdownDescription: "Price at creation in kopecks per hour while running, disk included. Unlike `price` it does " +
				"not change with a new bid. Null after an import.",
		},
		"template_name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the template."},
	}
	maps.Copy(attributes, tfkit.ForResource(commonAttributes()))
	resp.Schema = schema.Schema{
		MarkdownDescription: "A rented GPU server, billed by the second while it exists: the full price while it runs, " +
			"only the disk while it is stopped or outbid.\n\nAn apply ends when the instance is in its `desired_state`: " +
			"running, with its SSH address assigned, or stopped. If an instance was stopped elsewhere, was outbid, or is not " +
			"ready because a run was interrupted, the next apply starts it or waits for it.",
		Attributes: attributes,
	}
}

// describedTimeouts adds a description to the timeouts attribute, which the library omits.
func describedTimeouts(ctx context.Context) schema.Attribute {
	attribute := timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, Update: true, Delete: true,
		CreateDescription: "How long a creation may take until the instance is ready. Defaults to `30m`.",
		UpdateDescription: "How long a start or stop may take. Defaults to `30m`.",
		DeleteDescription: "How long a destruction may take. Defaults to `15m`.",
	})
	nested, ok := attribute.(schema.SingleNestedAttribute)
	if !ok {
		return attribute
	}
	nested.MarkdownDescription = "How long each operation may take, as Go durations such as `45m`."
	return nested
}

// commonAttributes are the computed attributes that the resource and the data sources share.
func commonAttributes() map[string]datasource.Attribute {
	object := func(description string, attributes map[string]datasource.Attribute) datasource.SingleNestedAttribute {
		return datasource.SingleNestedAttribute{Computed: true, MarkdownDescription: description, Attributes: attributes}
	}
	return map[string]datasource.Attribute{
		"id": tfkit.ComputedString("Id of the instance."),
		"status": tfkit.ComputedString("Status: `creating`, `starting`, `running`, `stopping`, `stopped`, `destroying`, " +
			"`destroyed`, `failed` or `outbid`."),
		"stop_reason": tfkit.ComputedString("Why the instance stopped: `user`, `low_balance`, `admin` or `provider`. Null " +
			"if it never stopped."),
		"gpu": object("GPUs of the instance.", map[string]datasource.Attribute{
			"slug":    tfkit.ComputedString("Model slug, as in the `gpu` filter of `gpurent_offers`."),
			"name":    tfkit.ComputedString("Model name."),
			"count":   tfkit.ComputedInt64("Number of GPUs."),
			"vram_gb": tfkit.ComputedInt64("VRAM of each GPU in GB. Null if the API omits it."),
		}),
		"country": tfkit.ComputedString("Country of the server, ISO 3166-1 alpha-2. Null if the API omits it."),
		"price": object("Locked price.", map[string]datasource.Attribute{
			"running_kop_h":  tfkit.ComputedInt64("Price while running, in kopecks per hour."),
			"stopped_kop_h":  tfkit.ComputedInt64("Price while stopped or outbid (the disk), in kopecks per hour."),
			"traffic_kop_gb": tfkit.ComputedInt64("Price of traffic, in kopecks per GB."),
		}),
		"ssh": object(
			"SSH login. Null until the port is assigned, and for templates without SSH.",
			map[string]datasource.Attribute{
				"host":    tfkit.ComputedString("Host name or IP address."),
				"port":    tfkit.ComputedInt64("TCP port."),
				"user":    tfkit.ComputedString("User name."),
				"command": tfkit.ComputedString("SSH command that logs in."),
			},
		),
		"urls": datasource.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Web interfaces of the template.",
			NestedObject: datasource.NestedAttributeObject{Attributes: map[string]datasource.Attribute{
				"label": tfkit.ComputedString("Label of the interface."),
				"url":   tfkit.ComputedString("Address of the interface. Null until it is ready."),
			}},
		},
		"created_at": tfkit.ComputedString("Time of the creation, RFC 3339 in UTC."),
		"started_at": tfkit.ComputedString("Time of the first start, RFC 3339 in UTC. Null until the instance has run."),
	}
}
