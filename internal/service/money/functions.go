package money

import (
	"context"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// NewFormatRub returns the function format_rub.
func NewFormatRub() function.Function {
	return tfkit.Function{
		Name: "format_rub",
		Signature: function.Definition{
			Summary: "Formats kopecks as rubles.",
			MarkdownDescription: "Formats an amount in kopecks as rubles: `123456` becomes `1,234.56 ₽`, as in messages. " +
				"A negative amount begins with a hyphen. Fractions are rounded to whole kopecks.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kopecks", MarkdownDescription: "Amount in kopecks."},
			},
			Return: function.StringReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			// It is not an integer, because Terraform uses binary fractions, in which 0.01 * 100 is not exactly 1.
			var number *big.Float
			if err := arguments.Get(ctx, &number); err != nil {
				return nil, err
			}
			half := big.NewFloat(0.5)
			if number.Signbit() {
				half.Neg(half)
			}
			kop, _ := new(big.Float).Add(number, half).Int(nil)
			return rubles.Format(kop, " "), nil
		},
	}
}
