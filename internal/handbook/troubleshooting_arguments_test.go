package handbook_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/float64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const validatorsModule = "github.com/hashicorp/terraform-plugin-framework-validators/"

var root = path.Root("argument")

func refusesText(v validator.String, text string) diag.Diagnostics {
	var resp validator.StringResponse
	both := map[string]schema.Attribute{"argument": schema.StringAttribute{}, "other": schema.StringAttribute{}}
	config := tfsdk.Config{Schema: schema.Schema{Attributes: both}, Raw: tftypes.NewValue(
		tftypes.Object{AttributeTypes: map[string]tftypes.Type{"argument": tftypes.String, "other": tftypes.String}},
		map[string]tftypes.Value{"argument": tftypes.NewValue(tftypes.String, text), "other": tftypes.NewValue(tftypes.String, text)},
	)}
	v.ValidateString(context.Background(), validator.StringRequest{
		Path: root, PathExpression: path.MatchRoot("argument"), Config: config, ConfigValue: types.StringValue(text),
	}, &resp)
	return resp.Diagnostics
}

func refusesNumber(v validator.Int64, number int64) diag.Diagnostics {
	var resp validator.Int64Response
	v.ValidateInt64(context.Background(), validator.Int64Request{Path: root, ConfigValue: types.Int64Value(number)}, &resp)
	return resp.Diagnostics
}

func refusesFraction(v validator.Float64, number float64) diag.Diagnostics {
	var resp validator.Float64Response
	v.ValidateFloat64(context.Background(), validator.Float64Request{Path: root, ConfigValue: types.Float64Value(number)}, &resp)
	return resp.Diagnostics
}

func refusesSet(v validator.Set, elements ...attr.Value) diag.Diagnostics {
	var resp validator.SetResponse
	v.ValidateSet(context.Background(), validator.SetRequest{Path: root, ConfigValue: types.SetValueMust(types.StringType, elements)}, &resp)
	return resp.Diagnostics
}

func refusesList(v validator.List) diag.Diagnostics {
	var resp validator.ListResponse
	v.ValidateList(context.Background(), validator.ListRequest{Path: root, ConfigValue: types.ListValueMust(types.StringType, nil)}, &resp)
	return resp.Diagnostics
}

func refusesMap(v validator.Map) diag.Diagnostics {
	var resp validator.MapResponse
	some := types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringValue("b")})
	v.ValidateMap(context.Background(), validator.MapRequest{Path: root, ConfigValue: some}, &resp)
	return resp.Diagnostics
}

// refusals are what each ready-made rule of an argument says to a value that breaks it.
var refusals = map[string]func() diag.Diagnostics{
	"float64validator.AtLeast":          func() diag.Diagnostics { return refusesFraction(float64validator.AtLeast(0), -1) },
	"float64validator.Between":          func() diag.Diagnostics { return refusesFraction(float64validator.Between(0, 1), 2) },
	"int64validator.AtLeast":            func() diag.Diagnostics { return refusesNumber(int64validator.AtLeast(1), 0) },
	"int64validator.Between":            func() diag.Diagnostics { return refusesNumber(int64validator.Between(1, 2), 3) },
	"int64validator.OneOf":              func() diag.Diagnostics { return refusesNumber(int64validator.OneOf(1, 2), 3) },
	"listvalidator.SizeAtLeast":         func() diag.Diagnostics { return refusesList(listvalidator.SizeAtLeast(1)) },
	"mapvalidator.SizeAtMost":           func() diag.Diagnostics { return refusesMap(mapvalidator.SizeAtMost(0)) },
	"setvalidator.SizeAtLeast":          func() diag.Diagnostics { return refusesSet(setvalidator.SizeAtLeast(1)) },
	"setvalidator.SizeAtMost":           func() diag.Diagnostics { return refusesSet(setvalidator.SizeAtMost(0), types.StringValue("a")) },
	"stringvalidator.LengthAtLeast":     func() diag.Diagnostics { return refusesText(stringvalidator.LengthAtLeast(1), "") },
	"stringvalidator.LengthAtMost":      func() diag.Diagnostics { return refusesText(stringvalidator.LengthAtMost(1), "ab") },
	"stringvalidator.OneOf":             func() diag.Diagnostics { return refusesText(stringvalidator.OneOf("a", "b"), "c") },
	"stringvalidator.UTF8LengthAtMost":  func() diag.Diagnostics { return refusesText(stringvalidator.UTF8LengthAtMost(1), "ab") },
	"stringvalidator.UTF8LengthBetween": func() diag.Diagnostics { return refusesText(stringvalidator.UTF8LengthBetween(1, 2), "") },
	"stringvalidator.RegexMatches": func() diag.Diagnostics {
		return refusesText(stringvalidator.RegexMatches(regexp.MustCompile("^a$"), "must be a"), "b")
	},
	"stringvalidator.ExactlyOneOf": func() diag.Diagnostics {
		return refusesText(stringvalidator.ExactlyOneOf(path.MatchRoot("argument"), path.MatchRoot("other")), "a")
	},
	"timeouts": func() diag.Diagnostics { return refusesText(aTimeout(), "long") },
}

// passOn are rules that only apply other rules to what is within.
var passOn = []string{"listvalidator.ValueStringsAre", "mapvalidator.KeysAre", "setvalidator.ValueInt64sAre", "setvalidator.ValueStringsAre"}

// aTimeout is the rule of an argument within timeouts.
func aTimeout() validator.String {
	block, _ := timeouts.Attributes(context.Background(), timeouts.Opts{Create: true}).(schema.SingleNestedAttribute)
	create, _ := block.Attributes["create"].(schema.StringAttribute)
	return create.Validators[0]
}

// used are the ready-made rules that the program's arguments have.
func usedRules(p *program) map[string]string {
	used := map[string]string{}
	for name, sites := range p.calls {
		if rule, ok := strings.CutPrefix(name, validatorsModule); ok {
			used[rule] = p.place(sites[0].call)
		}
		if strings.Contains(name, "terraform-plugin-framework-timeouts/") && strings.HasSuffix(name, "timeouts.Attributes") {
			used["timeouts"] = p.place(sites[0].call)
		}
	}
	return used
}

// What the ready-made rules of arguments say is explained, and nothing else is below that heading.
func TestTroubleshootingHasEveryRuleOfAnArgument(t *testing.T) {
	t.Parallel()
	rows := tables(readGuide(t, troubleshooting))[tableOfValidators]
	met := map[string]bool{}
	for rule, place := range usedRules(shipped(t)) {
		refuse, known := refusals[rule]
		switch {
		case slices.Contains(passOn, rule):
			continue
		case !known:
			t.Errorf("%s has a rule %s: say in refusals how to break it", place, rule)
			continue
		}
		refused := refuse()
		if len(refused) == 0 {
			t.Errorf("%s refuses nothing", rule)
			continue
		}
		text := refused[0].Summary() + " " + refused[0].Detail()
		found := false
		for _, r := range rows {
			for _, quote := range r.quotes {
				if holds(text, quote) {
					found, met[quote] = true, true
				}
			}
		}
		if !found {
			t.Errorf("%s says what no row quotes: %s", rule, text)
		}
	}
	for _, r := range rows {
		for _, quote := range r.quotes {
			if !met[quote] {
				t.Errorf("line %d: no argument is refused with %q", r.line, quote)
			}
		}
	}
}

// holds says whether a text has all parts of a quote in their order.
func holds(text, quote string) bool {
	for part := range strings.SplitSeq(quote, variable) {
		_, after, found := strings.Cut(text, strings.TrimSpace(part))
		if !found {
			return false
		}
		text = after
	}
	return true
}
