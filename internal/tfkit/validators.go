package tfkit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The errors of these validators name the argument and the rule. Unlike those of the library, they do not contain the
// value, which may be sensitive.

// OneOf accepts some values.
func OneOf(values ...string) validator.String {
	return stringRule{
		description: fmt.Sprintf("value must be one of: %q", values),
		accepts:     func(value string) bool { return slices.Contains(values, value) },
		report:      addInvalidValue,
	}
}

// Matches accepts values that match a pattern, which the description describes: "must be …".
func Matches(pattern *regexp.Regexp, description string) validator.String {
	return stringRule{description: description, accepts: pattern.MatchString, report: addInvalidValue}
}

// Duration accepts Go durations above zero, such as "30s" or "1m30s".
func Duration() validator.String {
	return duration(`a duration above zero, for example "30s" or "1m30s"`, 1)
}

// DurationOrZero accepts Go durations that are not negative, such as "0s" or "1h".
func DurationOrZero() validator.String { return duration(`a duration, for example "0s" or "1h"`, 0) }

func duration(description string, minimum time.Duration) validator.String {
	return stringRule{
		description: description,
		accepts: func(value string) bool {
			d, err := time.ParseDuration(value)
			return err == nil && d >= minimum
		},
		report: addNotADuration,
	}
}

// stringRule accepts strings, and null and unknown values.
type stringRule struct {
	description string
	accepts     func(string) bool
	report      func(diags *diag.Diagnostics, at path.Path, description Text)
}

func (r stringRule) Description(context.Context) string { return r.description }

func (r stringRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r stringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	value := req.ConfigValue
	if !value.IsNull() && !value.IsUnknown() && !r.accepts(value.ValueString()) {
		r.report(&resp.Diagnostics, req.Path, Text(r.description))
	}
}

// Elements applies a validator to each element of a set of strings. Its errors have the path of the set, because the
// path of an element contains the value.
func Elements(each validator.String) validator.Set { return elementsRule{each} }

type elementsRule struct{ each validator.String }

func (r elementsRule) Description(ctx context.Context) string {
	return "element value must satisfy all validations: " + r.each.Description(ctx)
}

func (r elementsRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r elementsRule) ValidateSet(ctx context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	for _, element := range req.ConfigValue.Elements() {
		value, ok := element.(types.String)
		if !ok {
			continue
		}
		result := validator.StringResponse{}
		r.each.ValidateString(ctx, validator.StringRequest{
			Path: req.Path, PathExpression: req.PathExpression, Config: req.Config, ConfigValue: value,
		}, &result)
		resp.Diagnostics.Append(result.Diagnostics...)
	}
}
