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
			MarkdownDescription: "Formats an amount in kopecks as rubles: `123456` becomes `1 234,56 ₽`, with ordinary " +
				"spaces. A negative amount begins with a hyphen. A fraction of a kopeck is an error.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kopecks", MarkdownDescription: "Amount in whole kopecks."},
			},
			Return: function.StringReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			kop, err := kopecksArgument(ctx, arguments)
			if err != nil {
				return nil, err
			}
			return rubles.Russian(kop), nil
		},
	}
}

// NewKopecks returns the function kopecks.
func NewKopecks() function.Function {
	return tfkit.Function{
		Name: "kopecks",
		Signature: function.Definition{
			Summary: "Converts rubles to kopecks.",
			MarkdownDescription: "Converts an amount in rubles, in common notations or that of `format_rub`, to kopecks, the " +
				"unit of all amounts of this provider: `1234.56`, `1,234.56 ₽`, `1234,56`, `1 234,56 ₽` and `1 234,56 руб.` are " +
				"`123456`.\n\n" +
				"A point or a comma separates one or two decimal digits. Spaces of any kind can separate thousands, and so can " +
				"commas before a point with decimal digits. The amount can begin with `+` or `-`, and end with `₽`, `руб.`, " +
				"`руб` or `RUB`. An ambiguous amount, such as `1,234` or `1.234,56`, is an error.",
			Parameters: []function.Parameter{
				function.StringParameter{Name: "rubles", MarkdownDescription: "Amount in rubles."},
			},
			Return: function.Int64Return{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			var rubles string
			if err := arguments.Get(ctx, &rubles); err != nil {
				return nil, err
			}
			kop, err := parseRubles(rubles)
			if err != nil {
				return nil, function.NewArgumentFuncError(0, err.Error())
			}
			return kop, nil
		},
	}
}

// NewMonthlyKop returns the function monthly_kop.
func NewMonthlyKop() function.Function {
	return tfkit.Function{
		Name: "monthly_kop",
		Signature: function.Definition{
			Summary: "Converts an hourly price to a monthly price.",
			MarkdownDescription: "Converts a price in kopecks per hour to kopecks per month of 730 hours. The price can be " +
				"negative, such as the difference of two prices. A fraction of a kopeck is an error.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kop_h", MarkdownDescription: "Price in whole kopecks per hour."},
			},
			Return: function.NumberReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			kopH, err := kopecksArgument(ctx, arguments)
			if err != nil {
				return nil, err
			}
			return new(big.Float).SetInt(rubles.Monthly(kopH)), nil
		},
	}
}

// kopecksArgument returns the only argument of a function, an amount or a price in kopecks. It is a number and not an
// integer, because the framework's error for a fraction does not help users.
func kopecksArgument(ctx context.Context, arguments function.ArgumentsData) (*big.Int, *function.FuncError) {
	var number *big.Float
	if err := arguments.Get(ctx, &number); err != nil {
		return nil, err
	}
	kop, err := wholeKopecks(number)
	if err != nil {
		return nil, function.NewArgumentFuncError(0, err.Error())
	}
	return kop, nil
}
