package money

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// amountPattern matches an amount in rubles in the notation of users. It does not match amounts that are ambiguous,
// such as 1,234.
var amountPattern = regexp.MustCompile(`^([+\-\x{2212}]?)` +
	`(?:(\d{1,3}(?:\p{Zs}\d{3})+|\d+)(?:[.,](\d{1,2}))?|(\d{1,3}(?:,\d{3})+)\.(\d{1,2}))` +
	`\p{Zs}*(?i:₽|руб\.?|rub)?$`)

var (
	errNoAmount = errors.New("write one or two decimal digits after a point or a comma, and separate thousands by " +
		"spaces only, or by commas before a point; 1,234 could mean 1234.00 or 1.234")
	errTooLarge = errors.New("it is out of range: kopecks are 64-bit integers")
)

// parseRubles returns the kopecks of an amount in rubles such as "1,234.56 ₽" or
// "1 234,56 ₽". Errors quote the text.
func parseRubles(text string) (int64, error) {
	parts := amountPattern.FindStringSubmatch(strings.TrimFunc(text, unicode.IsSpace))
	if parts == nil {
		return 0, amountError(text, errNoAmount)
	}
	sign, whole, cents := parts[1], onlyDigits(parts[2]+parts[4]), parts[3]+parts[5]
	if sign != "" && sign != "+" {
		sign = "-"
	}
	kop, err := strconv.ParseInt(sign+whole+cents+"00"[len(cents):], 10, 64)
	if err != nil {
		return 0, amountError(text, errTooLarge)
	}
	return kop, nil
}

// amountError quotes the first 80 characters of the text.
func amountError(text string, cause error) error {
	return fmt.Errorf(`%.80q is not an amount in rubles such as "1,234.56 ₽" or "1 234,56 ₽": %w`, text, cause)
}

// onlyDigits returns digits without the separators between groups.
func onlyDigits(grouped string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, grouped)
}

// precision is the number of bits of a Terraform number.
const precision = 512

// tolerance is the maximum rounding error of a whole number. Terraform uses binary fractions, in which 0.01 * 100 is
// not exactly 1.
var tolerance = new(big.Float).SetMantExp(big.NewFloat(1), -precision/2)

// wholeKopecks converts a Terraform number to kopecks. It returns an error for a fraction above tolerance and for a
// number out of range.
func wholeKopecks(number *big.Float) (*big.Int, error) {
	if number.MantExp(nil) > precision || number.IsInf() {
		return nil, fmt.Errorf("%s is out of range: it is too large for exact kopecks", number.Text('g', 20))
	}
	half := big.NewFloat(0.5)
	if number.Signbit() {
		half.Neg(half)
	}
	kop, _ := new(big.Float).SetPrec(2*precision).Add(number, half).Int(nil)
	off := new(big.Float).SetPrec(2 * precision).SetInt(kop)
	if off.Sub(off, number).Abs(off).Cmp(tolerance) > 0 {
		return nil, fmt.Errorf("%s is not a whole number of kopecks: round it with floor or ceil", number.Text('g', 20))
	}
	return kop, nil
}
