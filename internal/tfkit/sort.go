package tfkit

import "slices"

// SortedFunc returns the items in the order of compare. It sorts pointers: slices.SortFunc is compiled once for each
// type of item, which makes the provider 30 kB larger each time, and once for all pointers.
func SortedFunc[T any](items []T, compare func(a, b *T) int) []T {
	pointers := make([]*T, len(items))
	for i := range items {
		pointers[i] = &items[i]
	}
	slices.SortFunc(pointers, compare)
	sorted := make([]T, len(items))
	for i, item := range pointers {
		sorted[i] = *item
	}
	return sorted
}
