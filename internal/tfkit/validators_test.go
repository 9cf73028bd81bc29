package tfkit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Null and unknown values are valid. An error does not contain the value: see TestValidation_ReportsNoValues.
func TestValidators(t *testing.T) {
	upper := Matches(regexp.MustCompile(`^[A-Z]+$`), "must be in upper case")
	for name, test := range map[string]struct {
		validator validator.String
		valid     []string
		invalid   []string
	}{
		"OneOf":          {OneOf("a", "b"), []string{"a", "b"}, []string{"", "c"}},
		"NotEmpty":       {NotEmpty(), []string{"a"}, []string{""}},
		"Matches":        {upper, []string{"A"}, []string{"", "a"}},
		"Duration":       {Duration(), []string{"1ms", "1m30s"}, []string{"", "soon", "0s", "-1s"}},
		"DurationOrZero": {DurationOrZero(), []string{"0s", "1h"}, []string{"", "-1s"}},
	} {
		fails := func(value types.String) bool {
			set := types.SetValueMust(types.StringType, []attr.Value{value})
			req := validator.SetRequest{Path: path.Root("x"), ConfigValue: set}
			var resp validator.SetResponse
			Elements(test.validator).ValidateSet(t.Context(), req, &resp)
			if text := fmt.Sprint(resp.Diagnostics); resp.Diagnostics.HasError() && !value.IsNull() &&
				!strings.Contains(text, "Attribute x contains an invalid value: each one must ") {
				t.Errorf("%s: the error of an element is %s", name, text)
			}
			var single validator.StringResponse
			test.validator.ValidateString(t.Context(), validator.StringRequest{ConfigValue: value}, &single)
			if failed := resp.Diagnostics.HasError(); !value.IsNull() && failed != single.Diagnostics.HasError() {
				t.Errorf("%s: an element and an argument differ for %s", name, value)
			}
			return resp.Diagnostics.HasError()
		}
		for _, value := range test.valid {
			if fails(types.StringValue(value)) {
				t.Errorf("%s refuses %q", name, value)
			}
		}
		for _, value := range test.invalid {
			if !fails(types.StringValue(value)) {
				t.Errorf("%s accepts %q", name, value)
			}
		}
		if fails(types.StringUnknown()) || !fails(types.StringNull()) {
			t.Errorf("%s: an unknown element is valid, and null is not", name)
		}
		if description := test.validator.Description(t.Context()); !strings.Contains(description, "must ") {
			t.Errorf("%s: description %q", name, description)
		}
	}
}
