package money

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func TestParseRubles(t *testing.T) {
	for text, want := range map[string]int64{
		"1234.56": 123456, "1,234.56": 123456, "1234,56": 123456, "1234": 123400, "1 234,56": 123456, "1 234.56": 123456,
		"0.5": 50, "0,50": 50,
		"0.05": 5, "0": 0, "-0,00": 0, "007": 700,
		"1 234 567": 123456700, "1\u00a0234,56": 123456, "1\u202f234,56": 123456, "1\u2009234,56": 123456,
		"12\u00a0345\u2007678,9": 1234567890, "999 999": 99999900,
		"1 234,56 ₽": 123456, "1234₽": 123400, "1\u00a0234,56\u00a0₽": 123456, "5 руб.": 500, "5 руб": 500, "5руб.": 500,
		"5 РУБ": 500, "5 RUB": 500, "5RUB": 500, "5 rub": 500,
		"+5": 500, "-5": -500, "\u22125": -500, "-1 234,56 ₽": -123456,
		" 5": 500, "5\n": 500, "\t5 ₽\r\n": 500, "\u30005\u00a0": 500,
		"92233720368547758.07": math.MaxInt64, "-92 233 720 368 547 758,08 ₽": math.MinInt64,
		strings.Repeat("0", 100) + "1": 100,
	} {
		got, err := parseRubles(text)
		if err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestParseRubles_Errors(t *testing.T) {
	for text, want := range map[string]error{
		"1,234,567": errNoAmount, "1234,567.89": errNoAmount, "1,23.45": errNoAmount,
		"1.234,56": errNoAmount, "12.345,67": errNoAmount,
		"1 234,567.89": errNoAmount, "1,234.": errNoAmount, "1.234.567": errNoAmount, "1 .234,5": errNoAmount,
		"1.234": errNoAmount, "1,234": errNoAmount, "1.230": errNoAmount, "1.23456": errNoAmount,
		"1 234,567": errNoAmount, "0.005": errNoAmount, "1.234 ₽": errNoAmount,
		"12 34": errNoAmount, "1 2345": errNoAmount, "1234 567": errNoAmount, "1 234 56": errNoAmount,
		"1  234": errNoAmount, "1 ,5": errNoAmount,
		"": errNoAmount, " ": errNoAmount, "₽": errNoAmount, "RUB": errNoAmount, "-": errNoAmount, "+₽": errNoAmount,
		"--5": errNoAmount, "+-5": errNoAmount, "- 5": errNoAmount, "5-": errNoAmount, "(5)": errNoAmount,
		".5": errNoAmount, ",5": errNoAmount, "5.": errNoAmount, "5,": errNoAmount, "5,-": errNoAmount, "1'234": errNoAmount,
		"1_234": errNoAmount, "5 ₽ ₽": errNoAmount, "₽5": errNoAmount, "5 USD": errNoAmount,
		"five": errNoAmount, "1e5": errNoAmount, "0x1F": errNoAmount, "NaN": errNoAmount, "Inf": errNoAmount,
		"\uff11\uff12": errNoAmount, "\u0661": errNoAmount, "1\t234": errNoAmount, "1\n234": errNoAmount,
		"1\u200b234": errNoAmount, "\xff5": errNoAmount, "5\x00": errNoAmount,
		"92233720368547758.08": errTooLarge, "-92233720368547758.09": errTooLarge, strings.Repeat("9", 200): errTooLarge,
	} {
		got, err := parseRubles(text)
		if !errors.Is(err, want) {
			t.Errorf("%q: got %d, %v, want %v", text, got, err, want)
		}
	}
	if _, err := parseRubles(strings.Repeat("x", 1<<20)); len(err.Error()) > 400 {
		t.Errorf("the error for a text of 1 MiB has %d bytes", len(err.Error()))
	}
}

// A parsed amount has the digits of the text, and is equal after formatting and parsing.
func FuzzParseRubles(f *testing.F) {
	for _, seed := range []string{"1234.56", "1 234,56 ₽", "\u22121\u202f234 руб.", "+0,5RUB", "1,234.56", "1.234",
		"12 34", "", "1e5", "\uff11", "\xff", "92233720368547758.08"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kop, err := parseRubles(text)
		if err != nil {
			return
		}
		whole, cents := strings.TrimSuffix(strings.TrimSpace(text), "."), "" // without the point of "руб."
		if i := strings.LastIndexAny(whole, ".,"); i >= 0 {
			whole, cents = whole[:i], digitsOf(whole[i:])
		}
		formatted := string(tfkit.Rubles(kop))
		if want := digitsOf(whole) + (cents + "00")[:2]; strings.TrimLeft(want, "0") != strings.TrimLeft(digitsOf(formatted),
			"0") {
			t.Errorf("%q: parsed %d", text, kop)
		}
		if again, err := parseRubles(formatted); err != nil || again != kop {
			t.Errorf("%q: parsed %d, formatted %q, parsed %d, %v", text, kop, formatted, again, err)
		}
	})
}

func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
