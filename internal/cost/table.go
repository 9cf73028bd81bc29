package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Colors of a terminal.
const (
	red, green, bold, reset = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
)

// maxName limits the length of a name in the table, in bytes.
const maxName = 200

// row is a line of the table and of the comment.
type row struct {
	cells [4]string
	color string // of a terminal; bold for a sum
}

// rows returns the servers and the sums. If more than n servers change, it contains the n most expensive ones. name
// makes the name of a server inert.
func (r Report) rows(n int, name func(string) string) (servers, sums []row) {
	changed := r.changedServers()
	shown := changed
	if len(changed) > n {
		shown = slices.SortedStableFunc(slices.Values(changed), byPrice)[:n]
	}
	for _, s := range shown {
		cells := [4]string{name(s.label()), s.actionText(), s.beforeText(), priceText(s.Price)}
		servers = append(servers, row{cells, s.color()})
	}
	if more := len(changed) - n; more > 0 {
		servers = append(servers, row{cells: [4]string{counted(more, "more change", "more changes")}})
	}
	if unchanged := len(r.Servers) - len(changed); unchanged > 0 {
		before, after := r.unchanged()
		label := fmt.Sprintf("%d unchanged", unchanged)
		servers = append(servers, row{cells: [4]string{label, "", Rubles(before), Rubles(after)}})
	}
	t := r.Totals
	after := func(kop int64) string {
		return priceText(Price{KopH: &kop, Basis: t.Basis, DiskExcluded: t.DiskExcluded})
	}
	return servers, []row{
		{[4]string{"per hour", "", Rubles(t.BeforeKopH), after(t.AfterKopH)}, bold},
		{[4]string{"per month (730 h)", "", Rubles(t.BeforeKopMonth), after(t.AfterKopMonth)}, bold},
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

// Table returns the report for people, with colors for a terminal. The sums come last.
func (r Report) Table(colors bool) string {
	servers, sums := r.rows(math.MaxInt, func(name string) string { return rental.Printable(name, maxName) })
	header := row{[4]string{"SERVER", "CHANGE", "PER HOUR NOW", "PER HOUR AFTERWARDS"}, bold}
	lines := aligned(slices.Concat([]row{header}, servers, sums), colors)
	var text strings.Builder
	if len(servers) > 0 {
		text.WriteString(strings.Join(lines[:1+len(servers)], "\n") + "\n\n")
	}
	remarks := r.remarks(math.MaxInt)
	for _, remark := range remarks {
		text.WriteString(strings.ReplaceAll(remark, "**", "") + "\n")
	}
	if len(remarks) > 0 {
		text.WriteString("\n")
	}
	return text.String() + strings.Join(lines[1+len(servers):], "\n") + "\n"
}

// color is red for a server that can cost more than before, and green for one that costs less.
func (s Server) color() string {
	switch {
	case s.BeforeKopH == nil || s.KopH == nil || *s.KopH > *s.BeforeKopH:
		return red
	case *s.KopH < *s.BeforeKopH:
		return green
	}
	return ""
}

// aligned returns the rows as lines with aligned columns; the prices are aligned to the right.
func aligned(rows []row, colors bool) []string {
	var widths [4]int
	for _, r := range rows {
		for i, cell := range r.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, r := range rows {
		var line strings.Builder
		for i, cell := range r.cells {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i >= 2 {
				cell = padding + cell
			} else {
				cell += padding
			}
			line.WriteString(cell + "  ")
		}
		lines[n] = strings.TrimRight(line.String(), " ")
		if colors && r.color != "" {
			lines[n] = r.color + lines[n] + reset
		}
	}
	return lines
}
