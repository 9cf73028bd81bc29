package tfkit

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestRubles(t *testing.T) {
	for kop, want := range map[int64]string{
		0: "0,00 ₽", 5: "0,05 ₽", 99: "0,99 ₽", 100: "1,00 ₽", -5: "-0,05 ₽", 123456: "1 234,56 ₽",
		100000000: "1 000 000,00 ₽", -99999: "-999,99 ₽",
		math.MaxInt64: "92 233 720 368 547 758,07 ₽", math.MinInt64: "-92 233 720 368 547 758,08 ₽",
	} {
		if got := SpacedRubles(big.NewInt(kop), " "); got != want {
			t.Errorf("SpacedRubles(%d) = %q, want %q", kop, got, want)
		}
		if got, want := string(Rubles(kop)), strings.ReplaceAll(want, " ", "\u00a0"); got != want {
			t.Errorf("Rubles(%d) = %q, want %q", kop, got, want)
		}
	}
}

// The cost per month may exceed the range of int64.
func TestHourlyRubles(t *testing.T) {
	for kopH, want := range map[int64]string{
		9000:          "90,00 ₽ per hour (65 700,00 ₽ per month)",
		math.MaxInt64: "92 233 720 368 547 758,07 ₽ per hour (67 330 615 869 039 863 391,10 ₽ per month)",
	} {
		if got := strings.ReplaceAll(string(HourlyRubles(kopH)), "\u00a0", " "); got != want {
			t.Errorf("HourlyRubles(%d) = %q, want %q", kopH, got, want)
		}
	}
}
