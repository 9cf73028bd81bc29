package tfkit

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Duration accepts Go durations above zero, such as "30s" or "1m30s".
func Duration() validator.String { return durationValidator{} }

type durationValidator struct{}

const durationDescription = `a duration above zero, for example "30s" or "1m30s"`

func (durationValidator) Description(context.Context) string { return durationDescription }

func (v durationValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v durationValidator) ValidateString(
	_ context.Context,
	req validator.StringRequest,
	resp *validator.StringResponse,
) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if d, err := time.ParseDuration(req.ConfigValue.ValueString()); err != nil || d <= 0 {
		addNotADuration(&resp.Diagnostics, req.Path, req.ConfigValue.ValueString(), durationDescription)
	}
}
