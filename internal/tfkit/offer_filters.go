package tfkit

import (
	"encoding/json"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// OfferQuery returns the query of an object, whose attributes have the names of the filters in JSON. It omits unknown
// filters, and sets with an unknown element.
func OfferQuery(object types.Object) (query rental.OfferQuery) {
	filters := map[string]any{}
	for name, value := range object.Attributes() {
		filters[name] = plain(value)
	}
	if content, err := json.Marshal(filters); err == nil {
		_ = json.Unmarshal(content, &query) //nolint:errcheck // the attributes have the types of the filters
	}
	return query
}

// plain returns the value of a filter; nil for none, or if a part of it is unknown.
func plain(value attr.Value) any {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	switch v := value.(type) {
	case types.Bool:
		return v.ValueBool()
	case types.Int64:
		return v.ValueInt64()
	case types.Float64:
		return v.ValueFloat64()
	case types.String:
		return v.ValueString()
	case types.Set:
		var elements []any
		for _, element := range v.Elements() {
			if element.IsUnknown() {
				return nil
			}
			elements = append(elements, plain(element))
		}
		return elements
	}
	return nil
}

// GPUCounts are the valid elements of num_gpus.
var GPUCounts = []int64{1, 2, 4, 8}

var (
	// In the query of the API a comma separates slugs.
	gpuSlug     = regexp.MustCompile(`^[^,\s]+$`)
	countryCode = regexp.MustCompile(`^[A-Z]{2}$`)
)

// OfferFilterAttributes are the filters for offers that data sources and resources share. The rental type and the price
// cap are not among them, because an instance has separate arguments for those.
func OfferFilterAttributes() map[string]datasource.Attribute {
	number := func(description string) datasource.Float64Attribute {
		return datasource.Float64Attribute{
			Optional: true, MarkdownDescription: description, Validators: []validator.Float64{float64validator.AtLeast(0)},
		}
	}
	count := func(description string) datasource.Int64Attribute {
		return datasource.Int64Attribute{
			Optional: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.AtLeast(1)},
		}
	}
	set := func(element attr.Type, description string, each ...validator.Set) datasource.SetAttribute {
		return datasource.SetAttribute{
			Optional: true, ElementType: element, MarkdownDescription: description,
			Validators: append([]validator.Set{setvalidator.SizeAtLeast(1)}, each...),
		}
	}
	country := Elements(Matches(countryCode, "must be two capital letters, such as \"NL\""))
	const withValue = " Excludes offers without this value."
	return map[string]datasource.Attribute{
		"gpu": set(types.StringType, "GPU model slugs without commas, as in `gpurent_gpus`. An offer matches any of them. "+
			"Must not be empty.", Elements(Matches(gpuSlug, "must be a model slug without commas"))),
		"num_gpus": set(types.Int64Type, "Numbers of GPUs. Valid values: `1`, `2`, `4`, `8`. An offer matches any of them. "+
			"Must not be empty.", setvalidator.NoNullValues(),
			setvalidator.ValueInt64sAre(int64validator.OneOf(GPUCounts...))),
		"min_gpus": count("Minimum number of GPUs. Must be at least 1."),
		"country": set(types.StringType, "Countries as ISO 3166-1 alpha-2 codes in upper case, such as `NL`. An offer "+
			"matches any of them. Must not be empty.", country),
		"min_reliability": datasource.Float64Attribute{
			Optional: true, MarkdownDescription: "Minimum reliability of the server. Must be between 0 and 1.",
			Validators: []validator.Float64{float64validator.Between(0, 1)},
		},
		"min_vram_gb": number("Minimum VRAM of each GPU in GB. Must be at least 0."),
		"verified": datasource.BoolAttribute{
			Optional: true, MarkdownDescription: "Whether to select only offers in verified datacenters.",
		},
		"min_cuda":           number("Minimum CUDA version, such as `12.4`. Must be at least 0."),
		"min_disk_gb":        number("Minimum disk size in GB. Must be at least 0."),
		"min_inet_down_mbps": number("Minimum download bandwidth in Mbit/s. Must be at least 0."),
		"order": datasource.StringAttribute{
			Optional: true,
			MarkdownDescription: "Order of the offers. Valid values: `price` (cheapest first), `-price`, `dlperf`, " +
				"`dlperf_per_price`, `reliability`, `vram`, `inet_down`. Defaults to `price`.",
			Validators: []validator.String{OneOf(rental.OfferOrders()...)},
		},
		"min_ram_gb":        number("Minimum system RAM in GB. Must be at least 0." + withValue),
		"min_cpu_cores":     count("Minimum number of CPU cores. Must be at least 1." + withValue),
		"min_inet_up_mbps":  number("Minimum upload bandwidth in Mbit/s. Must be at least 0." + withValue),
		"min_duration_days": count("Minimum number of days left in the host's contract. Must be at least 1." + withValue),
		"min_ports":         count("Minimum number of directly reachable ports. Must be at least 1." + withValue),
		"min_disk_bw_mbps":  number("Minimum disk bandwidth in MB/s. Must be at least 0." + withValue),
		"exclude_countries": set(types.StringType, "Countries to exclude, as codes in upper case like those of `country`. "+
			"Must not be empty."+withValue, country),
		"exclude_offer_ids": set(types.StringType, "Ids of offers to exclude. The set and its ids must not be empty.",
			Elements(NotEmpty())),
	}
}
