package money

import (
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// number parses a number with the precision of Terraform.
func number(t *testing.T, text string) *big.Float {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// format_rub formats kopecks of any size, and rounds fractions, such as the errors of Terraform's arithmetic.
func TestFormatRub(t *testing.T) {
	product := number(t, "0.29")
	product.Mul(product, number(t, "100"))
	for _, test := range []struct {
		argument *big.Float
		want     string
	}{
		{number(t, "-0"), "0.00 ₽"},
		{number(t, "-1"), "-0.01 ₽"},
		{number(t, "123456789"), "1,234,567.89 ₽"},
		{number(t, "-1e30"), "-10,000,000,000,000,000,000,000,000,000.00 ₽"},
		{product, "0.29 ₽"},
		{number(t, "-1234.56"), "-12.35 ₽"},
		{number(t, "0.4"), "0.00 ₽"},
	} {
		var definition function.DefinitionResponse
		NewFormatRub().Definition(t.Context(), function.DefinitionRequest{}, &definition)
		result, err := definition.Definition.Return.NewResultData(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resp := function.RunResponse{Result: result}
		arguments := function.NewArgumentsData([]attr.Value{types.NumberValue(test.argument)})
		NewFormatRub().Run(t.Context(), function.RunRequest{Arguments: arguments}, &resp)
		if want := types.StringValue(test.want); resp.Error != nil || !resp.Result.Value().Equal(want) {
			t.Errorf("%s: got %s, %v, want %s", test.argument, resp.Result.Value(), resp.Error, want)
		}
	}
}
