// Package provider is the Terraform provider: its own configuration, and the
// list of services that make up the rest.
package provider

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Address is the provider's address in a registry, without its host.
const Address = "gpurent/gpurent"

var (
	_ provider.ProviderWithEphemeralResources = (*gpurentProvider)(nil)
	_ provider.ProviderWithListResources      = (*gpurentProvider)(nil)
	_ provider.ProviderWithActions            = (*gpurentProvider)(nil)
	_ provider.ProviderWithFunctions          = (*gpurentProvider)(nil)
)

type gpurentProvider struct {
	version   string // sent to the service in the user agent
	process   *process
	validated atomic.Bool // a provider configuration was validated and is not configured yet
}

// process is what all providers of a process share, however often they are
// configured.
type process struct {
	budgets rental.Budgets
	cleanup tfkit.Cleanup
	// protocolDataWithheld is whether the user asked for files of the protocol's data, which are not written.
	protocolDataWithheld bool
}

// Metadata implements provider.Provider.
func (p *gpurentProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gpurent"
	resp.Version = p.version
}

// Schema implements provider.Provider.
func (p *gpurentProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	refuseFrameDumps(&resp.Diagnostics)
	resp.Schema = schema.Schema{
		MarkdownDescription: "GPU servers rented by the hour, in rubles.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Address of the service, ending with `/api/v1`. Else the environment variable `GPURENT_BASE_URL`, else the current one in the " +
					"credentials file. `https`, or `http` for this machine alone.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "API key. Else the environment variable `GPURENT_API_KEY`, else the key for `base_url` in the credentials file. " +
					"A key from the environment needs an address from `base_url` or `GPURENT_BASE_URL`. " +
					"The data sources of the public market work without one.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"language": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Language of the service's messages: `en` (default) or `ru`. Else the environment variable `GPURENT_LANGUAGE`.",
				Validators:          []validator.String{stringvalidator.OneOf(languages...)},
			},
			"poll_interval": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "First pause between two looks at an instance that is starting, stopping or being destroyed, for example `5s` (default). " +
					"Later pauses grow to six times that.",
				Validators: []validator.String{tfkit.Duration()},
			},
			"request_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long one HTTP attempt may take, for example `30s` (default).",
				Validators:          []validator.String{tfkit.Duration()},
			},
			"max_retries": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "How often a request is repeated after network errors and 5xx answers, 10 by default; 0 for never. " +
					"An answer that asks for patience (429) is waited out and not counted.",
				Validators: []validator.Int64{int64validator.Between(0, maxRetriesLimit)},
			},
			"spending": spendingAttribute(),
		},
	}
}

func spendingAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Checks of the balance and the burn rate when a plan is made. Both need the scope `billing:read`. A check that fails plans also fails if the balance cannot be read. " +
			"Prices are those of the moment; disk beyond an offer's base is not in them.",
		Attributes: map[string]schema.Attribute{
			"require_funds": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What to do when the balance and the credit limit do not cover two hours of all that the plan starts: `warn` (default), " +
					"`error` or `off`.",
				Validators: []validator.String{stringvalidator.OneOf(tfkit.FundsWarn, tfkit.FundsError, tfkit.FundsOff)},
			},
			"max_burn_kop_h": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "Refuse a plan that would lead to a burn rate of the whole account above this, kopecks per hour: the present one, and what the plan starts. " +
					"A server that is replaced makes room for its successor; what is destroyed elsewhere in the plan does not, because nothing says that it goes first. " +
					"In `terraform test` with a `provider` block in the test file, a plan checks each server alone and the apply checks the sum. No limit by default.",
				Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
		},
	}
}
