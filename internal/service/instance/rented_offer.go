package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var (
	rentedOfferType = tfinstance.AttributeTypes(rentedOfferAttribute())
	noRentedOffer   = tfkit.NullAttributes(context.Background(), rentedOfferType)
)

// rentedOfferAttribute describes the server at the time of the creation.
func rentedOfferAttribute() datasource.SingleNestedAttribute {
	return datasource.SingleNestedAttribute{
		Computed: true,
		MarkdownDescription: "Rented offer, as it was at the creation. Never null: its attributes are null whenever " +
			"`rented_offer_id` is null, and where the offer omits them.",
		Attributes: map[string]datasource.Attribute{
			"cpu_name":          tfkit.ComputedString("Name of the CPU."),
			"cpu_cores":         tfkit.ComputedInt64("Number of CPU cores."),
			"ram_gb":            tfkit.ComputedInt64("System RAM in GB."),
			"disk_bw_mbps":      tfkit.ComputedInt64("Disk bandwidth in MB/s."),
			"inet_up_mbps":      tfkit.ComputedInt64("Upload bandwidth in Mbit/s."),
			"inet_down_mbps":    tfkit.ComputedInt64("Download bandwidth in Mbit/s."),
			"cuda_max":          tfkit.ComputedFloat64("Highest CUDA version."),
			"driver":            tfkit.ComputedString("Version of the GPU driver."),
			"reliability":       tfkit.ComputedFloat64("Reliability, from 0 to 1."),
			"max_duration_days": tfkit.ComputedInt64("Number of days left in the contract of the host at the creation."),
			"country":           tfkit.ComputedString("Country as an ISO 3166-1 alpha-2 code."),
			"region":            tfkit.ComputedString("Region of the datacenter."),
			"verified":          tfkit.ComputedBool("Whether the datacenter is verified."),
		},
	}
}

// rentedOfferValue returns the value of an offer.
func rentedOfferValue(o rental.Offer) types.Object {
	return types.ObjectValueMust(rentedOfferType, map[string]attr.Value{
		"cpu_name":          types.StringPointerValue(o.CPU.Name),
		"cpu_cores":         types.Int64PointerValue(o.CPU.Cores),
		"ram_gb":            types.Int64PointerValue(o.RAMGB),
		"disk_bw_mbps":      types.Int64PointerValue(o.Disk.BWMBps),
		"inet_up_mbps":      types.Int64PointerValue(o.Network.UpMbps),
		"inet_down_mbps":    types.Int64PointerValue(o.Network.DownMbps),
		"cuda_max":          types.Float64PointerValue(o.CUDAMax),
		"driver":            types.StringPointerValue(o.Driver),
		"reliability":       types.Float64PointerValue(o.Reliability),
		"max_duration_days": types.Int64PointerValue(o.MaxDurationDays),
		"country":           types.StringPointerValue(o.Country),
		"region":            types.StringPointerValue(o.Region),
		"verified":          types.BoolValue(o.Verified),
	})
}
