package cost

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

var amount = regexp.MustCompile(`^([0-9]{1,10})(?:\.([0-9]{1,2}))?$`)

// ParseRubles returns an amount in rubles, such as "1500" or "1500.50", in kopecks.
func ParseRubles(text string) (int64, error) {
	parts := amount.FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("must be an amount in rubles, such as 1500 or 1500.50")
	}
	return strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
}

// formatRubles formats an amount in kopecks, such as "1,234.56 ₽".
func formatRubles(kop int64) string {
	return rubles.Format(big.NewInt(kop), " ")
}

// special matches the characters that code encodes: those that are invisible, or could end a code span or a table cell.
var special = regexp.MustCompile(`[^\p{L}\p{N} ._:/,+="\[\]()-]`)

// code returns a text as a code span, in which Markdown is not interpreted. Names come from the configuration of a pull
// request.
func code(text string) string {
	if text == "" {
		return "`\"\"`" // two backticks would begin another span
	}
	more := ""
	if len(text) > maxName {
		text, more = text[:maxName], "…"
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	return "`" + special.ReplaceAllStringFunc(text, func(char string) string {
		var encoded strings.Builder
		for _, b := range []byte(char) {
			fmt.Fprintf(&encoded, "%%%02X", b)
		}
		return encoded.String()
	}) + "`" + more
}

// priceText is a price with how certain it is.
func priceText(p Price) string {
	switch {
	case p.KopH == nil && p.Uncapped:
		return "no cap"
	case p.KopH == nil:
		return "unknown"
	}
	text := formatRubles(*p.KopH)
	switch p.Basis {
	case Cap:
		text = "up to " + text
	case Offer:
		text = "now " + text
	default:
	}
	if p.DiskExcluded {
		text += " + disk"
	}
	return text
}

// beforeText is the price now.
func (s Server) beforeText() string {
	if s.BeforeKopH == nil {
		return "unknown"
	}
	return formatRubles(*s.BeforeKopH)
}

// actionText names what a plan does with a server, or with the members of a fleet.
func (s Server) actionText() string {
	var members []string
	for _, action := range []Action{Create, Replace, Destroy, Start, Stop, Wait} {
		if n := s.Members[action]; n > 0 {
			members = append(members, fmt.Sprintf("%s %d", action, n))
		}
	}
	switch {
	case len(members) > 0:
		return "members: " + strings.Join(members, ", ")
	case s.Action == Forget:
		return "forget, billing continues"
	case s.Action == ReplaceForget:
		return "replace and forget, billing continues"
	case s.Action == Unknown:
		return "not understood"
	}
	return string(s.Action)
}
