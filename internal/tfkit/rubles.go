package tfkit

import (
	"math/big"
	"strings"
)

const (
	// hoursPerMonth is the mean month.
	hoursPerMonth = 730

	// noBreakSpace keeps an amount on one line of a message.
	noBreakSpace = "\u00a0"
)

// Monthly returns the cost of a rate in kopecks per hour in a mean month, 730 hours.
func Monthly(kopH *big.Int) *big.Int {
	return new(big.Int).Mul(kopH, big.NewInt(hoursPerMonth))
}

// HourlyRubles formats a rate in kopecks per hour, with its cost per month.
func HourlyRubles(kopH int64) Text {
	rate := big.NewInt(kopH)
	return Text(
		SpacedRubles(rate, noBreakSpace) + " per hour (" + SpacedRubles(Monthly(rate), noBreakSpace) + " per month)",
	)
}

// Rubles formats an amount in kopecks: "1 234,56 ₽", with no-break spaces between the thousands and before the sign.
func Rubles(kop int64) Text { return Text(SpacedRubles(big.NewInt(kop), noBreakSpace)) }

// SpacedRubles formats an amount in kopecks of any size, with the given space.
func SpacedRubles(kop *big.Int, space string) string {
	sign, digits := "", new(big.Int).Abs(kop).String()
	if kop.Sign() < 0 {
		sign = "-"
	}
	if short := 3 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, cents := digits[:len(digits)-2], digits[len(digits)-2:]
	var grouped strings.Builder
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			grouped.WriteString(space)
		}
		grouped.WriteRune(d)
	}
	return sign + grouped.String() + "," + cents + space + "₽"
}
