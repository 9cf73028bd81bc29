package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Timeouts is the attribute timeouts, with descriptions, which the library omits, and without negative durations, which
// it accepts. The texts are the defaults of the operations.
func Timeouts(ctx context.Context, create, update, destroy string) schema.Attribute {
	const format = ", as a Go duration such as `45m`. Defaults to "
	attribute := timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, Update: true, Delete: true,
		CreateDescription: "Timeout of a creation, including the waits for offers and for readiness" + format + create + ".",
		UpdateDescription: "Timeout of an update" + format + update + ".",
		DeleteDescription: "Timeout of a destruction" + format + destroy + ".",
	})
	nested, ok := attribute.(schema.SingleNestedAttribute)
	if !ok {
		return attribute
	}
	nested.MarkdownDescription = "Timeouts of the operations. An attribute, not a block."
	for name, argument := range nested.Attributes {
		if duration, ok := argument.(schema.StringAttribute); ok {
			duration.Validators = []validator.String{tfkit.Duration()}
			nested.Attributes[name] = duration
		}
	}
	return nested
}
