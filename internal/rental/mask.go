package rental

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// minHidden is the length of the shortest text that is hidden, in characters. Shorter ones are no secrets.
	minHidden = 4
	// minInWord is the length from which a text is hidden within a word, too: a shorter one is a part of many words.
	minInWord = 8
	// hiddenPart is the length from which a part of a text is hidden. It is longer than most words of messages.
	hiddenPart = 12
)

// hidden replaces a text that must not appear.
const hidden = "(hidden)"

// notHidden are the fields of a body whose values are made by the API. A message needs them, and they are not secret.
var notHidden = []string{"offer_id", "template", "ssh_key_ids", "type", "launch_mode", "scopes"}

// mask are the parts of the API key and of the texts of a request, which an API that refuses them often repeats, whole
// or shortened: hiddenPart characters of a text in a row, or the whole of a shorter one.
type mask map[string]bool

// newMask returns the mask for texts.
func newMask(texts ...string) mask {
	parts := mask{}
	for _, text := range texts {
		text := []rune(sanitize(text))
		for start := range max(len(text)-hiddenPart, 0) + 1 {
			if part := text[start:min(start+hiddenPart, len(text))]; len(part) >= minHidden {
				parts[string(part)] = true
			}
		}
	}
	return parts
}

// textsOf returns the strings in a body, except the names of fields and variables, and the values of notHidden.
func textsOf(body any) []string {
	var fields map[string]any
	if data, err := json.Marshal(body); err != nil || json.Unmarshal(data, &fields) != nil {
		return nil
	}
	maps.DeleteFunc(fields, func(name string, _ any) bool { return slices.Contains(notHidden, name) })
	return appendTexts(nil, fields)
}

// appendTexts appends the texts in a JSON value, as the API can repeat them: whole, with escape sequences, or a line.
func appendTexts(texts []string, value any) []string {
	switch value := value.(type) {
	case string:
		quoted := strconv.Quote(value)
		texts = append(append(texts, value, quoted[1:len(quoted)-1]), strings.Split(value, "\n")...)
	case []any:
		for _, item := range value {
			texts = appendTexts(texts, item)
		}
	case map[string]any:
		for _, item := range value {
			texts = appendTexts(texts, item)
		}
	}
	return texts
}

// printable sanitizes a text and hides what must not appear in it. It hides before it shortens, because a part would
// not be recognized.
func (m mask) printable(s string, limit int) string { return shorten(m.hide(sanitize(s)), limit) }

// hide replaces the parts in a sanitized message.
func (m mask) hide(message string) string {
	text := []rune(message)
	hide := make([]bool, len(text))
	for start := range text {
		for end := start + minHidden; end <= min(start+hiddenPart, len(text)); end++ {
			if m[string(text[start:end])] && (end >= start+minInWord || isWord(text, start, end)) {
				for at := start; at < end; at++ {
					hide[at] = true
				}
			}
		}
	}
	var masked strings.Builder
	for at, char := range text {
		switch {
		case !hide[at]:
			masked.WriteRune(char)
		case at == 0 || !hide[at-1]:
			masked.WriteString(hidden)
		}
	}
	return masked.String()
}

// isWord reports whether a part of a text is not within a longer word.
func isWord(text []rune, start, end int) bool {
	inWord := func(at int) bool {
		return at >= 0 && at < len(text) && (unicode.IsLetter(text[at]) || unicode.IsDigit(text[at]) || text[at] == '_')
	}
	return !inWord(start-1) && !inWord(end)
}

// NotPrinted is embedded in types with a secret, so that no verb of fmt prints it.
type NotPrinted struct{}

// Format implements fmt.Formatter.
func (NotPrinted) Format(out fmt.State, _ rune) { fmt.Fprint(out, hidden) }
