package instance

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

func TestShortOfFunds(t *testing.T) {
	for name, test := range map[string]struct {
		available, credit, starts int64
		want                      string // part of the text; "" for covered
	}{
		"covered to the kopeck":      {200, 0, 100, ""},
		"one kopeck short":           {199, 0, 100, "Missing: 0,01\u00a0₽"},
		"the credit limit counts":    {100, 100, 100, ""},
		"in debt":                    {-100, 0, 100, "Missing: 3,00\u00a0₽"},
		"a plan that starts nothing": {0, 0, 0, ""},
		"by the hour and the month":  {0, 0, 100, "1,00\u00a0₽ per hour (730,00\u00a0₽ per month)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := shortOfFunds(rental.Balance{AvailableKop: test.available, CreditLimitKop: test.credit}, test.starts)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q in it", got, test.want)
			}
		})
	}
}

func TestTooMuchBurn(t *testing.T) {
	for name, test := range map[string]struct {
		burn, added, limit int64
		refused            bool
	}{
		"within":                        {100, 100, 200, false},
		"beyond":                        {100, 101, 200, true},
		"no limit":                      {100, 1e9, 0, false},
		"beyond already, nothing added": {300, 0, 200, true},
		"beyond already, less by this":  {300, -50, 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tooMuchBurn(test.burn, test.added, test.limit); (got != "") != test.refused {
				t.Errorf("%q, want refused: %t", got, test.refused)
			}
		})
	}
}
