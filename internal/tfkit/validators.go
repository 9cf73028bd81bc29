package tfkit

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Duration accepts Go durations above zero, such as "30s" or "1m30s".
func Duration() validator.String {
	return durationValidator{1, `a duration above zero, for example "30s" or "1m30s"`}
}

// DurationOrZero accepts Go durations that are not negative, such as "0s" or "1h".
func DurationOrZero() validator.String {
	return durationValidator{0, `a duration, for example "0s" or "1h"`}
}

type durationValidator struct {
	minimum     time.Duration
	description Text
}

func (v durationValidator) Description(context.Context) string { return string(v.description) }

func (v durationValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v durationValidator) ValidateString(
	_ context.Context,
	req validator.StringRequest,
	resp *validator.StringResponse,
) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if d, err := time.ParseDuration(req.ConfigValue.ValueString()); err != nil || d < v.minimum {
		addNotADuration(&resp.Diagnostics, req.Path, req.ConfigValue.ValueString(), v.description)
	}
}
