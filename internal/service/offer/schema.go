package offer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Schema implements datasource.DataSource.
func (d *offersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := filters()
	attributes["offers"] = schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "Offers, sorted by `order`.",
		NestedObject:        schema.NestedAttributeObject{Attributes: offerAttributes()},
	}
	attributes["ids"] = schema.ListAttribute{
		Computed: true, ElementType: types.StringType,
		MarkdownDescription: "Ids of the offers, in the order of `offers`. Do not use them in `for_each`: a rented offer " +
			"leaves the list, so the next plan destroys its instance.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the offers that can be rented now. Works without an API key.\n\nThe API refreshes " +
			"the availability about every minute and caches responses for 60 seconds. An offer can be unavailable at the " +
			"apply, and a rented offer is no longer listed. The provider itself applies the filters that the API does not " +
			"have: `min_cpu_cores`, `min_disk_bw_mbps`, `min_duration_days`, `min_inet_up_mbps`, `min_ports`, `min_ram_gb` " +
			"and `exclude_…`.",
		Attributes: attributes,
	}
}

// filters returns the arguments of gpurent_offers.
func filters() map[string]schema.Attribute {
	attributes := tfkit.OfferFilterAttributes()
	attributes["type"] = schema.StringAttribute{
		Optional: true, MarkdownDescription: "Rental type of the offers. Valid values: `on_demand`, `interruptible`. " +
			"Defaults to `on_demand`.",
		Validators: []validator.String{tfkit.OneOf(string(rental.OnDemand), string(rental.Interruptible))},
	}
	attributes["max_price_kop_h"] = schema.Int64Attribute{
		Optional: true, MarkdownDescription: "Maximum price of the whole server for `type` in kopecks per hour. Must " +
			"be at least 0. No maximum by default.",
		Validators: []validator.Int64{int64validator.AtLeast(0)},
	}
	attributes["max_results"] = schema.Int64Attribute{
		Optional: true, MarkdownDescription: "Maximum number of offers. Must be at least 1. Defaults to `50`.",
		Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
	return attributes
}

// offerAttributes returns the attributes of an offer.
func offerAttributes() map[string]schema.Attribute {
	object := func(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: description, Attributes: attributes}
	}
	return map[string]schema.Attribute{
		"id":        tfkit.ComputedString("Id of the offer, as in `offer_id` of an instance."),
		"available": tfkit.ComputedBool("Whether the offer can be rented now."),
		"verified":  tfkit.ComputedBool("Whether the datacenter is verified. False if the API omits it."),
		"country":   tfkit.ComputedString("Country of the server as an ISO 3166-1 alpha-2 code. Null if unknown."),
		"region":    tfkit.ComputedString("Region of the server. Null if unknown."),
		"gpu": object("GPUs of the server.", map[string]schema.Attribute{
			"slug":         tfkit.ComputedString("Slug of the GPU model."),
			"name":         tfkit.ComputedString("Name of the GPU model."),
			"count":        tfkit.ComputedInt64("Number of GPUs in the server."),
			"vram_gb":      tfkit.ComputedInt64("VRAM of each GPU in GB."),
			"total_tflops": tfkit.ComputedFloat64("Computing power of the whole server in TFLOPS. Null if unknown."),
			"mem_bw_gbs":   tfkit.ComputedInt64("GPU memory bandwidth in GB/s. Null if unknown."),
		}),
		"cpu": object("CPU of the server.", map[string]schema.Attribute{
			"name":  tfkit.ComputedString("CPU model. Null if unknown."),
			"cores": tfkit.ComputedInt64("Number of CPU cores. Null if unknown."),
		}),
		"ram_gb": tfkit.ComputedInt64("System RAM in GB. Null if unknown."),
		"disk": object("Disk of the server.", map[string]schema.Attribute{
			"max_gb":  tfkit.ComputedInt64("Maximum disk size in GB. Null if unknown."),
			"bw_mbps": tfkit.ComputedInt64("Disk bandwidth in MB/s. Null if unknown."),
			"name":    tfkit.ComputedString("Reserved by the API. Always null."),
		}),
		"network": object("Network connection of the server.", map[string]schema.Attribute{
			"up_mbps":   tfkit.ComputedInt64("Upload bandwidth in Mbit/s. Null if unknown."),
			"down_mbps": tfkit.ComputedInt64("Download bandwidth in Mbit/s. Null if unknown."),
			"ports":     tfkit.ComputedInt64("Number of directly reachable ports. Null if unknown."),
		}),
		"pcie": object("PCIe link of the server.", map[string]schema.Attribute{
			"gen":    tfkit.ComputedInt64("PCIe generation. Null if unknown."),
			"bw_gbs": tfkit.ComputedFloat64("PCIe bandwidth in GB/s. Null if unknown."),
		}),
		"cuda_max":          tfkit.ComputedFloat64("Highest CUDA version of the server. Null if unknown."),
		"driver":            tfkit.ComputedString("Driver version of the server. Null if unknown."),
		"reliability":       tfkit.ComputedFloat64("Reliability of the server, from 0 to 1. Null if unknown."),
		"max_duration_days": tfkit.ComputedInt64("Remaining duration of the host's contract in days. Null if unknown."),
		"dlperf":            tfkit.ComputedFloat64("Deep-learning performance index. Null if unknown."),
		"price": object("Prices of the whole server.", map[string]schema.Attribute{
			"on_demand_kop_h": tfkit.ComputedInt64("On-demand price in kopecks per hour, including the base disk."),
			"interruptible_kop_h": tfkit.ComputedInt64("Interruptible price in kopecks per hour. Null if the offer has " +
				"none."),
			"storage_kop_gb_month": tfkit.ComputedInt64("Price of disk beyond the base disk in kopecks per GB and month."),
			"traffic_kop_gb":       tfkit.ComputedInt64("Price of traffic in kopecks per GB."),
		}),
	}
}
