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

var (
	// amount is rubles as people write them. Digits are ASCII, and whatever has two
	// meanings in different countries does not match.
	amount = regexp.MustCompile(`^([+\-\x{2212}]?)(\d{1,3}(?:\p{Zs}\d{3})+|\d+)(?:[.,](\d{1,2}))?\p{Zs}*(?i:₽|руб\.?|rub)?$`)

	// The rest tells what is wrong with what does not match.
	severalPoints = regexp.MustCompile(`\d\p{Zs}?[.,].*[.,]\d`)
	longFraction  = regexp.MustCompile(`\d[.,]\d{3}`)
	oddGroups     = regexp.MustCompile(`\d\p{Zs}+\d`)
)

var (
	errSeveralPoints = errors.New(`it has more than one point or comma. Separate thousands by spaces alone`)
	errLongFraction  = errors.New(`it has more than two digits after the point or comma: either thousands, which spaces separate, or a fraction of a kopeck, which does not exist`)
	errOddGroups     = errors.New(`spaces in it must separate groups of three digits`)
	errNoAmount      = errors.New(`digits are wanted, and one or two more after a point or comma if there are kopecks`)
	errTooLarge      = errors.New(`it is out of range: kopecks are 64-bit integers`)
)

// parseRubles returns the kopecks of an amount in rubles such as "1234.56" or
// "1 234,56 ₽". An error quotes it.
func parseRubles(text string) (int64, error) {
	trimmed := strings.TrimFunc(text, unicode.IsSpace)
	parts := amount.FindStringSubmatch(trimmed)
	if parts == nil {
		return 0, refused(text, whatIsWrong(trimmed))
	}
	sign, whole, cents := parts[1], onlyDigits(parts[2]), parts[3]
	if sign != "" && sign != "+" {
		sign = "-"
	}
	kop, err := strconv.ParseInt(sign+whole+cents+"00"[len(cents):], 10, 64)
	if err != nil {
		return 0, refused(text, errTooLarge)
	}
	return kop, nil
}

// refused quotes the beginning: whole files have been given for an argument.
func refused(text string, why error) error {
	return fmt.Errorf(`%.80q is not an amount in rubles such as "1234.56" or "1 234,56 ₽": %w`, text, why)
}

func whatIsWrong(trimmed string) error {
	switch {
	case severalPoints.MatchString(trimmed):
		return errSeveralPoints
	case longFraction.MatchString(trimmed):
		return errLongFraction
	case oddGroups.MatchString(trimmed):
		return errOddGroups
	}
	return errNoAmount
}

func onlyDigits(grouped string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, grouped)
}

// exactBits is how many bits of a number Terraform keeps.
const exactBits = 512

// dust is the most that a whole number may be off. Terraform counts in binary
// fractions, and 0.01 * 100 is not quite 1 there.
var dust = new(big.Float).SetMantExp(big.NewFloat(1), -exactBits/2)

// wholeKopecks returns a number of Terraform, which may have a fraction, as
// kopecks. An error quotes it.
func wholeKopecks(number *big.Float) (*big.Int, error) {
	if number.MantExp(nil) > exactBits || number.IsInf() {
		return nil, fmt.Errorf("%s is out of range: Terraform does not count that far to the kopeck", number.Text('g', 20))
	}
	half := big.NewFloat(0.5)
	if number.Signbit() {
		half.Neg(half)
	}
	kop, _ := new(big.Float).SetPrec(2*exactBits).Add(number, half).Int(nil)
	off := new(big.Float).SetPrec(2 * exactBits).SetInt(kop)
	if off.Sub(off, number).Abs(off).Cmp(dust) > 0 {
		return nil, fmt.Errorf("%s is not a whole number of kopecks: round it with floor or ceil", number.Text('g', 20))
	}
	return kop, nil
}
