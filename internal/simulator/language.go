package simulator

import (
	"fmt"
	"strconv"
	"strings"
)

// language is a language of messages. The zero value is the default, Russian.
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

// text is a message in all languages. Messages of the control API are only in English.
type text struct{ ru, en string }

func (t text) in(l language) string {
	if l == english {
		return t.en
	}
	return t.ru
}

// with formats the text in each language with the same arguments.
func (t text) with(args ...any) text {
	return text{fmt.Sprintf(t.ru, args...), fmt.Sprintf(t.en, args...)}
}

// parseLanguage returns the preferred language of an Accept-Language header, Russian by default.
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
