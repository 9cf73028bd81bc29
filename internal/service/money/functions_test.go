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

// number parses a number with the precision of Terraform.
func number(t *testing.T, text string) types.Number {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, precision, big.ToNearestEven)
	if err != nil && f == nil {
		t.Fatal(err)
	}
	return types.NumberValue(f)
}

// format_rub formats whole kopecks of any size, and reports others at its argument.
func TestFormatRub(t *testing.T) {
	rubles := types.StringValue
	for _, test := range []struct {
		argument attr.Value
		want     attr.Value // nil for an error
		words    string     // of the error
	}{
		{number(t, "-0"), rubles("0.00 ₽"), ""},
		{number(t, "-1"), rubles("-0.01 ₽"), ""},
		{number(t, "123456789"), rubles("1,234,567.89 ₽"), ""},
		{number(t, "-1e30"), rubles("-10,000,000,000,000,000,000,000,000,000.00 ₽"), ""},
		{number(t, "-1234.56"), nil, "-1234.56 is not a whole number of kopecks"},
		{number(t, "1e-9"), nil, "1e-09 is not a whole number"},
		{number(t, "1e200"), nil, "1e+200 is out of range"},
		{number(t, "-Inf"), nil, "out of range"},
	} {
		var definition function.DefinitionResponse
		NewFormatRub().Definition(t.Context(), function.DefinitionRequest{}, &definition)
		result, err := definition.Definition.Return.NewResultData(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resp := function.RunResponse{Result: result}
		arguments := function.NewArgumentsData([]attr.Value{test.argument})
		NewFormatRub().Run(t.Context(), function.RunRequest{Arguments: arguments}, &resp)
		switch failed := resp.Error; {
		case test.want != nil && (failed != nil || !resp.Result.Value().Equal(test.want)):
			t.Errorf("%s: got %s, %v, want %s", test.argument, resp.Result.Value(), failed, test.want)
		case test.want != nil:
		case failed == nil || failed.FunctionArgument == nil || *failed.FunctionArgument != 0:
			t.Errorf("%s: %v is no error of the argument", test.argument, failed)
		case !strings.Contains(failed.Text, test.words) || strings.HasSuffix(failed.Text, "."):
			// The CLIs add it to a sentence, so it has no final period.
			t.Errorf("got %q, want %q without a period", failed.Text, test.words)
		}
	}
}

// wholeKopecks returns whole numbers exactly, even after a division and a multiplication by 100, and an error for
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
