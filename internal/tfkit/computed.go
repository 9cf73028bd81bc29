package tfkit

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

// ComputedOnce is a computed string attribute of a resource that never changes after the creation.
func ComputedOnce(description string) resource.StringAttribute {
	return resource.StringAttribute{
		Computed: true, MarkdownDescription: description,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// ComputedString is a computed string attribute of a data source.
func ComputedString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedInt64 is a computed integer attribute of a data source.
func ComputedInt64(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedFloat64 is a computed number attribute of a data source.
func ComputedFloat64(description string) schema.Float64Attribute {
	return schema.Float64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedBool is a computed Boolean attribute of a data source.
func ComputedBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}
