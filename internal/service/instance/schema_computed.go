package instance

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

func addComputed(attributes map[string]schema.Attribute) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	number := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	}
	attributes["id"] = text("Id of the instance.")
	attributes["rented_offer_id"] = text("The offer that was rented. Null after an import, and when a server of an earlier run was taken over: the service does not tell it again.")
	attributes["quoted_kop_h"] = number("The price at which it was rented, kopecks per hour while running, disk included. Unlike `price` it does not move with a new bid. Null after an import.")
	attributes["status"] = text("What the service says of it: `creating`, `starting`, `running`, `stopping`, `stopped`, `destroying`, `destroyed`, `failed` or `outbid`.")
	attributes["stop_reason"] = text("Why it stopped: `user`, `low_balance`, `admin` or `provider`. Null while it was never stopped.")
	attributes["gpu"] = schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The GPUs of the server.",
		Attributes: map[string]schema.Attribute{
			"slug":    text("Model slug, as in the `gpu` filter of `gpurent_offers`."),
			"name":    text("Model name."),
			"count":   number("How many GPUs the server has."),
			"vram_gb": number("VRAM of each GPU, GB. Null when the service does not say."),
		},
	}
	attributes["template_name"] = text("Name of the template.")
	attributes["country"] = text("Country the server stands in, ISO 3166-1 alpha-2. Null when the service does not say.")
	attributes["price"] = schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The locked price.",
		Attributes: map[string]schema.Attribute{
			"running_kop_h":  number("While running, kopecks per hour."),
			"stopped_kop_h":  number("While stopped or outbid (the disk), kopecks per hour."),
			"traffic_kop_gb": number("Traffic, kopecks per GB."),
		},
	}
	attributes["ssh"] = schema.SingleNestedAttribute{
		Computed:            true,
		MarkdownDescription: "How to log in. Null until the port is assigned, and for templates without SSH.",
		Attributes: map[string]schema.Attribute{
			"host":    text("Host."),
			"port":    number("Port."),
			"user":    text("User."),
			"command": text("The command, ready to run."),
		},
	}
	attributes["urls"] = schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "Web interfaces of the template.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"label": text("What it is."),
			"url":   text("Its address. Null while it is not ready."),
		}},
	}
	attributes["created_at"] = text("When it was rented, RFC 3339 in UTC.")
	attributes["started_at"] = text("When it first ran, RFC 3339 in UTC. Null before.")
}
