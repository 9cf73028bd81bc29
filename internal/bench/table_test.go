package main

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTableIsAligned(t *testing.T) {
	var out strings.Builder
	columns(&out, "row\tn\tend", func(line func(string, ...any)) {
		line("%s\t%d\t%s", "short", 1, "x")
		line("%s\t%d\t%s", "much longer", 1000, "x")
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || strings.Index(lines[1], "x") != strings.LastIndex(lines[2], "x") || strings.Index(lines[0], "end") != strings.Index(lines[1], "x") {
		t.Errorf("columns are not below one another:\n%s", out.String())
	}
}

func TestTableTellsEverything(t *testing.T) {
	r := measured()
	r.Rows = append(r.Rows,
		Row{Cell: Cell{workControl, 200, 10, limitNone, 0, "A"}, WallS: 2, CPUMS: 3},
		Row{Cell: Cell{workControl, 200, 10, limitNone, 0, "B"}, WallS: 1, CPUMS: 2})
	r.Goals = judge(r)
	var out strings.Builder
	table(&out, r)
	for _, row := range r.Rows {
		if !strings.Contains(out.String(), row.String()) {
			t.Errorf("%s is missing", row.Cell)
		}
	}
	for _, g := range r.Goals {
		if !strings.Contains(out.String(), g.Goal) {
			t.Errorf("%s is missing", g.Goal)
		}
	}
	if want := "A/B is 2.000 in wall time, 1.500 in processor time"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

func TestMarkdown(t *testing.T) {
	text := markdown(measured())
	for _, want := range []string{"| 200 | 2 | 1.2 s | 1.0 s | 120 s | 120 s |", "Terraform 1.2.3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	cells := -1
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			cells = -1 // the next table
			continue
		}
		if n := strings.Count(line, "|"); cells >= 0 && n != cells {
			t.Errorf("%d columns, want %d: %s", n-1, cells-1, line)
		} else {
			cells = n
		}
	}
}

func TestMarkdownWithoutAReference(t *testing.T) {
	r := measured()
	r.Rows = r.rows(func(c Cell) bool { return c.Variant != readEach })
	if text := markdown(r); !strings.Contains(text, "| 200 | 2 | 1.2 s | 1.0 s | – | – |") {
		t.Error(text)
	}
}

func TestResultsSurviveTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "results.json")
	want := measured()
	want.Goals = judge(want)
	if err := writeResults(file, want); err != nil {
		t.Fatal(err)
	}
	got, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(want, got, cmp.AllowUnexported(Tally{}), cmpopts.EquateEmpty()); difference != "" {
		t.Error(difference)
	}
	if _, err := readResults(file + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	drawing, err := plot(measured())
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for decoder := xml.NewDecoder(strings.NewReader(drawing)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, drawing)
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 4 {
		t.Errorf("%d lines, want 4", lines)
	}
	for _, want := range []string{"seconds", "servers", "prefers-color-scheme: dark"} {
		if !strings.Contains(drawing, want) {
			t.Errorf("no %q in the plot", want)
		}
	}
	if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
		t.Error("a point lies nowhere")
	}
}

func TestPlotStaysInItsField(t *testing.T) {
	for _, s := range []float64{0, 0.01, 1, 5000} {
		if y := yOf(s); y < top || y > bottom {
			t.Errorf("%v s lies at %v", s, y)
		}
	}
	if xOf(minServers) != left || xOf(maxPlotted) != right {
		t.Errorf("the axis is from %v to %v", xOf(minServers), xOf(maxPlotted))
	}
}

func TestNamesOfLinesStayApart(t *testing.T) {
	lines := []line{{LabelY: bottom - 1}, {LabelY: bottom - 1}, {LabelY: bottom - 1}}
	spread(lines)
	for i := range lines {
		if i > 0 && lines[i].LabelY-lines[i-1].LabelY < labelGap {
			t.Errorf("names at %v and %v", lines[i-1].LabelY, lines[i].LabelY)
		}
		if lines[i].LabelY > bottom {
			t.Errorf("a name at %v is outside", lines[i].LabelY)
		}
	}
}

// What the documentation shows is what was measured.
func TestDocumentationShowsTheResults(t *testing.T) {
	root := filepath.Join("..", "..")
	results, err := readResults(filepath.Join(root, committedResults))
	if err != nil {
		t.Fatal(err)
	}
	drawing, err := plot(results)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, committedPlot))
	if err != nil || string(got) != drawing {
		t.Errorf("%s is not drawn from %s (%v)", committedPlot, committedResults, err)
	}
	guide, err := os.ReadFile(filepath.Join(root, committedGuide))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := putSection(string(guide), markdown(results)); err != nil || want != string(guide) {
		t.Errorf("the tables in %s are not those of %s (%v)", committedGuide, committedResults, err)
	}
}

func TestPutSection(t *testing.T) {
	const guide = "a\n" + sectionBegin + "old\n" + sectionEnd + "\nb\n"
	got, err := putSection(guide, "new\n")
	if want := "a\n" + sectionBegin + "new\n" + sectionEnd + "\nb\n"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := putSection("a guide without a place", "new"); err == nil {
		t.Error("nothing was said")
	}
}
