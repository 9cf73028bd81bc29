package cost

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxComment limits a comment, in characters. GitHub accepts 65,536: the rest is for a link that a pipeline adds.
const maxComment = 65_000

// Markdown returns the report as a comment for a pull request. All names in it are code spans. Its last line is hidden
// and contains the report for ReadReview. The most expensive servers are listed if not all of them fit.
func (r Report) Markdown() (string, error) {
	hidden, err := r.hidden()
	if err != nil {
		return "", err
	}
	const tooLong = "**The list of changes is too long for a comment: `--reviewed` refuses this plan with this review. " +
		"Keep the output of `--format json` instead.**"
	for _, last := range []string{hidden, tooLong} {
		for _, rows := range []int{100, 10, 0} {
			if text := r.comment(rows) + last + "\n"; utf8.RuneCountInString(text) <= maxComment {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("the comment does not fit into %d characters: use --format json", maxComment)
}

// comment returns the visible part of the comment, with at most rows lines in each list.
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
	for _, remark := range r.remarks(rows) {
		fmt.Fprintf(&text, "- %s\n", remark)
	}
	text.WriteString("\n")
	return text.String()
}
