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

// markdown is the guide's table of refreshes: what the user waits for and how
// much of the limit it takes, beside the references.
func markdown(r Results) string {
	var out strings.Builder
	out.WriteString("| servers | requests | wall time | of it the CLI's own | one request each | one request each, 120 a minute |\n|---:|---:|---:|---:|---:|---:|\n")
	for _, n := range []int{1, 10, 40, manyServers, tooMany} {
		shared, ok := r.row(plotted(n, limitNone, readShared))
		if !ok {
			continue
		}
		fmt.Fprintf(&out, "| %d | %d | %s", n, shared.Requests.All, seconds(shared.WallS))
		for _, c := range []Cell{plotted(n, limitNone, readNothing), plotted(n, limitNone, readEach), plotted(n, limitWindow, readEach)} {
			if row, ok := r.row(c); ok {
				fmt.Fprintf(&out, " | %s", seconds(row.WallS))
			} else {
				out.WriteString(" | –")
			}
		}
		out.WriteString(" |\n")
	}
	fmt.Fprintf(&out, "\nMeasured with %s on %s: medians of `plan -refresh-only -parallelism=10` against the simulator on the same machine.\n", cliName(r.CLI), plural(r.CPUs, "processor"))
	return out.String()
}

// plotted are the cells that the guide shows.
func plotted(n int, limiter, reads string) Cell {
	return Cell{workRefresh, n, 10, limiter, 0, reads}
}

// cliName writes the program's name as people do.
func cliName(cli string) string {
	name, version, _ := strings.Cut(cli, " ")
	if name == "tofu" {
		return "OpenTofu " + version
	}
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):] + " " + version
}

// seconds writes a time with as many digits as mean something.
func seconds(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}
