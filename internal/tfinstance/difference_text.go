package tfinstance

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// DifferenceText describes a difference between an instance and its request. It does not contain the value of a string
// argument, which may be sensitive.
func DifferenceText(d failure.Difference) tfkit.Text {
	switch d.Attribute {
	case "template", "image", "type":
		return tfkit.Textf("%s is %s, which was not requested", d.Attribute, d.Actual)
	}
	return tfkit.Textf("%s is %s instead of %s", d.Attribute, d.Actual, d.Requested)
}
