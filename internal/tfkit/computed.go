package tfkit

import "github.com/hashicorp/terraform-plugin-framework/datasource/schema"

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
