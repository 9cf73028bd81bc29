package tfkit

import (
	"slices"
	"strings"
	"testing"
)

func TestSortedFunc(t *testing.T) {
	items := []string{"b", "c", "a"}
	sorted := SortedFunc(items, func(a, b *string) int { return strings.Compare(*a, *b) })
	if want := []string{"a", "b", "c"}; !slices.Equal(sorted, want) {
		t.Errorf("%q, want %q", sorted, want)
	}
	if items[0] != "b" {
		t.Errorf("the items were changed: %q", items)
	}
}
