package apikey

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestDue(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	in := func(left time.Duration) types.String {
		return types.StringValue(now.Add(left).Format(time.RFC3339Nano))
	}
	for name, test := range map[string]struct {
		expiresAt types.String
		before    types.Int64
		want      bool
	}{
		"long to go":             {in(31 * day), types.Int64Value(30), false},
		"just not":               {in(30 * day), types.Int64Value(30), false},
		"just so":                {in(30*day - time.Second), types.Int64Value(30), true},
		"expired":                {in(-day), types.Int64Value(1), true},
		"never expires":          {types.StringNull(), types.Int64Value(30), false},
		"no rotation":            {in(time.Second), types.Int64Null(), false},
		"rotation not known yet": {in(time.Second), types.Int64Unknown(), false},
		"a time nobody can read": {types.StringValue("soon"), types.Int64Value(30), false},
	} {
		if got := due(test.expiresAt, test.before, now); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
