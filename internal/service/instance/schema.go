package instance

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Bounds of the API.
const (
	maxNameLength = 60
	maxKeyLength  = 64
)

// defaultKeepOnTimeout is the default of keep_on_timeout, which an import sets, too.
const defaultKeepOnTimeout = false

const forcesReplacement = " Changing this forces a new resource to be created, which loses the disk and its data."

// Schema implements resource.Resource.
//
//nolint:funlen // one literal
func (r *instanceResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := tfinstance.ArgumentAttributes(forcesReplacement, " A later change has no effect and causes a "+
		"warning, unless `replace_on` contains `ssh_key_ids`.")
	image := tfinstance.ImageAttribute(forcesReplacement)
	image.Computed = true
	image.PlanModifiers = append(image.PlanModifiers, stringplanmodifier.UseStateForUnknown())
	maps.Copy(attributes, map[string]schema.Attribute{
		"image": image,
		"offer_id": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Id of the offer to rent, as in `gpurent_offers`. Must not be empty. Exactly one of " +
				"`offer_id` and `offer_query` is required. A later change has no effect, unless `replace_on` contains " +
				"`offer_id`. Do not use offer ids as keys of `for_each`: a rented offer leaves the list, so the next plan " +
				"destroys its instance.",
			Validators: []validator.String{
				tfkit.NotEmpty(),
				stringvalidator.ExactlyOneOf(path.MatchRoot(argOfferID), path.MatchRoot(argOfferQuery)),
			},
		},
		"offer_query":      queryAttribute(),
		"fallback_queries": fallbackQueriesAttribute(),
		argWaitForOffer: schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Maximum time that a creation waits for a matching offer, as a Go duration such as `45m` " +
				"or `2h`. Must be above zero. By default, it does not wait: without a matching offer, it fails. Requires " +
				"`offer_query`. The provider reads the offers every 30 seconds, once for all instances with the same query. " +
				"After this time, or after Ctrl-C, the creation fails and nothing is rented. If `timeouts.create` is set, it " +
				"also ends the wait. Changed in place.",
			Validators: []validator.String{
				tfkit.Duration(), stringvalidator.AlsoRequires(path.MatchRoot(argOfferQuery)),
			},
		},
		"name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Name of the instance. 1 to 60 characters. Null by default. Changed in place.",
			Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
		},
		"keep_on_timeout": schema.BoolAttribute{
			Optional: true,
			Computed: true,
			Default:  booldefault.StaticBool(defaultKeepOnTimeout),
			MarkdownDescription: "Whether a timeout of the creation (`timeouts.create`) keeps the instance. With `false`, " +
				"the apply fails and the instance is tainted, so the next apply replaces it. With `true`, the apply ends with " +
				"a warning, and the next apply continues to wait. Defaults to `false`.",
		},
		"replace_on": schema.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Arguments whose change forces a new resource to be created. Valid values: `offer_id`, " +
				"`offer_query`, `ssh_key_ids`. Defaults to none: these arguments then apply at creation only. A replacement " +
				"loses the disk and its data.",
			Validators: []validator.Set{
				tfkit.Elements(tfkit.OneOf(argOfferID, argOfferQuery, argSSHKeyIDs)),
			},
		},
		"idempotency_key": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Idempotency key of the instance, 1 to 64 characters. Must be unique in the account: do " +
				"not copy the key of another instance. Set it for pipelines. If a run is killed before it saves the instance, " +
				"the next apply recovers the instance with this key. It must be younger than `recover_within` of the " +
				"provider. An older one is an error, because another state may have it. Defaults to a key that derives from " +
				"`idempotency_prefix` of the provider and `name`. Without a prefix, the key is random and recovers nothing. " +
				"Do not combine a fixed key with `create_before_destroy`. A later change only updates the state.",
			Validators: []validator.String{stringvalidator.UTF8LengthBetween(1, maxKeyLength)},
		},
		"timeouts": tfinstance.Timeouts(ctx, "`30m`, plus `wait_for_offer`", "`30m`", "`15m`"),

		"rented_offer_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: tfinstance.RentedOfferID,
		},
		"matched_query": schema.Int64Attribute{
			Computed: true,
			MarkdownDescription: "Query that the rented offer matched: `0` for `offer_query`, `1` for the first of " +
				"`fallback_queries`, and so on. Null with `offer_id`, and whenever `rented_offer_id` is null.",
		},
		"quoted_kop_h": schema.Int64Attribute{
			Computed: true,
			MarkdownDescription: "Running price at the creation, in kopecks per hour. Unlike `price`, it does not change " +
				"with a new bid. Null after an import.",
		},
		"template_name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the template."},
	})
	maps.Copy(attributes, tfkit.ForResource(tfinstance.Attributes()))
	maps.Copy(attributes, tfkit.ForResource(map[string]datasource.Attribute{"rented_offer": rentedOfferAttribute()}))
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an instance: a rented GPU server with a price per hour. While it is stopped or " +
			"outbid, only its disk is billed.\n\nAn apply ends when the instance is in its `desired_state`: running, " +
			"with its SSH address assigned, or stopped. If an instance was stopped outside Terraform, was outbid, or is " +
			"not ready because a run was interrupted, the next apply starts it or waits for it.",
		Attributes: attributes,
	}
}
