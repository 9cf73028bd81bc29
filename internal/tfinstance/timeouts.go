package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// Timeouts is the attribute timeouts, with a description, which the library omits.
func Timeouts(ctx context.Context, options timeouts.Opts) schema.Attribute {
	attribute := timeouts.Attributes(ctx, options)
	nested, ok := attribute.(schema.SingleNestedAttribute)
	if !ok {
		return attribute
	}
	nested.MarkdownDescription = "Timeouts of the operations. An attribute, not a block: `timeouts = { create = " +
		"\"45m\" }`."
	return nested
}
