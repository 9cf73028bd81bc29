package tfkit

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// OfferFilters are the filters for offers that data sources and resources share. The rental type and the price cap are
// not among them, because an instance has separate arguments for those.
type OfferFilters struct {
	GPU             types.Set     `tfsdk:"gpu"`
	NumGPUs         types.Set     `tfsdk:"num_gpus"`
	MinGPUs         types.Int64   `tfsdk:"min_gpus"`
	Country         types.Set     `tfsdk:"country"`
	MinReliability  types.Float64 `tfsdk:"min_reliability"`
	MinVRAMGB       types.Float64 `tfsdk:"min_vram_gb"`
	Verified        types.Bool    `tfsdk:"verified"`
	MinCUDA         types.Float64 `tfsdk:"min_cuda"`
	MinDiskGB       types.Float64 `tfsdk:"min_disk_gb"`
	MinInetDownMbps types.Float64 `tfsdk:"min_inet_down_mbps"`
	Order           types.String  `tfsdk:"order"`

	// The provider applies the following filters, because the API does not have them.

	MinRAMGB         types.Float64 `tfsdk:"min_ram_gb"`
	MinCPUCores      types.Int64   `tfsdk:"min_cpu_cores"`
	MinInetUpMbps    types.Float64 `tfsdk:"min_inet_up_mbps"`
	MinDurationDays  types.Int64   `tfsdk:"min_duration_days"`
	MinPorts         types.Int64   `tfsdk:"min_ports"`
	MinDiskBWMBps    types.Float64 `tfsdk:"min_disk_bw_mbps"`
	ExcludeCountries types.Set     `tfsdk:"exclude_countries"`
	ExcludeOfferIDs  types.Set     `tfsdk:"exclude_offer_ids"`
}

// Query returns the query for the API. It omits unknown filters.
func (f OfferFilters) Query(ctx context.Context) (rental.OfferQuery, diag.Diagnostics) {
	query := rental.OfferQuery{
		MinGPUs:         known(f.MinGPUs, f.MinGPUs.ValueInt64),
		MinReliability:  known(f.MinReliability, f.MinReliability.ValueFloat64),
		MinVRAMGB:       known(f.MinVRAMGB, f.MinVRAMGB.ValueFloat64),
		Verified:        known(f.Verified, f.Verified.ValueBool),
		MinCUDA:         known(f.MinCUDA, f.MinCUDA.ValueFloat64),
		MinDiskGB:       known(f.MinDiskGB, f.MinDiskGB.ValueFloat64),
		MinInetDownMbps: known(f.MinInetDownMbps, f.MinInetDownMbps.ValueFloat64),
		Order:           f.Order.ValueString(),
		MinRAMGB:        known(f.MinRAMGB, f.MinRAMGB.ValueFloat64),
		MinCPUCores:     known(f.MinCPUCores, f.MinCPUCores.ValueInt64),
		MinInetUpMbps:   known(f.MinInetUpMbps, f.MinInetUpMbps.ValueFloat64),
		MinDurationDays: known(f.MinDurationDays, f.MinDurationDays.ValueInt64),
		MinPorts:        known(f.MinPorts, f.MinPorts.ValueInt64),
		MinDiskBWMBps:   known(f.MinDiskBWMBps, f.MinDiskBWMBps.ValueFloat64),
	}
	diags := elements(ctx, f.GPU, &query.GPU)
	diags.Append(elements(ctx, f.NumGPUs, &query.NumGPUs)...)
	diags.Append(elements(ctx, f.Country, &query.Country)...)
	diags.Append(elements(ctx, f.ExcludeCountries, &query.ExcludeCountries)...)
	diags.Append(elements(ctx, f.ExcludeOfferIDs, &query.ExcludeOfferIDs)...)
	return query, diags
}

// known is nil for a null or unknown value.
func known[T any](value interface {
	IsNull() bool
	IsUnknown() bool
}, get func() T) *T {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	got := get()
	return &got
}

// elements reads a set, unless an element of it is unknown.
func elements[T any](ctx context.Context, set types.Set, into *[]T) diag.Diagnostics {
	if set.IsUnknown() {
		return nil
	}
	for _, element := range set.Elements() {
		if element.IsUnknown() {
			return nil
		}
	}
	return set.ElementsAs(ctx, into, false)
}

// GPUCounts are the valid elements of num_gpus.
var GPUCounts = []int64{1, 2, 4, 8}

var (
	// In the query of the API a comma separates slugs.
	gpuSlug     = regexp.MustCompile(`^[^,\s]+$`)
	countryCode = regexp.MustCompile(`^[A-Z]{2}$`)
)

// OfferFilterAttributes are the attributes of OfferFilters in a data source.
//
//nolint:funlen // one literal
func OfferFilterAttributes() map[string]datasource.Attribute {
	atLeastZero := []validator.Float64{float64validator.AtLeast(0)}
	atLeastOne := []validator.Int64{int64validator.AtLeast(1)}
	countries := []validator.Set{
		setvalidator.SizeAtLeast(1),
		Elements(Matches(countryCode,
			"must be two capital letters, for example \"NL\"")),
	}
	const byProvider = " The provider applies this filter, because the API does not have it: an offer without this " +
		"value does not match."
	return map[string]datasource.Attribute{
		"gpu": datasource.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "GPU model slugs without commas and spaces, as in `gpurent_gpus`. An offer matches any " +
				"of them. Must not be empty.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1),
				Elements(Matches(gpuSlug,
					"must be a model slug without commas")),
			},
		},
		"num_gpus": datasource.SetAttribute{
			Optional:    true,
			ElementType: types.Int64Type,
			MarkdownDescription: "Numbers of GPUs in the server. Valid values: `1`, `2`, `4`, `8`. An offer matches any " +
				"of them. Must not be empty.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1),
				setvalidator.ValueInt64sAre(int64validator.OneOf(GPUCounts...)),
			},
		},
		"min_gpus": datasource.Int64Attribute{
			Optional: true, MarkdownDescription: "Minimum number of GPUs in the server. Must be at least 1.",
			Validators: atLeastOne,
		},
		"country": datasource.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Countries as ISO 3166-1 alpha-2 codes in upper case, such as `NL`. An offer matches " +
				"any of them. Must not be empty.",
			Validators: countries,
		},
		"min_reliability": datasource.Float64Attribute{
			Optional: true, MarkdownDescription: "Minimum reliability of the server. Must be between 0 and 1.",
			Validators: []validator.Float64{float64validator.Between(0, 1)},
		},
		"min_vram_gb": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum VRAM of each GPU in GB. Must be at least 0.",
			Validators:          atLeastZero,
		},
		"verified": datasource.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to select only offers in verified datacenters.",
		},
		"min_cuda": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum CUDA version, such as `12.4`. Must be at least 0.",
			Validators:          atLeastZero,
		},
		"min_disk_gb": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum disk size in GB. Must be at least 0.",
			Validators:          atLeastZero,
		},
		"min_inet_down_mbps": datasource.Float64Attribute{
			Optional: true, MarkdownDescription: "Minimum download bandwidth in Mbit/s. Must be at least " +
				"0.", Validators: atLeastZero,
		},
		"order": datasource.StringAttribute{
			Optional: true,
			MarkdownDescription: "Order of the offers. Valid values: `price` (cheapest first), `-price`, `dlperf`, " +
				"`dlperf_per_price`, `reliability`, `vram`, `inet_down`. Defaults to `price`.",
			Validators: []validator.String{OneOf(rental.OfferOrders()...)},
		},
		"min_ram_gb": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum system RAM in GB. Must be at least 0." + byProvider,
			Validators:          atLeastZero,
		},
		"min_cpu_cores": datasource.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum number of CPU cores. Must be at least 1." + byProvider,
			Validators:          atLeastOne,
		},
		"min_inet_up_mbps": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum upload bandwidth in Mbit/s. Must be at least 0." + byProvider,
			Validators:          atLeastZero,
		},
		"min_duration_days": datasource.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum number of days left in the contract of the host. Must be at least 1." + byProvider,
			Validators:          atLeastOne,
		},
		"min_ports": datasource.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum number of directly reachable ports. Must be at least 1." + byProvider,
			Validators:          atLeastOne,
		},
		"min_disk_bw_mbps": datasource.Float64Attribute{
			Optional:            true,
			MarkdownDescription: "Minimum disk bandwidth in MB/s. Must be at least 0." + byProvider,
			Validators:          atLeastZero,
		},
		"exclude_countries": datasource.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Countries to exclude as ISO 3166-1 alpha-2 codes in upper case, such as `NL`. Must not be " +
				"empty." + byProvider,
			Validators: countries,
		},
		"exclude_offer_ids": datasource.SetAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Ids of offers to exclude, for example of a server that was slow before. Ids must not be " +
				"empty. Must not be empty. The provider applies this filter, because the API does not have it.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1),
				setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
			},
		},
	}
}

// OfferFilterArguments are the same attributes in a resource.
func OfferFilterArguments() map[string]resource.Attribute {
	return ForResource(OfferFilterAttributes())
}
