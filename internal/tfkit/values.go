package tfkit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// OptionalString is null for the empty string, which represents a field that the API omits.
func OptionalString[T ~string](s T) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(string(s))
}

// OptionalInt64 is null for 0, which represents a field that the API omits.
func OptionalInt64(n int64) types.Int64 {
	if n == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(n)
}

// StringOf returns the value of a string; empty for null, unknown and missing ones.
func StringOf(value attr.Value) string {
	s, _ := value.(types.String)
	return s.ValueString()
}

// Int64Of returns the value of an integer; 0 for null, unknown and missing ones.
func Int64Of(value attr.Value) int64 {
	n, _ := value.(types.Int64)
	return n.ValueInt64()
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

// PriorOrValue returns the value of an attribute that the API cannot change after the creation: the prior value, of the
// configuration or of an earlier response, or now if there is none, as after an import. A different value in a response
// is another spelling of the same, such as other line ends, an added port or a rounded size. In the state it would
// differ from the configuration, and the next plan would replace the object.
func PriorOrValue[T attr.Value](prior, now T) T {
	if prior.IsNull() || prior.IsUnknown() {
		return now
	}
	return prior
}

// ValueOrPrior returns now, or the prior value if the API omits the field.
func ValueOrPrior(now, prior types.String) types.String {
	if now.IsNull() && !prior.IsUnknown() {
		return prior
	}
	return now
}

// NullAttributes returns an object whose attributes are null. A computed object is never null, because Terraform
// rejects a reference to an attribute of a null object, also in a destroy.
func NullAttributes(ctx context.Context, kinds map[string]attr.Type) types.Object {
	values := make(map[string]attr.Value, len(kinds))
	for name, kind := range kinds {
		null, err := kind.ValueFromTerraform(ctx, tftypes.NewValue(kind.TerraformType(ctx), nil))
		if err != nil {
			panic(err) // every type has a null value
		}
		values[name] = null
	}
	return types.ObjectValueMust(kinds, values)
}

// Unique returns the values of a set, sorted and never nil: a null set differs from an empty one. The API returns
// lists, which may contain a value twice.
func Unique[T cmp.Ordered](list []T) []T {
	return append([]T{}, slices.Compact(slices.Sorted(slices.Values(list)))...)
}
