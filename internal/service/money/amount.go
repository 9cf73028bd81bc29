package money

import (
	"fmt"
	"math/big"
)

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
