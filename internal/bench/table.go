package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// table writes the results for people.
func table(out io.Writer, r Results) {
	fmt.Fprintf(out, "\n%s, %s, %s, %s, %s\n\n", r.Date, r.CLI, r.Go, r.System, plural(r.CPUs, "processor"))
	columns(out, "row\truns\twall s\tmin\tmax\tCPU ms\tpeak MB\texit\trequests\tkeyed\tpublic\t429\tby endpoint", func(line func(string, ...any)) {
		for _, row := range r.Rows {
			q := row.Requests
			line("%s\t%d\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t%d\t%d\t%d\t%d\t%d\t%s", row.Cell, row.Runs, row.WallS, row.WallMinS, row.WallMaxS,
				row.CPUMS, row.PeakMB, row.Exit, q.All, q.Keyed, q.Public, q.Limited, q.String())
		}
	})
	controlTable(out, r)
	if p := r.Program; p != nil {
		fmt.Fprintf(out, "\nprogram: %.1f MB stripped, schema after %.0f ms with %.1f MB", p.SizeMB, p.Schema.MS, p.Schema.RSSMB)
		if p.Nothing != nil {
			fmt.Fprintf(out, "; a provider that does nothing: %.0f ms with %.1f MB", p.Nothing.MS, p.Nothing.RSSMB)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	columns(out, "goal\tmeasured\tmet?", func(line func(string, ...any)) {
		for _, g := range r.Goals {
			line("%s\t%s\t%s", g.Goal, g.Measured, g.Met)
		}
	})
}

// controlTable compares the product with itself.
func controlTable(out io.Writer, r Results) {
	for _, a := range r.rows(func(c Cell) bool { return c.Work == workControl && c.Variant == "A" }) {
		if b, ok := r.row(a.as("B")); ok {
			fmt.Fprintf(out, "\ncontrol, the same thing against itself at %d servers: A/B is %.3f in wall time, %.3f in processor time\n",
				a.Count, ratio(a.WallS, b.WallS), ratio(a.CPUMS, b.CPUMS))
		}
	}
}

// columns writes aligned lines of cells that tabs separate.
func columns(out io.Writer, head string, lines func(line func(format string, args ...any))) {
	const gap = 2
	writer := tabwriter.NewWriter(out, 0, 0, gap, ' ', 0)
	fmt.Fprintln(writer, head)
	lines(func(format string, args ...any) { fmt.Fprintf(writer, format+"\n", args...) })
	if err := writer.Flush(); err != nil {
		fmt.Fprintln(out, err)
	}
}

// String is the endpoints, most asked first.
func (t Tally) String() string {
	names := slices.SortedFunc(maps.Keys(t.Endpoints), func(a, b string) int {
		if byCount := t.Endpoints[b] - t.Endpoints[a]; byCount != 0 {
			return byCount
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", t.Endpoints[name], name)
	}
	return strings.Join(names, ", ")
}
