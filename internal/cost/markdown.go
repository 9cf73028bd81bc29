package cost

import (
	"fmt"
	"strings"
)

// maxRows is the number of rows of each list in a comment, which always fits: GitHub accepts 65,536 characters.
const maxRows = 20

// Markdown returns the report as a comment for a pull request. All names in it are code spans. The most expensive
// servers are listed if not all of them fit.
func (r Report) Markdown() string {
	title := "No server changes"
	if len(r.changedServers()) > 0 {
		title = "Server changes"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "<!-- gpurent costs -->\n### %s\n\n", title)
	text.WriteString("| server | change | price before | price after |\n|---|---|---:|---:|\n")
	servers, sums := r.rows(maxRows, code)
	for _, s := range servers {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(s[:], " | "))
	}
	for _, sum := range sums {
		fmt.Fprintf(&text, "| **%s** | | **%s** | **%s** |\n", sum[0], sum[2], sum[3])
	}
	text.WriteString("\n")
	remarks := r.remarks(maxRows)
	for _, remark := range remarks {
		fmt.Fprintf(&text, "- %s\n", remark)
	}
	if len(remarks) > 0 {
		text.WriteString("\n")
	}
	return text.String()
}
