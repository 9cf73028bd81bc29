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

const forcesReplacement = " Changing this forces a new resource to be created."

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
				"`offer_id`. Do not use offer ids as [keys of `for_each`](../guides/picking-offers.md).",
			Validators: []validator.String{
				tfkit.NotEmpty(),
				stringvalidator.ExactlyOneOf(path.MatchRoot(argOfferID), path.MatchRoot(argOfferQuery)),
			},
		},
		"offer_query":      queryAttribute(),
		"fallback_queries": fallbackQueriesAttribute(),
		argWaitForOffer: schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Maximum time that a creation waits for a matching offer, as a Go duration such as `45m`. " +
				"Must be above zero. Requires `offer_query`. By default, a creation without a matching offer " +
				"[fails at once](../guides/getting-capacity.md).",
			Validators: []validator.String{
				tfkit.Duration(), stringvalidator.AlsoRequires(path.MatchRoot(argOfferQuery)),
			},
		},
		"name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Name of the instance. 1 to 60 characters. Null by default.",
			Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
		},
		"keep_on_timeout": schema.BoolAttribute{
			Optional: true,
			Computed: true,
			Default:  booldefault.StaticBool(defaultKeepOnTimeout),
			MarkdownDescription: "Whether to keep the instance when `timeouts.create` expires: the apply ends with a " +
				"warning, and the next one continues to wait. Defaults to `false`: the apply fails, and the instance is tainted.",
		},
		"replace_on": schema.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Arguments whose change forces a new resource to be created. Valid values: `offer_id`, " +
				"`offer_query`, `ssh_key_ids`. Defaults to none.",
			Validators: []validator.Set{
				tfkit.Elements(tfkit.OneOf(argOfferID, argOfferQuery, argSSHKeyIDs)),
			},
		},
		"idempotency_key": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Idempotency key of the instance, 1 to 64 characters. Must be unique in the account. An " +
				"apply [recovers the instance](../guides/crash-safe-pipelines.md) that an interrupted apply rented with this key " +
				"within `recover_within` of the provider. Defaults to a key from `idempotency_prefix` of the provider and " +
				"`name`; without a prefix, to a random key. Do not combine a fixed key with `create_before_destroy`. A later " +
				"change only updates the state.",
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
			Computed:            true,
			MarkdownDescription: "Running price at the creation, in kopecks per hour. Null after an import.",
		},
		"template_name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the template."},
	})
	maps.Copy(attributes, tfkit.ForResource(tfinstance.Attributes()))
	maps.Copy(attributes, tfkit.ForResource(map[string]datasource.Attribute{"rented_offer": rentedOfferAttribute()}))
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an instance: a rented GPU server with a price per hour. While it is stopped or " +
			"outbid, only its disk is billed.",
		Attributes: attributes,
	}
}
