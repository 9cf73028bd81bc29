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

// call calls a function with one argument. result is any value of the result type.
func call(t *testing.T, f function.Function, argument, result attr.Value) (attr.Value, *function.FuncError) {
	t.Helper()
	resp := function.RunResponse{Result: function.NewResultData(result)}
	f.Run(t.Context(), function.RunRequest{Arguments: function.NewArgumentsData([]attr.Value{argument})}, &resp)
	return resp.Result.Value(), resp.Error
}

// number parses a number with the precision of Terraform.
func number(t *testing.T, text string) types.Number {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, precision, big.ToNearestEven)
	if err != nil && f == nil {
		t.Fatal(err)
	}
	return types.NumberValue(f)
}

// wantArgumentError checks that err is an error about the first argument that contains words. The CLIs add it to a
// sentence, so it has no final period.
func wantArgumentError(t *testing.T, err *function.FuncError, words string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %q", words)
	case err.FunctionArgument == nil || *err.FunctionArgument != 0:
		t.Errorf("%q has no argument", err.Text)
	case !strings.Contains(err.Text, words) || strings.HasSuffix(err.Text, "."):
		t.Errorf("got %q, want %q without a period", err.Text, words)
	}
}

func TestFormatRub(t *testing.T) {
	for kopecks, want := range map[string]string{
		"0": "0,00 ₽", "-0": "0,00 ₽", "1": "0,01 ₽", "-1": "-0,01 ₽", "99": "0,99 ₽", "100": "1,00 ₽",
		"123456": "1 234,56 ₽", "-123456": "-1 234,56 ₽",
		"99999": "999,99 ₽", "100000": "1 000,00 ₽", "123456789": "1 234 567,89 ₽",
		"9223372036854775807": "92 233 720 368 547 758,07 ₽", "9223372036854775808": "92 233 720 368 547 758,08 ₽",
		"-123456789012345678901234567890": "-1 234 567 890 123 456 789 012 345 678,90 ₽",
		"1e30":                            "10 000 000 000 000 000 000 000 000 000,00 ₽",
		// Approximately the results of 100 * 0.01 and 0.29 * 100 in Terraform.
		"0." + strings.Repeat("9", 150): "0,01 ₽", "28." + strings.Repeat("9", 150): "0,29 ₽",
		"-29." + strings.Repeat("0", 150) + "1": "-0,29 ₽", "1e-200": "0,00 ₽",
	} {
		got, err := call(t, NewFormatRub(), number(t, kopecks), types.StringUnknown())
		if err != nil || !got.Equal(types.StringValue(want)) {
			t.Errorf("%s: got %s, %v, want %q", kopecks, got, err, want)
		}
	}
}

func TestFormatRub_Errors(t *testing.T) {
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
			_, err := call(t, NewFormatRub(), number(t, kopecks), types.StringUnknown())
			wantArgumentError(t, err, words)
		})
	}
}

func TestKopecks(t *testing.T) {
	got, err := call(t, NewKopecks(), types.StringValue("1234.56"), types.Int64Unknown())
	if err != nil || !got.Equal(types.Int64Value(123456)) {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = call(t, NewKopecks(), types.StringValue("1,234.56"), types.Int64Unknown())
	wantArgumentError(t, err, `"1,234.56" is not an amount`)
}

func TestMonthlyKop(t *testing.T) {
	for kopH, want := range map[string]string{
		"0": "0", "1": "730", "9000": "6570000", "-9000": "-6570000",
		"9223372036854775807": "6733061586903986339110", // more than an int64 holds
	} {
		got, err := call(t, NewMonthlyKop(), number(t, kopH), types.NumberUnknown())
		if err != nil || !got.Equal(number(t, want)) {
			t.Errorf("%s: got %s, %v, want %s", kopH, got, err, want)
		}
	}
	for kopH, words := range map[string]string{"0.5": "not a whole number", "1e999": "out of range"} {
		_, err := call(t, NewMonthlyKop(), number(t, kopH), types.NumberUnknown())
		wantArgumentError(t, err, words)
	}
}

// wholeKopecks returns whole numbers exactly, also after a division and a multiplication by 100, and an error for
// fractions.
func TestWholeKopecks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kop := rapid.Int64().Draw(rt, "kop")
		float := func() *big.Float { return new(big.Float).SetPrec(precision) }
		rubles := float().Quo(float().SetInt64(kop), float().SetInt64(100))
		for _, whole := range []*big.Float{float().SetInt64(kop), float().Mul(rubles, float().SetInt64(100))} {
			if got, err := wholeKopecks(whole); err != nil || got.Cmp(big.NewInt(kop)) != 0 {
				rt.Errorf("%s: got %s, %v", whole.Text('g', -1), got, err)
			}
		}
		fraction := rapid.Float64Range(1e-12, 1-1e-12).Draw(rt, "fraction")
		if got, err := wholeKopecks(float().Add(float().SetInt64(kop), big.NewFloat(fraction))); err == nil {
			rt.Errorf("%d and %v: got %s, want an error", kop, fraction, got)
		}
	})
	if got, err := wholeKopecks(big.NewFloat(math.MaxInt32)); err != nil || got.Cmp(big.NewInt(math.MaxInt32)) != 0 {
		t.Errorf("number with few bits: got %s, %v", got, err)
	}
}
