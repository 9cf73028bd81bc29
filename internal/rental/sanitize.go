package rental

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// terminalEscape matches ANSI control sequences and operating-system commands, which could rewrite the user's screen.
var terminalEscape = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` + // CSI
	`(?:\x1b\]|\x{9d})[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?|\x1b.`) // OSC, others

// Printable sanitizes a text of the API for one line of output. It removes control and direction characters and cuts
// the text after limit runes.
func Printable(s string, limit int) string { return shorten(sanitize(s), limit) }

func sanitize(s string) string {
	s = terminalEscape.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit]) + "…"
	}
	return s
}

// isHeaderValue reports whether a text can be the value of a header.
func isHeaderValue(s string) bool {
	for _, char := range []byte(s) {
		if char < ' ' || char > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
