package instance

import (
	"maps"

	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func addComputed(attributes map[string]schema.Attribute) {
	maps.Copy(attributes, tfkit.ForResource(facts()))
	attributes["rented_offer_id"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "The offer that was rented. Null after an import, and when a server of an earlier run was taken over: the service does not tell it again.",
	}
	attributes["quoted_kop_h"] = schema.Int64Attribute{
		Computed:            true,
		MarkdownDescription: "The price at which it was rented, kopecks per hour while running, disk included. Unlike `price` it does not move with a new bid. Null after an import.",
	}
	attributes["template_name"] = schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the template."}
}

// facts are what the service alone tells of a server: the resource and the data
// sources have them alike.
func facts() map[string]datasource.Attribute {
	object := func(description string, attributes map[string]datasource.Attribute) datasource.SingleNestedAttribute {
		return datasource.SingleNestedAttribute{Computed: true, MarkdownDescription: description, Attributes: attributes}
	}
	return map[string]datasource.Attribute{
		"id":          tfkit.ComputedString("Id of the instance."),
		"status":      tfkit.ComputedString("What the service says of it: `creating`, `starting`, `running`, `stopping`, `stopped`, `destroying`, `destroyed`, `failed` or `outbid`."),
		"stop_reason": tfkit.ComputedString("Why it stopped: `user`, `low_balance`, `admin` or `provider`. Null while it was never stopped."),
		"gpu": object("The GPUs of the server.", map[string]datasource.Attribute{
			"slug":    tfkit.ComputedString("Model slug, as in the `gpu` filter of `gpurent_offers`."),
			"name":    tfkit.ComputedString("Model name."),
			"count":   tfkit.ComputedInt64("How many GPUs the server has."),
			"vram_gb": tfkit.ComputedInt64("VRAM of each GPU, GB. Null when the service does not say."),
		}),
		"country": tfkit.ComputedString("Country the server stands in, ISO 3166-1 alpha-2. Null when the service does not say."),
		"price": object("The locked price.", map[string]datasource.Attribute{
			"running_kop_h":  tfkit.ComputedInt64("While running, kopecks per hour."),
			"stopped_kop_h":  tfkit.ComputedInt64("While stopped or outbid (the disk), kopecks per hour."),
			"traffic_kop_gb": tfkit.ComputedInt64("Traffic, kopecks per GB."),
		}),
		"ssh": object("How to log in. Null until the port is assigned, and for templates without SSH.", map[string]datasource.Attribute{
			"host":    tfkit.ComputedString("Host."),
			"port":    tfkit.ComputedInt64("Port."),
			"user":    tfkit.ComputedString("User."),
			"command": tfkit.ComputedString("The command, ready to run."),
		}),
		"urls": datasource.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Web interfaces of the template.",
			NestedObject: datasource.NestedAttributeObject{Attributes: map[string]datasource.Attribute{
				"label": tfkit.ComputedString("What it is."),
				"url":   tfkit.ComputedString("Its address. Null while it is not ready."),
			}},
		},
		"created_at": tfkit.ComputedString("When it was rented, RFC 3339 in UTC."),
		"started_at": tfkit.ComputedString("When it first ran, RFC 3339 in UTC. Null before."),
	}
}
