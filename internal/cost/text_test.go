package cost_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// The amounts are the same as in messages of the provider, and its custom template the same.
func TestRubles_SameAsProvider(t *testing.T) {
	for _, kop := range []int64{0, 5, 99, 100, 123456, 100000000, 730e12, -5, -123456} {
		want := strings.ReplaceAll(string(tfkit.Rubles(kop)), "\u00a0", " ")
		if got := cost.Rubles(kop); got != want {
			t.Errorf("%d: %q, want %q", kop, got, want)
		}
	}
	if rental.CustomTemplate != "custom" {
		t.Errorf("customTemplate is not %q", rental.CustomTemplate)
	}
}

func TestParseRubles(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "12": 1200, "12.3": 1230, "12.34": 1234, "1500.05": 150005} {
		if got, err := cost.ParseRubles(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "1,5", "1.234", "1e3", " 1", "x", ".5", "99999999999", "1.2.3"} {
		if got, err := cost.ParseRubles(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
