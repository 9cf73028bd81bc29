package offer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
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
		MarkdownDescription: "The offers, in the order asked for.",
		NestedObject:        schema.NestedAttributeObject{Attributes: offerAttributes()},
	}
	attributes["ids"] = schema.ListAttribute{
		Computed: true, ElementType: types.StringType,
		MarkdownDescription: "Their ids, in the same order.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The servers that can be rented right now. Availability moves within a minute: an offer can be gone by the time it is applied, " +
			"and one that you rent leaves the list. The service caches answers for 60 seconds. Works without an API key.",
		Attributes: attributes,
	}
}

func filters() map[string]schema.Attribute {
	attributes := tfkit.OfferFilterAttributes()
	attributes["type"] = schema.StringAttribute{
		Optional: true, MarkdownDescription: "`on_demand` (default) or `interruptible`: which price counts, and which offers are listed.",
		Validators: []validator.String{stringvalidator.OneOf(string(rental.OnDemand), string(rental.Interruptible))},
	}
	attributes["max_price_kop_h"] = schema.Int64Attribute{
		Optional: true, MarkdownDescription: "The whole server costs at most this for the chosen `type`, kopecks per hour.",
		Validators: []validator.Int64{int64validator.AtLeast(0)},
	}
	attributes["max_results"] = schema.Int64Attribute{
		Optional: true, MarkdownDescription: "How many offers to read, 50 by default. More than one page is read where needed.",
		Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
	return attributes
}

func offerAttributes() map[string]schema.Attribute {
	object := func(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: description, Attributes: attributes}
	}
	return map[string]schema.Attribute{
		"id":        tfkit.ComputedString("Id, the `offer_id` of an instance."),
		"available": tfkit.ComputedBool("It can be rented now."),
		"verified":  tfkit.ComputedBool("Verified datacenter."),
		"country":   tfkit.ComputedString("Country, ISO 3166-1 alpha-2. Null when unknown."),
		"region":    tfkit.ComputedString("Region. Null when unknown."),
		"gpu": object("The GPUs.", map[string]schema.Attribute{
			"slug":         tfkit.ComputedString("Model slug."),
			"name":         tfkit.ComputedString("Model name."),
			"count":        tfkit.ComputedInt64("GPUs in the server."),
			"vram_gb":      tfkit.ComputedInt64("VRAM of each GPU, GB."),
			"total_tflops": tfkit.ComputedFloat64("Computing power of the whole server, TFLOPS. Null when unknown."),
			"mem_bw_gbs":   tfkit.ComputedInt64("Memory bandwidth, GB/s. Null when unknown."),
		}),
		"cpu": object("The CPU.", map[string]schema.Attribute{
			"name":  tfkit.ComputedString("Model. Null when unknown."),
			"cores": tfkit.ComputedInt64("Cores. Null when unknown."),
		}),
		"ram_gb": tfkit.ComputedInt64("System RAM, GB. Null when unknown."),
		"disk": object("The disk.", map[string]schema.Attribute{
			"max_gb":  tfkit.ComputedInt64("Largest disk to be had, GB. Null when unknown."),
			"bw_mbps": tfkit.ComputedInt64("Bandwidth, MB/s. Null when unknown."),
			"name":    tfkit.ComputedString("Reserved by the service: always null."),
		}),
		"network": object("The network.", map[string]schema.Attribute{
			"up_mbps":   tfkit.ComputedInt64("Upload, Mbit/s. Null when unknown."),
			"down_mbps": tfkit.ComputedInt64("Download, Mbit/s. Null when unknown."),
			"ports":     tfkit.ComputedInt64("Directly reachable ports. Null when unknown."),
		}),
		"pcie": object("The PCIe link.", map[string]schema.Attribute{
			"gen":    tfkit.ComputedInt64("Generation. Null when unknown."),
			"bw_gbs": tfkit.ComputedFloat64("Bandwidth, GB/s. Null when unknown."),
		}),
		"cuda_max":          tfkit.ComputedFloat64("Highest CUDA version. Null when unknown."),
		"driver":            tfkit.ComputedString("Driver version. Null when unknown."),
		"reliability":       tfkit.ComputedFloat64("Reliability, 0 to 1. Null when unknown."),
		"max_duration_days": tfkit.ComputedInt64("How much longer the host is under contract, days. Null when unknown."),
		"dlperf":            tfkit.ComputedFloat64("Deep-learning performance index. Null when unknown."),
		"price": object("Prices of the whole server.", map[string]schema.Attribute{
			"on_demand_kop_h":      tfkit.ComputedInt64("On demand with the base disk, kopecks per hour."),
			"interruptible_kop_h":  tfkit.ComputedInt64("Interruptible, kopecks per hour. Null when it cannot be rented so."),
			"storage_kop_gb_month": tfkit.ComputedInt64("Extra disk, kopecks per GB and month."),
			"traffic_kop_gb":       tfkit.ComputedInt64("Traffic, kopecks per GB."),
		}),
	}
}
