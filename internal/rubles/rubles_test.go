package rubles_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

func TestFormats(t *testing.T) {
	for kop, want := range map[int64]struct{ english, russian string }{
		0: {"0.00_₽", "0,00 ₽"}, 5: {"0.05_₽", "0,05 ₽"}, 99: {"0.99_₽", "0,99 ₽"}, 100: {"1.00_₽", "1,00 ₽"},
		-5: {"-0.05_₽", "-0,05 ₽"}, 123456: {"1,234.56_₽", "1 234,56 ₽"}, -99999: {"-999.99_₽", "-999,99 ₽"},
		100000000:     {"1,000,000.00_₽", "1 000 000,00 ₽"},
		math.MaxInt64: {"92,233,720,368,547,758.07_₽", "92 233 720 368 547 758,07 ₽"},
		math.MinInt64: {"-92,233,720,368,547,758.08_₽", "-92 233 720 368 547 758,08 ₽"},
	} {
		amount := big.NewInt(kop)
		if english, russian := rubles.English(amount, "_"), rubles.Russian(amount); english != want.english ||
			russian != want.russian {
			t.Errorf("%d: got %q and %q, want %q", kop, english, russian, want)
		}
	}
}
