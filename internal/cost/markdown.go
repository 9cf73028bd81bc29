package cost

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxComment limits a comment, in characters. GitHub accepts 65,536: the rest is for a link that a pipeline adds.
const maxComment = 65_000

// Markdown returns the report as a comment for a pull request. All names in it are code spans. The most expensive
// servers are listed if not all of them fit.
func (r Report) Markdown() string {
	text := r.comment(100)
	for _, rows := range []int{10, 0} {
		if utf8.RuneCountInString(text) > maxComment {
			text = r.comment(rows)
		}
	}
	return text
}

// comment returns the comment with at most rows lines in each list.
func (r Report) comment(rows int) string {
	title := "No server changes"
	if len(r.changedServers()) > 0 {
		title = "Server changes"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "<!-- gpurent costs -->\n### %s\n\n", title)
	text.WriteString("| server | change | price before | price after |\n|---|---|---:|---:|\n")
	servers, sums := r.rows(rows, code)
	for _, s := range servers {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(s[:], " | "))
	}
	for _, sum := range sums {
		fmt.Fprintf(&text, "| **%s** | | **%s** | **%s** |\n", sum[0], sum[2], sum[3])
	}
	text.WriteString("\n")
	remarks := r.remarks(rows)
	for _, remark := range remarks {
		fmt.Fprintf(&text, "- %s\n", remark)
	}
	if len(remarks) > 0 {
		text.WriteString("\n")
	}
	return text.String()
}
