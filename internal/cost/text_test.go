package cost_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

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
