package cost_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// A plan never crashes the command, and never leads to impossible amounts.
func FuzzReport(f *testing.F) {
	for _, file := range recordedFiles(f) {
		plan := textOf(f, file)
		f.Add([]byte(plan))
		for _, price := range []string{"-1", "0.5", "1e300", "9223372036854775807", "1000000000000", `"x"`, "null"} {
			f.Add([]byte(strings.ReplaceAll(plan, "9000", price)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, err := cost.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		report := cost.NewReport(plan)
		checkAmounts(t, report)
		report.Check(new(int64(1)), new(int64(1)))
		report.Table()
		report.Markdown()
		if _, err := report.JSON(); err != nil {
			t.Fatal(err)
		}
	})
}

func checkAmounts(t *testing.T, report cost.Report) {
	t.Helper()
	var before, after int64
	for _, s := range report.Servers {
		for sum, amount := range map[*int64]*int64{&before: s.BeforeKopH, &after: s.KopH} {
			if amount == nil {
				continue
			}
			if *sum += *amount; *amount < 0 || *amount > 1e12 {
				t.Errorf("impossible amount %d of %+v", *amount, s)
			}
		}
		if (s.KopH == nil) != (s.Basis == cost.None) {
			t.Errorf("basis %q of %+v", s.Basis, s)
		}
	}
	totals := report.Totals
	if len(report.Problems) == 0 && (before != totals.BeforeKopH || after != totals.AfterKopH) {
		t.Errorf("sums %d and %d in %+v", before, after, totals)
	}
	if totals.BeforeKopH < 0 || totals.AfterKopH < 0 || totals.BeforeKopH > 1e12 || totals.AfterKopH > 1e12 {
		t.Errorf("impossible sums %+v", totals)
	}
}
