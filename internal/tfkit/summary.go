package tfkit

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// errorReference is the page with an entry for each diagnostic.
const errorReference = "https://github.com/gpurent/terraform-provider-gpurent/blob/main/docs/guides/errors.md"

// Summary is the summary of a diagnostic, with its entry in the error reference.
type Summary struct {
	text   Text
	anchor string
}

// Summaryf formats a summary like Textf. The format, with an ellipsis for each argument, is the heading of its entry.
func Summaryf(format string, arguments ...any) Summary {
	return Summary{Textf(format, arguments...), anchor(format)}
}

// of returns the summary with the entry that has another heading.
func (s Summary) of(heading string) Summary { return Summary{s.text, anchor(heading)} }

var verb = regexp.MustCompile(`%[a-z]`)

// anchor returns the anchor that GitHub gives to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, verb.ReplaceAllString(heading, ""))
}

// detail ends with a link to the entry.
func (s Summary) detail(text Text) string {
	return string(text + "\n\nHelp: " + errorReference + "#" + Text(s.anchor))
}

// AddError adds an error.
func AddError(diags *diag.Diagnostics, summary Summary, detail Text) {
	diags.AddError(string(summary.text), summary.detail(detail))
}

// AddWarning adds a warning.
func AddWarning(diags *diag.Diagnostics, summary Summary, detail Text) {
	diags.AddWarning(string(summary.text), summary.detail(detail))
}

// AddAttributeError adds an error about an attribute.
func AddAttributeError(diags *diag.Diagnostics, at path.Path, summary Summary, detail Text) {
	diags.AddAttributeError(at, string(summary.text), summary.detail(detail))
}

// AddAttributeWarning adds a warning about an attribute.
func AddAttributeWarning(diags *diag.Diagnostics, at path.Path, summary Summary, detail Text) {
	diags.AddAttributeWarning(at, string(summary.text), summary.detail(detail))
}
