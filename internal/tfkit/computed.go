package tfkit

import "github.com/hashicorp/terraform-plugin-framework/datasource/schema"

// What a data source finds is computed and described; the kind is all that
// differs.

// ComputedString is a text that a data source finds.
func ComputedString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedInt64 is a whole number that a data source finds.
func ComputedInt64(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedFloat64 is a number that a data source finds.
func ComputedFloat64(description string) schema.Float64Attribute {
	return schema.Float64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedBool is a yes or no that a data source finds.
func ComputedBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}
