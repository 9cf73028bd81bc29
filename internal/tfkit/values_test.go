package tfkit

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Terraform refuses a value other than the planned one.
func TestPlannedOrActual(t *testing.T) {
	actual := types.StringValue("actual")
	for _, planned := range []types.String{types.StringValue("planned"), types.StringNull()} {
		if got := PlannedOrActual(planned, actual); got != planned {
			t.Errorf("planned %s: got %s", planned, got)
		}
	}
	if got := PlannedOrActual(types.StringUnknown(), actual); got != actual {
		t.Errorf("unknown: got %s", got)
	}
}

func TestUnique(t *testing.T) {
	if got := Unique([]int64(nil)); got == nil || len(got) > 0 {
		t.Errorf("Unique(nil) = %#v", got)
	}
	if got := Unique([]int64{3, 1, 3}); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("Unique returns %v", got)
	}
}
