package tfinstance

import (
	"slices"
	"testing"
)

func TestNearestSlugs(t *testing.T) {
	models := []string{"h100_sxm", "a100_80gb", "rtx_3090", "rtx_4090", "rtx_4070_ti", "rtx_5090", "t4"}
	for _, test := range []struct{ unknown, want []string }{
		{[]string{"RTX4090"}, []string{"rtx_4090"}},
		{[]string{"rtx-4090"}, []string{"rtx_4090"}},
		{[]string{"rtx_4091"}, []string{"rtx_4090", "rtx_3090", "rtx_5090"}},
		{[]string{"h100"}, []string{"h100_sxm"}},
		{[]string{"4090"}, []string{"rtx_4090"}},
		{[]string{"A100-80GB", "T4"}, []string{"a100_80gb", "t4"}},
		{[]string{"something"}, nil},
	} {
		if got := nearestSlugs(test.unknown, models); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.unknown, got, test.want)
		}
	}
}
