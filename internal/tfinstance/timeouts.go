package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Timeouts is the attribute timeouts, with a description, which the library omits, and without negative durations,
// which it accepts.
func Timeouts(ctx context.Context, options timeouts.Opts) schema.Attribute {
	attribute := timeouts.Attributes(ctx, options)
	nested, ok := attribute.(schema.SingleNestedAttribute)
	if !ok {
		return attribute
	}
	nested.MarkdownDescription = "Timeouts of the operations. An attribute, not a block: `timeouts = { create = " +
		"\"45m\" }`."
	for name, argument := range nested.Attributes {
		if duration, ok := argument.(schema.StringAttribute); ok {
			duration.Validators = []validator.String{tfkit.Duration()}
			nested.Attributes[name] = duration
		}
	}
	return nested
}
