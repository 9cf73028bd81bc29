package rental

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSent is the length of the shortest text that is hidden, in characters. Shorter ones are no secrets.
	minSent = 4
	// minInWord is the length from which a text is hidden within a word, too: a shorter one is a part of many words.
	minInWord = 8
	// minSentPart is the length from which a part of a text is hidden. It is longer than most words of messages.
	minSentPart = 12
)

// hidden replaces a text that must not appear.
const hidden = "(hidden)"

// apiNames are the fields of a body whose values are made by the API. A message needs them, and they are not secret.
var apiNames = []string{"offer_id", "template", "ssh_key_ids", "type", "launch_mode", "scopes"}

// sentTexts are the texts of a request that may be sensitive: an API that refuses a value often repeats it.
type sentTexts struct {
	whole []string // in each spelling
	parts map[string]bool
}

// textsOf returns the texts in a body: all strings except the names of fields and variables, and the values of
// apiNames.
func textsOf(body any) sentTexts {
	var fields map[string]any
	if data, err := json.Marshal(body); err != nil || json.Unmarshal(data, &fields) != nil {
		return sentTexts{}
	}
	maps.DeleteFunc(fields, func(name string, _ any) bool { return slices.Contains(apiNames, name) })
	names, found := map[string]bool{}, map[string]bool{}
	collectTexts(fields, names, found)
	maps.DeleteFunc(found, func(text string, _ bool) bool {
		return utf8.RuneCountInString(text) < minSent || names[text]
	})
	sent := sentTexts{slices.Collect(maps.Keys(found)), map[string]bool{}}
	for _, text := range sent.whole {
		eachPart(text, func(start, end int) { sent.parts[text[start:end]] = true })
	}
	return sent
}

// collectTexts adds the names and the texts in a JSON value. The API can repeat a text with escape sequences, or only a
// line of it, and the message is sanitized.
func collectTexts(value any, names, found map[string]bool) {
	switch value := value.(type) {
	case string:
		spellings := []string{value, escaped(value)}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); utf8.RuneCountInString(line) >= minInWord {
				spellings = append(spellings, line)
			}
		}
		for _, text := range spellings {
			found[sanitize(text)] = true
		}
	case []any:
		for _, item := range value {
			collectTexts(item, names, found)
		}
	case map[string]any:
		for name, item := range value {
			names[name] = true
			collectTexts(item, names, found)
		}
	}
}

// escaped returns a text as it is in JSON, without the quotes.
func escaped(text string) string {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) //nolint:errcheck // a string can be encoded
	return strings.TrimSuffix(quoted.String()[1:], "\"\n")
}

// eachPart calls a function with the bounds of each part of a text that is long enough to be hidden.
func eachPart(text string, part func(start, end int)) {
	var starts []int // of the characters
	for at := range text {
		starts = append(starts, at)
	}
	starts = append(starts, len(text))
	for i := range max(0, len(starts)-minSentPart) {
		part(starts[i], starts[i+minSentPart])
	}
}

// hide replaces the texts in a sanitized message.
func (s sentTexts) hide(message string) string {
	secret := make([]bool, len(message)) // for each byte
	mark := func(start, end int) {
		for i := start; i < end; i++ {
			secret[i] = true
		}
	}
	for _, text := range s.whole {
		for at := 0; ; at++ {
			next := strings.Index(message[at:], text)
			if next < 0 {
				break
			}
			at += next
			if end := at + len(text); utf8.RuneCountInString(text) >= minInWord || isWord(message, at, end) {
				mark(at, end)
			}
		}
	}
	eachPart(message, func(start, end int) {
		if s.parts[message[start:end]] {
			mark(start, end)
		}
	})
	var text strings.Builder
	for i := range len(message) {
		switch {
		case !secret[i]:
			text.WriteByte(message[i])
		case i == 0 || !secret[i-1]:
			text.WriteString(hidden)
		}
	}
	return text.String()
}

// isWord reports whether a part of a text is not within a longer word.
func isWord(text string, start, end int) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !inWord(before) && !inWord(after)
}
