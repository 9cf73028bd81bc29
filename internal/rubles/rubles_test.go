package rubles_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

func TestFormat(t *testing.T) {
	for kop, want := range map[int64]string{
		0: "0,00 ₽", 5: "0,05 ₽", 99: "0,99 ₽", 100: "1,00 ₽", -5: "-0,05 ₽", 123456: "1 234,56 ₽",
		100000000: "1 000 000,00 ₽", -99999: "-999,99 ₽",
		math.MaxInt64: "92 233 720 368 547 758,07 ₽", math.MinInt64: "-92 233 720 368 547 758,08 ₽",
	} {
		if got := rubles.Format(big.NewInt(kop), " "); got != want {
			t.Errorf("Format(%d) = %q, want %q", kop, got, want)
		}
	}
}
