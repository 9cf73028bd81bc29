package cost_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// hostile are values that replace others in a plan.
var hostile = []any{
	nil, true, false, "", "x", "running", "stopped", "interruptible", json.Number("-1"), json.Number("1e300"),
	json.Number("0.5"),
	json.Number("9223372036854775807"), json.Number("1000000000000"), json.Number("9000"), []any{}, []any{"create"},
	[]any{"delete", "create"}, map[string]any{}, map[string]any{"0": map[string]any{}}, []any{nil, true},
}

// mutate replaces, removes and swaps random parts of a value.
func mutate(random *rand.Rand, value any, rate int) any {
	if random.IntN(rate) == 0 {
		return hostile[random.IntN(len(hostile))]
	}
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = mutate(random, value[i], rate)
		}
		if len(value) > 0 && random.IntN(rate) == 0 {
			return append(value, value[random.IntN(len(value))])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			value[name] = mutate(random, value[name], rate)
			if random.IntN(rate) == 0 {
				delete(value, name)
			}
		}
	}
	return value
}

// A mutated plan never crashes the command, and never leads to impossible amounts.
func FuzzReport(f *testing.F) {
	files := recordedFiles(f)
	plans := make([][]byte, len(files))
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		plans[i] = data
		f.Add(uint(i), uint64(i), uint8(20))
		f.Add(uint(i), uint64(i), uint8(200))
	}
	f.Fuzz(func(t *testing.T, file uint, seed uint64, rate uint8) {
		decoder := json.NewDecoder(bytes.NewReader(plans[file%uint(len(plans))]))
		decoder.UseNumber()
		var whole any
		if err := decoder.Decode(&whole); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(mutate(rand.New(rand.NewPCG(seed, 1)), whole, 2+int(rate)))
		if err != nil {
			t.Fatal(err)
		}
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
