package tfkit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The errors of these validators name the argument and the rule. Unlike those of the library, they do not contain the
// value, which may be sensitive.

// OneOf accepts the given values.
func OneOf(values ...string) validator.String {
	quoted := strings.Trim(fmt.Sprintf("%q", values), "[]")
	return accepting("must be one of: "+strings.ReplaceAll(quoted, `" "`, `", "`),
		func(value string) bool { return slices.Contains(values, value) })
}

// NotEmpty accepts strings that are not empty.
func NotEmpty() validator.String {
	return accepting("must not be empty", func(value string) bool { return value != "" })
}

// Matches accepts values that match a pattern, which the description describes: "must be …".
func Matches(pattern *regexp.Regexp, description string) validator.String {
	return accepting(description, pattern.MatchString)
}

// Duration accepts Go durations above zero, such as "30s" or "1m30s".
func Duration() validator.String {
	return duration(`must be a duration above zero, such as "30s" or "1m30s"`, 1)
}

// DurationOrZero accepts Go durations that are not negative, such as "0s" or "1h".
func DurationOrZero() validator.String {
	return duration(`must be a duration, such as "0s" or "1h"`, 0)
}

func duration(description string, minimum time.Duration) validator.String {
	return accepting(description, func(value string) bool {
		d, err := time.ParseDuration(value)
		return err == nil && d >= minimum
	})
}

// accepting reports values that it does not accept, with the description.
func accepting(description string, accepts func(string) bool) StringRule {
	return StringRule{Text: description, Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		if !accepts(value) {
			addInvalidValue(diags, at, Text(description))
		}
	}}
}

// StringRule is a validator of strings. Null and unknown values are valid.
type StringRule struct {
	// Text describes the valid values.
	Text string
	// Check reports an invalid value of the argument at a path.
	Check func(diags *diag.Diagnostics, at path.Path, value string)
}

// Description implements validator.String.
func (r StringRule) Description(context.Context) string { return r.Text }

// MarkdownDescription implements validator.String.
func (r StringRule) MarkdownDescription(context.Context) string { return r.Text }

// ValidateString implements validator.String.
func (r StringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() {
		r.Check(&resp.Diagnostics, req.Path, req.ConfigValue.ValueString())
	}
}

// Elements applies a validator to each element of a set of strings, and refuses null. Its errors have the path of the
// set, because the path of an element contains the value.
func Elements(each validator.String) validator.Set { return elementsRule{each} }

type elementsRule struct{ each validator.String }

func (r elementsRule) Description(ctx context.Context) string {
	return "element value must satisfy all validations: " + r.each.Description(ctx)
}

func (r elementsRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r elementsRule) ValidateSet(ctx context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	setvalidator.NoNullValues().ValidateSet(ctx, req, resp)
	for _, element := range req.ConfigValue.Elements() {
		value, ok := element.(types.String)
		if !ok {
			continue
		}
		result := validator.StringResponse{}
		r.each.ValidateString(ctx, validator.StringRequest{ConfigValue: value}, &result)
		if result.Diagnostics.HasError() {
			addInvalidValue(&resp.Diagnostics, req.Path, "contains an invalid value: each one "+Text(r.each.Description(ctx)))
			return
		}
	}
}
