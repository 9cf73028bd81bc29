package rental

import (
	"mime"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mask is a set of secrets.
type mask []string

// text replaces every secret. A very short text is no secret, and replacing it would only garble messages.
func (m mask) text(s string) string {
	for _, secret := range m {
		if len(secret) >= 8 {
			s = strings.ReplaceAll(s, secret, "(secret)")
		}
	}
	return s
}

// terminalEscape matches ANSI control sequences and operating-system commands, which could rewrite the user's screen.
var terminalEscape = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x{9d})[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?|\x1b.`)

// printable masks a foreign text and makes it safe to show. It masks twice: what is taken out of the text may have kept a secret apart,
// or have taken the beginning of one with it. Only then is the text cut, for half a secret would be recognised no more.
func (m mask) printable(s string, limit int) string { return shorten(m.text(plain(m.text(s))), limit) }

// Printable makes a foreign text safe to show on one line: no control or direction characters, at most limit runes.
func Printable(s string, limit int) string { return shorten(plain(s), limit) }

func plain(s string) string {
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

// isHeaderText reports whether a configured text can be sent as a header's value.
func isHeaderText(s string) bool {
	for _, char := range []byte(s) {
		if char < ' ' || char > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
