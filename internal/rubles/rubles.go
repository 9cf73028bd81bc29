// Package rubles formats amounts of money.
package rubles

import (
	"math/big"
	"strings"
)

// HoursPerMonth is the mean month.
const HoursPerMonth = 730

// Monthly returns the cost of a rate in kopecks per hour in a mean month.
func Monthly(kopH *big.Int) *big.Int { return new(big.Int).Mul(kopH, big.NewInt(HoursPerMonth)) }

// Format formats an amount in kopecks of any size, with the given space before the sign: "1,234.56 ₽".
func Format(kop *big.Int, space string) string {
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
			grouped.WriteByte(',')
		}
		grouped.WriteRune(d)
	}
	return sign + grouped.String() + "." + cents + space + "₽"
}
