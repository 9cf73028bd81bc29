package simulator

import (
	"fmt"
	"strconv"
	"strings"
)

// language is one the service speaks; the zero value is the default.
type language int

const (
	russian language = iota
	english
)

func (l language) String() string {
	if l == english {
		return "en"
	}
	return "ru"
}

// text is a message in every language.
type text struct{ ru, en string }

func (t text) in(l language) string {
	if l == english {
		return t.en
	}
	return t.ru
}

// with fills the same arguments into the text of each language.
func (t text) with(args ...any) text {
	return text{fmt.Sprintf(t.ru, args...), fmt.Sprintf(t.en, args...)}
}

// parseLanguage picks the language an Accept-Language header likes best; what it does not mention falls to Russian.
func parseLanguage(header string) language {
	best, bestWeight := russian, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			parsed, err := strconv.ParseFloat(q, 64)
			if err != nil {
				continue
			}
			weight = parsed
		}
		primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		var l language
		switch primary {
		case "ru", "*":
			l = russian
		case "en":
			l = english
		default:
			continue
		}
		if weight > bestWeight {
			best, bestWeight = l, weight
		}
	}
	return best
}
