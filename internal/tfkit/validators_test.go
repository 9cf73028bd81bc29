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
		valid     map[string]bool
	}{
		"OneOf":          {OneOf("a", "b"), map[string]bool{"a": true, "b": true, "": false, "c": false}},
		"NotEmpty":       {NotEmpty(), map[string]bool{"a": true, "": false}},
		"Matches":        {upper, map[string]bool{"A": true, "": false, "a": false}},
		"Duration":       {Duration(), map[string]bool{"1ms": true, "1m30s": true, "": false, "soon": false, "0s": false}},
		"DurationOrZero": {DurationOrZero(), map[string]bool{"0s": true, "1h": true, "": false, "-1s": false}},
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
		for value, valid := range test.valid {
			if fails(types.StringValue(value)) == valid {
				t.Errorf("%s: %q is valid: %t, want %t", name, value, !valid, valid)
			}
		}
		if fails(types.StringUnknown()) || !fails(types.StringNull()) {
			t.Errorf("%s: an unknown element is valid, and null is not", name)
		}
	}
}
