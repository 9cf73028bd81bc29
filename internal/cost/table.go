package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxName limits the length of a name in the table, in bytes.
const maxName = 200

// row is a line of the table and of the comment: server, change, and the prices before and after.
type row [4]string

// rows returns the servers and the sums. If more than n servers change, it contains the n most expensive ones. name
// makes the name of a server inert.
func (r Report) rows(n int, name func(string) string) (servers, sums []row) {
	changed := r.changedServers()
	shown := changed
	if len(changed) > n {
		shown = slices.Clone(changed)
		slices.SortStableFunc(shown, func(a, b Server) int { return cmp.Compare(b.sortPrice(), a.sortPrice()) })
		shown = shown[:n]
	}
	for _, s := range shown {
		servers = append(servers, row{name(s.label()), s.actionText(), s.beforeText(), priceText(s.Price)})
	}
	if more := len(changed) - n; more > 0 {
		servers = append(servers, row{fmt.Sprintf("%d more changed", more)})
	}
	if unchanged := len(r.Servers) - len(changed); unchanged > 0 {
		before, after := r.unchanged()
		servers = append(servers, row{fmt.Sprintf("%d unchanged", unchanged), "", formatRubles(before), formatRubles(after)})
	}
	t := r.Totals
	after := func(kop int64) string {
		return priceText(Price{KopH: &kop, Basis: t.Basis, DiskExcluded: t.DiskExcluded})
	}
	return servers, []row{
		{"per hour", "", formatRubles(t.BeforeKopH), after(t.AfterKopH)},
		{"per month (730 h)", "", formatRubles(t.BeforeKopMonth), after(t.AfterKopMonth)},
	}
}

// unchanged is the sum of the unchanged servers.
func (r Report) unchanged() (before, after int64) {
	for _, s := range r.Servers {
		if s.Action == Unchanged && s.BeforeKopH != nil && s.KopH != nil {
			before, after = before+*s.BeforeKopH, after+*s.KopH
		}
	}
	return before, after
}

// Table returns the report for people. The sums come last.
func (r Report) Table() string {
	servers, sums := r.rows(math.MaxInt, func(name string) string { return rental.Printable(name, maxName) })
	header := row{"SERVER", "CHANGE", "PER HOUR NOW", "PER HOUR AFTERWARDS"}
	rows := slices.Concat([]row{header}, servers, sums)
	var aligned, text strings.Builder
	table := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\t%*s\t%*s\n", row[0], row[1], width(rows, 2), row[2], width(rows, 3), row[3])
	}
	_ = table.Flush() // a strings.Builder has no errors
	lines := slices.Collect(strings.Lines(aligned.String()))
	if len(servers) > 0 {
		text.WriteString(strings.Join(lines[:1+len(servers)], "") + "\n")
	}
	remarks := r.remarks(math.MaxInt)
	for _, remark := range remarks {
		text.WriteString(strings.ReplaceAll(remark, "**", "") + "\n")
	}
	if len(remarks) > 0 {
		text.WriteString("\n")
	}
	return text.String() + strings.Join(lines[1+len(servers):], "")
}

// width returns the number of characters of the longest cell of a column.
func width(rows []row, column int) (longest int) {
	for _, row := range rows {
		longest = max(longest, utf8.RuneCountInString(row[column]))
	}
	return longest
}
