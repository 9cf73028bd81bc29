package tfkit

import (
	"iter"
)

// Find returns the first item of a listing that matches.
func Find[T any](list iter.Seq2[T, error], match func(T) bool) (item T, found bool, err error) {
	for item, err := range list {
		if err != nil {
			return item, false, err
		}
		if match(item) {
			return item, true, nil
		}
	}
	return item, false, nil
}

// Filter returns all items of a listing that match; a nil match takes all.
// The result is never nil without an error.
func Filter[T any](list iter.Seq2[T, error], match func(T) bool) ([]T, error) {
	items := []T{}
	for item, err := range list {
		if err != nil {
			return nil, err
		}
		if match == nil || match(item) {
			items = append(items, item)
		}
	}
	return items, nil
}
