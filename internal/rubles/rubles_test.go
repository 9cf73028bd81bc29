package rubles_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

func TestFormat(t *testing.T) {
	for kop, want := range map[int64]string{
		0: "0.00_₽", 5: "0.05_₽", 99: "0.99_₽", 100: "1.00_₽",
		-5: "-0.05_₽", 123456: "1,234.56_₽", -99999: "-999.99_₽",
		100000000:     "1,000,000.00_₽",
		math.MaxInt64: "92,233,720,368,547,758.07_₽",
		math.MinInt64: "-92,233,720,368,547,758.08_₽",
	} {
		if got := rubles.Format(big.NewInt(kop), "_"); got != want {
			t.Errorf("%d: got %q, want %q", kop, got, want)
		}
	}
}
