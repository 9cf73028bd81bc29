package money

import (
	"context"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func newFormatRub() function.Function {
	return tfkit.Function{
		Name: "format_rub",
		Signature: function.Definition{
			Summary: "Writes kopecks as rubles.",
			MarkdownDescription: "Writes an amount in kopecks for people: `123456` becomes `1 234,56 ₽`, with ordinary spaces. An amount below zero has a hyphen before it. " +
				"A fraction of a kopeck is refused.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kopecks", MarkdownDescription: "The amount, whole kopecks."},
			},
			Return: function.StringReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			kop, err := kopecksArgument(ctx, arguments)
			if err != nil {
				return nil, err
			}
			return tfkit.SpacedRubles(kop, " "), nil
		},
	}
}

func newKopecks() function.Function {
	return tfkit.Function{
		Name: "kopecks",
		Signature: function.Definition{
			Summary: "Reads rubles as kopecks.",
			MarkdownDescription: "Reads an amount in rubles as people write it, or as `format_rub` does, and returns kopecks, the unit of all money of this provider: " +
				"`1234.56`, `1234,56`, `1 234,56 ₽` and `1 234,56 руб.` are `123456`.\n\n" +
				"One point or one comma stands before the kopecks, one or two digits; a single one counts tens. Thousands may be separated by spaces of any kind, never by points or commas. " +
				"The sign `+` or `-` may come first, `₽`, `руб.`, `руб` or `RUB` last. What has two meanings, such as `1,234` or `1.234,56`, is refused.",
			Parameters: []function.Parameter{
				function.StringParameter{Name: "rubles", MarkdownDescription: "The amount, rubles."},
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

func newMonthlyKop() function.Function {
	return tfkit.Function{
		Name: "monthly_kop",
		Signature: function.Definition{
			Summary: "Tells what an hourly price costs in a month.",
			MarkdownDescription: "Returns what a price in kopecks per hour costs in a mean month of 730 hours, kopecks. The difference of two prices may be below zero. " +
				"A fraction of a kopeck is refused.",
			Parameters: []function.Parameter{
				function.NumberParameter{Name: "kop_h", MarkdownDescription: "The price, whole kopecks per hour."},
			},
			Return: function.NumberReturn{},
		},
		Call: func(ctx context.Context, arguments function.ArgumentsData) (any, *function.FuncError) {
			kopH, err := kopecksArgument(ctx, arguments)
			if err != nil {
				return nil, err
			}
			return new(big.Float).SetInt(tfkit.Monthly(kopH)), nil
		},
	}
}

// kopecksArgument is the only argument of a function, an amount or a price. It is
// a number without bounds, because the framework's own words for one that is no
// integer are not for users.
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
