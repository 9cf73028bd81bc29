package tfinstance

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// RentedOfferID describes the id of the rented offer, in an instance and in a member of a fleet.
const RentedOfferID = "Id of the rented offer. Null after an import or a recovery."

// Attributes are the computed attributes of an instance, which the resource and the data sources share.
func Attributes() map[string]schema.Attribute {
	object := func(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
		return schema.SingleNestedAttribute{Computed: true, MarkdownDescription: description, Attributes: attributes}
	}
	return map[string]schema.Attribute{
		"id": tfkit.ComputedString("Id of the instance."),
		"status": tfkit.ComputedString("Status of the instance: `creating`, `starting`, `running`, `stopping`, " +
			"`stopped`, `destroying`, `destroyed`, `failed` or `outbid`."),
		"stop_reason": tfkit.ComputedString("Reason why the instance stopped: `user`, `low_balance`, `admin` or " +
			"`provider`. Null if the API returns none."),
		"gpu": object("GPUs of the instance.", map[string]schema.Attribute{
			"slug":    tfkit.ComputedString("Slug of the GPU model, as in the `gpu` filter of `gpurent_offers`."),
			"name":    tfkit.ComputedString("Name of the GPU model."),
			"count":   tfkit.ComputedInt64("Number of GPUs."),
			"vram_gb": tfkit.ComputedInt64("VRAM of each GPU in GB. Null if the API returns none."),
		}),
		"country": tfkit.ComputedString("Country of the server as an ISO 3166-1 alpha-2 code. Null if the API returns " +
			"none."),
		"price": object("Prices of the instance. A new bid can change them.", map[string]schema.Attribute{
			"running_kop_h":  tfkit.ComputedInt64("Price while the instance runs, in kopecks per hour."),
			"stopped_kop_h":  tfkit.ComputedInt64("Price while the instance is stopped, in kopecks per hour: only the disk."),
			"traffic_kop_gb": tfkit.ComputedInt64("Price of traffic in kopecks per GB."),
		}),
		"ssh": object(
			"SSH login of the instance. Never null: its attributes are null while the instance has no address, for "+
				"example while it is stopped.",
			map[string]schema.Attribute{
				"host":    tfkit.ComputedString("Host name or IP address of the SSH server."),
				"port":    tfkit.ComputedInt64("TCP port of the SSH server."),
				"user":    tfkit.ComputedString("User name of the SSH login."),
				"command": tfkit.ComputedString("SSH command that logs in."),
			},
		),
		"urls": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Web interfaces of the template.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"label": tfkit.ComputedString("Label of the interface."),
				"url":   tfkit.ComputedString("Address of the interface. Null while it is not ready."),
			}},
		},
		"created_at": tfkit.ComputedString("Time of the creation, RFC 3339 in UTC."),
		"started_at": tfkit.ComputedString("Time when the instance first ran, RFC 3339 in UTC. Null until then."),
	}
}
