package tfkit

import (
	"cmp"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Text is null for the empty string: the service leaves out what it has no
// value for.
func Text[T ~string](s T) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(string(s))
}

// Time is RFC 3339 in UTC, null for the zero time.
func Time(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339Nano))
}

// TimePointer is RFC 3339 in UTC, null for nil.
func TimePointer(t *time.Time) types.String {
	if t == nil {
		return types.StringNull()
	}
	return Time(*t)
}

// Prefer returns planned unless it is unknown, then actual. It builds the state
// after an apply: what the plan promised stands until the next refresh, however
// the service moved meanwhile, because Terraform refuses a broken promise.
func Prefer[T interface{ IsUnknown() bool }](planned, actual T) T {
	if planned.IsUnknown() {
		return actual
	}
	return planned
}

// PriorOrValue returns the prior value of what the service cannot change, or now when there is none: the service may spell
// a text differently than it was given.
func PriorOrValue(prior, now types.String) types.String {
	if prior.IsNull() || prior.IsUnknown() {
		return now
	}
	return prior
}

// ValueOrPrior returns now, or the prior value when the service left an optional field out.
func ValueOrPrior(now, prior types.String) types.String {
	if now.IsNull() && !prior.IsUnknown() {
		return prior
	}
	return now
}

// Unique returns the values of a set, sorted and never nil: a null set differs from an empty one. The service returns
// lists, which may contain a value twice.
func Unique[T cmp.Ordered](list []T) []T {
	return append([]T{}, slices.Compact(slices.Sorted(slices.Values(list)))...)
}
