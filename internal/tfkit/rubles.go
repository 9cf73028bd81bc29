package tfkit

import (
	"math/big"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// noBreakSpace keeps an amount on one line of a message.
const noBreakSpace = "\u00a0"

// HourlyRubles formats a rate in kopecks per hour, with its cost per month.
func HourlyRubles(kopH int64) Text {
	rate := big.NewInt(kopH)
	return Text(rubles.Format(rate, noBreakSpace) + " per hour (" +
		rubles.Format(rubles.Monthly(rate), noBreakSpace) + " per month)")
}

// PerHour formats a rate in kopecks per hour.
func PerHour(kopH int64) Text { return Rubles(kopH) + " per hour" }

// Rubles formats an amount in kopecks: "1,234.56 ₽", with a no-break space before the sign.
func Rubles(kop int64) Text { return Text(rubles.Format(big.NewInt(kop), noBreakSpace)) }
