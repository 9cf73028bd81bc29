package tfkit

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Every diagnostic ends with a link to its entry. internal/handbook checks that the entries exist.
func TestDiagnostics_LinkToTheErrorReference(t *testing.T) {
	summary := Summaryf("Instance %s is %s: kop_h", "ins_1", "new")
	for name, test := range map[string]struct {
		add    func(*diag.Diagnostics)
		anchor string
	}{
		"an error":  {func(d *diag.Diagnostics) { AddError(d, summary, "x") }, "instance--is--kop_h"},
		"a warning": {func(d *diag.Diagnostics) { AddWarning(d, summary, "x") }, "instance--is--kop_h"},
		"an attribute": {
			func(d *diag.Diagnostics) { AddAttributeError(d, path.Root("a"), summary, "x") }, "instance--is--kop_h",
		},
		"an attribute, warns": {
			func(d *diag.Diagnostics) { AddAttributeWarning(d, path.Root("a"), summary, "x") }, "instance--is--kop_h",
		},
		"a code of the API": {func(d *diag.Diagnostics) {
			AddAPIError(d, "list instances", &rental.Error{Status: 402, Code: rental.CodeInsufficientFunds})
		}, "insufficient_funds"},
		"no response": {
			func(d *diag.Diagnostics) { AddAPIError(d, "list instances", errors.New("cut")) }, "unusable-response",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			test.add(&diags)
			if detail := diags[0].Detail(); !strings.HasSuffix(detail, "\n\nHelp: "+errorReference+"#"+test.anchor) {
				t.Errorf("the detail does not end with a link to %s: %s", test.anchor, detail)
			}
		})
	}
}
