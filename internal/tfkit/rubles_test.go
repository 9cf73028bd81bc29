package tfkit

import (
	"math"
	"strings"
	"testing"
)

// The cost per month may exceed the range of int64.
func TestHourlyRubles(t *testing.T) {
	for kopH, want := range map[int64]string{
		9000:          "90.00 ₽ per hour (65,700.00 ₽ per month)",
		math.MaxInt64: "92,233,720,368,547,758.07 ₽ per hour (67,330,615,869,039,863,391.10 ₽ per month)",
	} {
		if got := strings.ReplaceAll(string(HourlyRubles(kopH)), "\u00a0", " "); got != want {
			t.Errorf("HourlyRubles(%d) = %q, want %q", kopH, got, want)
		}
	}
}
