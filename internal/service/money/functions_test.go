package money

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"pgregory.net/rapid"
)

// call calls a function with its only argument; result is a value of its kind.
func call(t *testing.T, f function.Function, argument, result attr.Value) (attr.Value, *function.FuncError) {
	t.Helper()
	resp := function.RunResponse{Result: function.NewResultData(result)}
	f.Run(t.Context(), function.RunRequest{Arguments: function.NewArgumentsData([]attr.Value{argument})}, &resp)
	return resp.Result.Value(), resp.Error
}

// number reads a number as Terraform does.
func number(t *testing.T, text string) types.Number {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, exactBits, big.ToNearestEven)
	if err != nil && f == nil {
		t.Fatal(err)
	}
	return types.NumberValue(f)
}

// refusedForArgument expects an error about the first argument that is part of a
// sentence and has the words.
func refusedForArgument(t *testing.T, err *function.FuncError, words string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("passes, want %q", words)
	case err.FunctionArgument == nil || *err.FunctionArgument != 0:
		t.Errorf("%q does not tell which argument", err.Text)
	case !strings.Contains(err.Text, words) || strings.HasSuffix(err.Text, "."):
		t.Errorf("got %q, want a part of a sentence with %q", err.Text, words)
	}
}

func TestFormatRub(t *testing.T) {
	for kopecks, want := range map[string]string{
		"0": "0,00 ₽", "-0": "0,00 ₽", "1": "0,01 ₽", "-1": "-0,01 ₽", "99": "0,99 ₽", "100": "1,00 ₽", "123456": "1 234,56 ₽", "-123456": "-1 234,56 ₽",
		"99999": "999,99 ₽", "100000": "1 000,00 ₽", "123456789": "1 234 567,89 ₽",
		"9223372036854775807": "92 233 720 368 547 758,07 ₽", "9223372036854775808": "92 233 720 368 547 758,08 ₽",
		"-123456789012345678901234567890": "-1 234 567 890 123 456 789 012 345 678,90 ₽",
		"1e30":                            "10 000 000 000 000 000 000 000 000 000,00 ₽",
		// What 100 * 0.01 and 0.29 * 100 are in Terraform, or nearly so.
		"0." + strings.Repeat("9", 150): "0,01 ₽", "28." + strings.Repeat("9", 150): "0,29 ₽", "-29." + strings.Repeat("0", 150) + "1": "-0,29 ₽", "1e-200": "0,00 ₽",
	} {
		got, err := call(t, newFormatRub(), number(t, kopecks), types.StringUnknown())
		if err != nil || !got.Equal(types.StringValue(want)) {
			t.Errorf("%s: got %s, %v, want %q", kopecks, got, err, want)
		}
	}
}

func TestFormatRubRefuses(t *testing.T) {
	for kopecks, words := range map[string]string{
		"0.5":       "0.5 is not a whole number of kopecks",
		"-1234.56":  "-1234.56 is not a whole number of kopecks",
		"1e-9":      "1e-09 is not a whole number",
		"123456.01": "123456.01 is not a whole",
		"1e200":     "1e+200 is out of range",
		"-1e400":    "-1e+400 is out of range",
		"+Inf":      "out of range",
		"-Inf":      "out of range",
	} {
		t.Run(kopecks, func(t *testing.T) {
			_, err := call(t, newFormatRub(), number(t, kopecks), types.StringUnknown())
			refusedForArgument(t, err, words)
		})
	}
}

func TestKopecks(t *testing.T) {
	got, err := call(t, newKopecks(), types.StringValue("1234.56"), types.Int64Unknown())
	if err != nil || !got.Equal(types.Int64Value(123456)) {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = call(t, newKopecks(), types.StringValue("1,234.56"), types.Int64Unknown())
	refusedForArgument(t, err, `"1,234.56" is not an amount`)
}

func TestMonthlyKop(t *testing.T) {
	for kopH, want := range map[string]string{
		"0": "0", "1": "730", "9000": "6570000", "-9000": "-6570000",
		"9223372036854775807": "6733061586903986339110", // more than an int64 holds
	} {
		got, err := call(t, newMonthlyKop(), number(t, kopH), types.NumberUnknown())
		if err != nil || !got.Equal(number(t, want)) {
			t.Errorf("%s: got %s, %v, want %s", kopH, got, err, want)
		}
	}
	for kopH, words := range map[string]string{"0.5": "not a whole number", "1e999": "out of range"} {
		_, err := call(t, newMonthlyKop(), number(t, kopH), types.NumberUnknown())
		refusedForArgument(t, err, words)
	}
}

// Every whole number is itself, also after Terraform has divided it by a hundred
// and multiplied it again; no other number passes for one.
func TestWholeKopecks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kop := rapid.Int64().Draw(rt, "kop")
		float := func() *big.Float { return new(big.Float).SetPrec(exactBits) }
		rubles := float().Quo(float().SetInt64(kop), float().SetInt64(100))
		for _, whole := range []*big.Float{float().SetInt64(kop), float().Mul(rubles, float().SetInt64(100))} {
			if got, err := wholeKopecks(whole); err != nil || got.Cmp(big.NewInt(kop)) != 0 {
				rt.Errorf("%s: got %s, %v", whole.Text('g', -1), got, err)
			}
		}
		fraction := rapid.Float64Range(1e-12, 1-1e-12).Draw(rt, "fraction")
		if got, err := wholeKopecks(float().Add(float().SetInt64(kop), big.NewFloat(fraction))); err == nil {
			rt.Errorf("%d and %v passes for %s", kop, fraction, got)
		}
	})
	if got, err := wholeKopecks(big.NewFloat(math.MaxInt32)); err != nil || got.Cmp(big.NewInt(math.MaxInt32)) != 0 {
		t.Errorf("a number of few bits: got %s, %v", got, err)
	}
}
