package instance

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Bounds of the service.
const (
	minDiskGB     = 10
	maxDiskGB     = 2000
	maxNameLength = 60
	maxSSHKeys    = 10
)

// Schema implements resource.Resource.
func (r *instanceResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	addRequired(attributes)
	addOptional(ctx, attributes)
	addComputed(attributes)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A rented GPU server, billed by the second while it exists: the full price while it runs, the disk alone while it is stopped or outbid.\n\n" +
			"An apply ends when the server is where `desired_state` wants it: running with its SSH address assigned, or stopped. " +
			"A server that was stopped elsewhere, outbid, or left half-way by an interrupted run is put right by the next apply.",
		Attributes: attributes,
	}
}

func addRequired(attributes map[string]schema.Attribute) {
	attributes["template"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Slug of the template the server starts from. A change replaces the server.",
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		PlanModifiers:       []planmodifier.String{replacesByTemplate()},
	}
	attributes["disk_gb"] = schema.Int64Attribute{
		Required:            true,
		MarkdownDescription: "Disk, GB, 10 to 2000. A change replaces the server: its disk and data are lost.",
		Validators:          []validator.Int64{int64validator.Between(minDiskGB, maxDiskGB)},
		PlanModifiers:       []planmodifier.Int64{replacesByDisk()},
	}
}

func addOptional(ctx context.Context, attributes map[string]schema.Attribute) {
	attributes["offer_id"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The offer to rent, from `gpurent_offers`. Exactly one of `offer_id` and `offer_query` is needed. It acts at creation only: an offer is a quote, so a later change " +
			"(the list moves all the time) plans nothing, unless `replace_on` names it.",
		Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(path.MatchRoot(argOfferID), path.MatchRoot(argOfferQuery))},
	}
	attributes["offer_query"] = queryAttribute()
	addPolicies(attributes)
	attributes["name"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Name, up to 60 characters. It is changed in place.",
		Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
	}
	attributes["type"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(string(rental.OnDemand)),
		MarkdownDescription: "`on_demand` (default) or `interruptible`: cheaper, and stopped when the market passes the bid. A change replaces the server.",
		Validators:          []validator.String{stringvalidator.OneOf(string(rental.OnDemand), string(rental.Interruptible))},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
	attributes["max_price_kop_h"] = schema.Int64Attribute{
		Optional: true,
		MarkdownDescription: "Dearest offer to accept, kopecks per hour for the whole server and the chosen `type`, as in the filter of `gpurent_offers`: " +
			"it caps the creation, every later start, and every new bid of an interruptible server. Disk beyond the offer's base comes on top. No cap by default.",
		Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
	attributes["ssh_key_ids"] = schema.SetAttribute{
		Optional:    true,
		ElementType: types.StringType,
		MarkdownDescription: "Ids of the SSH keys to attach, up to 10. All of the account's keys by default, none for an empty set. It acts at creation only: " +
			"the service cannot change the keys of a server, so a later change draws a warning and leaves the server as it is, unless `replace_on` names it.",
		Validators: []validator.Set{
			setvalidator.SizeAtMost(maxSSHKeys),
			setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
		},
	}
	attributes["image"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		MarkdownDescription: "Container image. With `template = \"custom\"`, any image. With another template, only the image of that template, which is the default. A change replaces the server.",
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), sameImage{}, replacesByImage()},
	}
	attributes["desired_state"] = schema.StringAttribute{
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(string(rental.DesiredRunning)),
		MarkdownDescription: "`running` (default) or `stopped`: a stopped server keeps its disk, and only the disk is billed. It is changed in place.",
		Validators:          []validator.String{stringvalidator.OneOf(string(rental.DesiredRunning), string(rental.DesiredStopped))},
	}
	attributes["timeouts"] = describedTimeouts(ctx)
}

// addPolicies adds what says how to handle the server, and can change at any time
// without a request.
func addPolicies(attributes map[string]schema.Attribute) {
	attributes["on_outbid"] = schema.StringAttribute{
		Optional: true,
		Computed: true,
		Default:  stringdefault.StaticString(outbidRestart),
		MarkdownDescription: "What the next apply does about an interruptible server that was outbid: `restart` (default) places a new bid within `max_price_kop_h`; " +
			"`keep` leaves it outbid; `replace` rents another.",
		Validators: []validator.String{stringvalidator.OneOf(outbidRestart, outbidKeep, outbidReplace)},
	}
	attributes["keep_on_timeout"] = schema.BoolAttribute{
		Optional: true,
		Computed: true,
		Default:  booldefault.StaticBool(false),
		MarkdownDescription: "With `true` a creation that does not finish within `timeouts.create` ends in a warning, and the next apply goes on waiting. " +
			"By default it ends in an error and the server is marked tainted: the next apply replaces it.",
	}
	attributes["replace_on"] = schema.SetAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "Which changes of creation-only arguments replace the server: any of `offer_id`, `offer_query`, `ssh_key_ids`. None by default. " +
			"Its disk and data are lost then.",
		Validators: []validator.Set{setvalidator.ValueStringsAre(stringvalidator.OneOf(argOfferID, argOfferQuery, argSSHKeyIDs))},
	}
	attributes["idempotency_key"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "A fixed text of your choice that stands for this one server, up to 64 printable ASCII characters without spaces, and different for each server. With it even a run that is " +
			"killed between the rental and the saved state loses nothing: the next apply gets the same server and takes it over. When the server is replaced, the provider goes on with " +
			"`KEY-2`, `KEY-3` and so on by itself; together with `create_before_destroy` change the key with each replacement. A later change plans no more than to remember it. By default each creation has a random one.",
		Validators: []validator.String{
			stringvalidator.LengthAtMost(64),
			stringvalidator.RegexMatches(printableKey, "must be 1 to 64 printable ASCII characters without spaces"),
		},
	}
}

// printableKey is what the header Idempotency-Key takes. The length is counted
// elsewhere: in the pattern it would cost every start as much as 64 patterns.
var printableKey = regexp.MustCompile(`^[!-~]+$`)

// describedTimeouts adds what the library leaves out: a description of the whole.
func describedTimeouts(ctx context.Context) schema.Attribute {
	attribute := timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, Update: true, Delete: true,
		CreateDescription: "How long a creation may take until the server is ready, for example `30m` (the default).",
		UpdateDescription: "How long a start or stop may take, for example `30m` (the default).",
		DeleteDescription: "How long a destruction may take, for example `15m` (the default).",
	})
	nested, ok := attribute.(schema.SingleNestedAttribute)
	if !ok {
		return attribute
	}
	nested.MarkdownDescription = "How long each operation may take."
	return nested
}
