package cost

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
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
	changed := r.changedServers()
	title := "No server changes"
	if len(changed) > 0 {
		title = "Server changes"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "<!-- gpurent costs -->\n### %s\n\n", title)
	text.WriteString("| server | change | price before | price after |\n|---|---|---:|---:|\n")
	for _, s := range mostExpensive(changed, rows) {
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", code(s.label()), s.actionText(), s.beforeText(), s.after())
	}
	if more := len(changed) - rows; more > 0 {
		fmt.Fprintf(&text, "| %s | | | |\n", counted(more, "more change", "more changes"))
	}
	if n := len(r.Servers) - len(changed); n > 0 {
		before, after := r.unchanged()
		fmt.Fprintf(&text, "| %d unchanged | | %s | %s |\n", n, Rubles(before), Rubles(after))
	}
	t := r.Totals
	fmt.Fprintf(&text, "| **per hour** | | **%s** | **%s** |\n", Rubles(t.BeforeKopH), t.after(1))
	fmt.Fprintf(&text, "| **per month (730 hours)** | | **%s** | **%s** |\n\n", Rubles(t.BeforeKopMonth),
		t.after(rubles.HoursPerMonth))
	for _, remark := range r.remarks(rows) {
		fmt.Fprintf(&text, "- %s\n", remark)
	}
	text.WriteString("\n")
	return text.String()
}

// mostExpensive returns all servers in the order of the plan, or the n most expensive ones.
func mostExpensive(servers []Server, n int) []Server {
	if len(servers) <= n {
		return servers
	}
	sorted := slices.Clone(servers)
	slices.SortStableFunc(sorted, byPrice)
	return sorted[:n]
}

// after is the sum after the apply for a number of hours.
func (t Totals) after(hours int64) string {
	kop := t.AfterKopH * hours
	return price{kopH: &kop, basis: t.Basis, diskExcluded: t.DiskExcluded}.String()
}

// unchanged is the sum of the unchanged servers.
func (r Report) unchanged() (before, after int64) {
	for _, s := range r.Servers {
		if s.Action == Unchanged && s.BeforeKopH != nil && s.AfterKopH != nil {
			before, after = before+*s.BeforeKopH, after+*s.AfterKopH
		}
	}
	return before, after
}
