package tfinstance

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A template, disk or type that is unknown may differ, so its plan replaces the instance.
func TestArguments_Changed(t *testing.T) {
	with := func(change func(*Arguments)) Arguments {
		a := Arguments{
			Template: types.StringValue("ubuntu"), DiskGB: types.Int64Value(60), Type: types.StringValue("on_demand"),
		}
		if change != nil {
			change(&a)
		}
		return a
	}
	for name, test := range map[string]struct {
		now, state func(*Arguments)
		want       string
	}{
		"the same":           {nil, nil, "[]"},
		"another disk":       {func(a *Arguments) { a.DiskGB = types.Int64Value(70) }, nil, "[disk_gb]"},
		"unknown disk":       {func(a *Arguments) { a.DiskGB = types.Int64Unknown() }, nil, "[disk_gb]"},
		"unknown template":   {func(a *Arguments) { a.Template = types.StringUnknown() }, nil, "[template]"},
		"unknown type":       {func(a *Arguments) { a.Type = types.StringUnknown() }, nil, "[type]"},
		"none since import":  {nil, func(a *Arguments) { a.DiskGB = types.Int64Null() }, "[]"},
		"changes in place":   {func(a *Arguments) { a.OnOutbid = types.StringValue("keep") }, nil, "[]"},
		"several are others": {func(a *Arguments) { a.Template, a.Type = a.Type, a.Template }, nil, "[template,type]"},
	} {
		if got := fmt.Sprint(with(test.now).Changed(with(test.state))); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
