package tfkit

import (
	"strconv"
	"strings"
)

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
