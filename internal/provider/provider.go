// Package provider implements the Terraform provider: its configuration, its server and the list of its services.
package provider

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
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
	version string // in the user agent
	process *process
	meta    atomic.Pointer[tfkit.Meta] // of the last configuration
}

// process is the state that all provider configurations of a process share.
type process struct {
	cleanup tfkit.Cleanup
}

// Metadata implements provider.Provider.
func (p *gpurentProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gpurent"
	resp.Version = p.version
}

// Schema implements provider.Provider.
//
//nolint:funlen // one literal
func (p *gpurentProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	refuseFrameDumps(&resp.Diagnostics)
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages GPU servers that are rented by the hour, in rubles.",
		Attributes: map[string]schema.Attribute{
			"base_url": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Address of the API, such as `https://rent.example/api/v1`. Must end with `/api/v1` " +
					"and begin with `https://`, or with `http://` for a loopback address. Must not be empty. Defaults to the " +
					"environment variable `GPURENT_BASE_URL`, else to the current login in the credentials file. White space " +
					"around the address is removed, and an address of white space only counts as missing.",
				Validators: []validator.String{tfkit.NotEmpty()},
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "API key. Must not be empty. Defaults to the environment variable `GPURENT_API_KEY`, " +
					"else to the key for the address in the credentials file. A key from the environment requires an address " +
					"from `base_url` or `GPURENT_BASE_URL`. White space around the key is removed, and a key of white space " +
					"only counts as missing. Public data sources work without a key.",
				Validators: []validator.String{tfkit.NotEmpty()},
			},
			"language": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Language of the API's messages. Valid values: `en`, `ru`. Defaults to the environment " +
					"variable `GPURENT_LANGUAGE`, else to `en`.",
				Validators: []validator.String{tfkit.OneOf(languages...)},
			},
			"poll_interval": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "First pause between two reads of an instance that is starting or stopping, as a Go " +
					"duration such as `5s` or `1m30s`. Must be above zero. Defaults to `5s`. Later pauses grow to six times " +
					"this value. During `wait_for_offer`, the offers are read every 30 seconds, and more often with a value " +
					"below `5s`.",
				Validators: []validator.String{tfkit.Duration()},
			},
			"request_timeout": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Timeout of one HTTP request, as a Go duration such as `30s` or `1m30s`. Must be " +
					"above zero. Defaults to `30s`.",
				Validators: []validator.String{tfkit.Duration()},
			},
			"max_retries": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "Maximum number of retries of a request after network errors and 5xx responses. Must " +
					"be between 0 and 100. Defaults to `10`. A retry after a 429 response (request limit) does not count. An " +
					"API that has not responded since the provider started is given up after about ten seconds.",
				Validators: []validator.Int64{int64validator.Between(0, maxRetriesLimit)},
			},
			"idempotency_prefix": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Prefix of the idempotency keys of `gpurent_instance` resources without " +
					"`idempotency_key`, and of the creation of fleets. Each key derives from the prefix and the `name`. If an " +
					"apply is killed, the next one recovers the instances that it created: see `recover_within`. Choose a " +
					"different prefix for each state: put the workspace into it if several share a configuration. A new " +
					"instance then requires a `name`, and a second new one of the configuration with the same name is an error " +
					"at apply. Must not be empty. No prefix by default. A change does not affect existing instances and fleets.",
				Validators: []validator.String{tfkit.NotEmpty()},
			},
			"recover_within": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Maximum age of an instance that a new resource recovers under a chosen key " +
					"(`idempotency_key` or `idempotency_prefix`), as a Go duration such as `1h` or `30m`. Defaults to `1h`. `0s` " +
					"recovers none. If the API returns an existing instance for the key, most likely an interrupted apply created " +
					"it and did not save it. An older one may belong to another state, so the creation fails and changes nothing.",
				Validators: []validator.String{tfkit.DurationOrZero()},
			},
			"spending": spendingAttribute(),
		},
	}
}

func spendingAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Limits of the account, which require the scopes `billing:read` and `instances:read`. A plan " +
			"compares each resource alone, with the current prices of offers and the whole disk; a start counts with the last " +
			"price of the server, not with that of a new bid. With `max_burn_kop_h` or " +
			"`require_funds = \"error\"`, it also fails if the balance cannot be read. The command `cost` " +
			"shows the sum of a plan.",
		Attributes: map[string]schema.Attribute{
			"require_funds": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Severity of the message in a plan if the balance and the credit limit do not cover two " +
					"hours of what a resource starts. If they do not cover a replacement, the plan fails, except with `off`. " +
					"Valid values: `warn`, `error`, `off`. Defaults to `warn`.",
				Validators: []validator.String{tfkit.OneOf(string(spending.FundsWarn), string(spending.FundsError),
					string(spending.FundsOff))},
			},
			"max_burn_kop_h": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "Maximum burn rate of the account in kopecks per hour. Must be at least 1. No limit " +
					"by default. Right before each rental, start and bid, the apply adds its price and the prices of requests " +
					"in flight to the burn rate, which was read at most five seconds before. Above the limit, or if the account " +
					"cannot be read, it rents and starts nothing more, and fails. A plan compares each resource alone: it fails " +
					"if the resource exceeds the limit by itself, and warns if the resource and the burn rate exceed it together. " +
					"For a replacement, that is also an error; the cost of the replaced instance is subtracted.",
				Validators: []validator.Int64{int64validator.AtLeast(1)},
			},
		},
	}
}
