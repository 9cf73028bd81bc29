package apikey

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestDue(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	in := func(left time.Duration) *time.Time { return new(now.Add(left)) }
	for name, test := range map[string]struct {
		expiresAt *time.Time
		before    types.Int64
		want      bool
	}{
		"one day more":     {in(31 * day), types.Int64Value(30), false},
		"exactly":          {in(30 * day), types.Int64Value(30), false},
		"one second less":  {in(30*day - time.Second), types.Int64Value(30), true},
		"expired":          {in(-day), types.Int64Value(1), true},
		"never expires":    {nil, types.Int64Value(30), false},
		"no rotation":      {in(time.Second), types.Int64Null(), false},
		"unknown rotation": {in(300 * day), types.Int64Unknown(), true},
	} {
		if got := due(daysLeft(test.expiresAt, now), test.before); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
