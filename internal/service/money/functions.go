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
				"A negative amount begins with a hyphen. A fraction of a kopeck is an error.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kopecks", MarkdownDescription: "Amount in whole kopecks."},
			},
			Return: function.StringReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			// It is not an integer, because the framework's error for a fraction does not help users.
			var number *big.Float
			if err := arguments.Get(ctx, &number); err != nil {
				return nil, err
			}
			kop, err := wholeKopecks(number)
			if err != nil {
				return nil, function.NewArgumentFuncError(0, err.Error())
			}
			return rubles.Format(kop, " "), nil
		},
	}
}
