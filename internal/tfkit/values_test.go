package tfkit

import (
	"slices"
	"testing"
)

func TestUnique(t *testing.T) {
	if got := Unique([]int64(nil)); got == nil || len(got) > 0 {
		t.Errorf("Unique(nil) = %#v", got)
	}
	if got := Unique([]int64{3, 1, 3}); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("Unique returns %v", got)
	}
}
