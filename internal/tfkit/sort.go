package tfkit

import (
	"slices"
	"sort"
)

// SortedFunc returns the items in the order of compare.
func SortedFunc[T any](items []T, compare func(a, b *T) int) []T {
	sorted := slices.Clone(items)
	sort.Slice(sorted, func(i, j int) bool { return compare(&sorted[i], &sorted[j]) < 0 })
	return sorted
}
