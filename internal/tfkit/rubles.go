package tfkit

import (
	"strconv"
	"strings"
)

// hoursPerMonth is the mean month.
const hoursPerMonth = 730

// HourlyRubles writes a rate in kopecks per hour for people, who think of what
// a server costs in a month as well.
func HourlyRubles(kopH int64) string {
	return Rubles(kopH) + " per hour (" + Rubles(kopH*hoursPerMonth) + " per month)"
}

// Rubles writes an amount in kopecks for people: "1 234,56 ₽", with no-break
// spaces between the thousands and before the sign.
func Rubles(kop int64) string {
	sign, digits := "", strconv.FormatInt(kop, 10)
	if kop < 0 {
		sign, digits = "-", digits[1:]
	}
	if short := 3 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, cents := digits[:len(digits)-2], digits[len(digits)-2:]
	var grouped strings.Builder
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			grouped.WriteRune('\u00a0')
		}
		grouped.WriteRune(d)
	}
	return sign + grouped.String() + "," + cents + "\u00a0₽"
}
