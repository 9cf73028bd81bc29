package cost

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// Colors of a terminal.
const (
	red, green, bold, reset = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
)

// maxName limits the length of a name in the table, in bytes.
const maxName = 200

// row is a line of the table.
type row struct {
	cells [4]string
	color string
}

// Table returns the report for people, with colors for a terminal. The sums come last.
func (r Report) Table(colors bool) string {
	rows := []row{{cells: [4]string{"SERVER", "CHANGE", "PER HOUR NOW", "PER HOUR AFTERWARDS"}, color: bold}}
	changed := r.changedServers()
	for _, s := range changed {
		rows = append(rows, row{
			[4]string{rental.Printable(s.label(), maxName), s.actionText(), s.beforeText(), s.after().String()}, s.color(),
		})
	}
	if n := len(r.Servers) - len(changed); n > 0 {
		before, after := r.unchanged()
		rows = append(rows, row{cells: [4]string{fmt.Sprintf("%d unchanged", n), "", Rubles(before), Rubles(after)}})
	}
	servers := len(rows)
	t := r.Totals
	rows = append(rows,
		row{cells: [4]string{"per hour", "", Rubles(t.BeforeKopH), t.after(1)}, color: bold},
		row{cells: [4]string{"per month (730 h)", "", Rubles(t.BeforeKopMonth), t.after(rubles.HoursPerMonth)}, color: bold})
	lines := aligned(rows, colors)
	var text strings.Builder
	if servers > 1 {
		text.WriteString(strings.Join(lines[:servers], "\n") + "\n\n")
	}
	remarks := r.remarks(math.MaxInt)
	for _, remark := range remarks {
		text.WriteString(strings.ReplaceAll(remark, "**", "") + "\n")
	}
	if len(remarks) > 0 {
		text.WriteString("\n")
	}
	return text.String() + strings.Join(lines[servers:], "\n") + "\n"
}

// color is red for a server that can cost more than before, and green for one that costs less.
func (s Server) color() string {
	switch {
	case s.BeforeKopH == nil || s.AfterKopH == nil || *s.AfterKopH > *s.BeforeKopH:
		return red
	case *s.AfterKopH < *s.BeforeKopH:
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
