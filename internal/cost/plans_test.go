package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// The files in testdata/plans are the output of "show -json" of both CLIs for plans against the simulator, without the
// parts that the command does not read. TestAccCost_plans checks that the present CLIs have the same format.

// recorded is what a recorded plan costs, computed by hand from the prices and caps in it.
type recorded struct {
	before, after int64    // sums, kopecks per hour
	servers       []string // address, action, price now, price after the apply
	also          []string // parts of the table
}

// The sums are computed by hand: 4627, 4813, 4824 and 4851 are the prices of the four cheapest offers, with a disk of
// 60 GB, 121, 90, 72 and 54 the prices of their disks, and 9000 is the cap. The plan of a fleet has no prices of disks.
// In mixed and unknown-arguments, each CLI created the servers in another order.
var plans = map[string]recorded{
	"create":             {0, 9000, []string{"gpurent_instance.a create 0 <=9000+disk"}, nil},
	"create-base-disk":   {0, 9000, []string{"gpurent_instance.a create 0 <=9000"}, nil},
	"create-without-cap": {0, 0, []string{"gpurent_instance.a create 0 no-cap"}, []string{"The sums do not include"}},
	"create-stopped": {
		0, 9000, []string{"gpurent_instance.a create 0 <=9000+disk"}, []string{"It is stopped after the creation"},
	},
	"for-each": {0, 2 * 9000, []string{
		"gpurent_instance.a[\"`|<b>@me\"] create 0 <=9000+disk", `gpurent_instance.a["x"] create 0 <=9000+disk`,
	}, nil},
	"gone": {0, 9000, []string{"gpurent_instance.a create 0 <=9000+disk"}, nil},
	"sensitive": {
		0, 0, []string{"gpurent_instance.a create 0 no-cap"},
		[]string{"max_price_kop_h is not known before the apply, or sensitive"},
	},
	"replace": {4627, 9000, []string{"gpurent_instance.a replace 4627 <=9000+disk"}, nil},
	"replace-forget": {
		4627, 4627 + 9000, []string{"gpurent_instance.a replace_and_forget 4627 <=13627+disk"},
		[]string{"billing continues", "Billing of the old server"},
	},
	"failed":  {0, 9000, []string{"gpurent_instance.a replace 0 <=9000+disk"}, nil},
	"destroy": {4627, 0, []string{"gpurent_instance.a destroy 4627 0"}, nil},
	"forget":  {4627, 4627, []string{"gpurent_instance.a forget 4627 4627"}, []string{"billing continues"}},
	"deposed": {
		4843 + 4627, 4843,
		[]string{"gpurent_instance.a none 4843 4843", "gpurent_instance.a destroy 4627 0"}, []string{"(deposed "},
	},
	"moved": {4627, 4627, []string{"gpurent_instance.b update 4627 4627"}, nil},
	"no-op": {4627, 4627, []string{"gpurent_instance.a none 4627 4627"}, []string{"1 unchanged"}},
	"stop":  {4627, 121, []string{"gpurent_instance.a stop 4627 121"}, nil},
	"start": {121, 4627, []string{"gpurent_instance.a start 121 4627"}, nil},
	"outbid-restart": {
		62, 9000, []string{"gpurent_instance.a start 62 <=9000+disk"}, nil,
	},
	"outbid-keep": {62, 62, []string{"gpurent_instance.a none 62 62"}, nil},
	"drift": {
		90 + 121, 4813, []string{"gpurent_instance.a start 90 4813", "gpurent_instance.b destroy 121 0"}, nil,
	},
	"refresh-only": {121, 121, []string{"gpurent_instance.a none 121 121"}, nil},
	"targeted": {4627, 4627 + 9000, []string{
		"gpurent_instance.b create 0 <=9000+disk", "gpurent_instance.a none 4627 4627",
	}, nil},

	"fleet-create": {0, 3 * 9000, []string{"gpurent_fleet.train create 0 <=27000+disk"}, nil},
	"fleet-up": {
		4627 + 4813 + 4824, 4627 + 4813 + 4824 + 2*9000, []string{"gpurent_fleet.train update 14264 <=32264+disk"},
		[]string{"members: create 2"},
	},
	"fleet-down": {
		4627 + 4813 + 4824, 4627, []string{"gpurent_fleet.train update 14264 4627"}, []string{"members: destroy 2"},
	},
	"fleet-repair": {
		4627 + 4824, 4627 + 4824 + 9000, []string{"gpurent_fleet.train update 9451 <=18451+disk"},
		[]string{"members: replace 1"},
	},
	"fleet-start": {
		0, 4627 + 4813, []string{"gpurent_fleet.train update 0 9440"},
		[]string{"members: start 2", "its stopped members"},
	},
	"fleet-stop": {4627 + 4813, 0, []string{"gpurent_fleet.train update 9440 0+disk"}, []string{"members: stop 2"}},
	"fleet-outbid": {
		2816, 2816 + 9000, []string{"gpurent_fleet.train update 2816 <=11816+disk"},
		[]string{"members: start 1"},
	},
	"fleet-rolling": {
		9440, 2 * 9000, []string{"gpurent_fleet.train update 9440 <=18000+disk"},
		[]string{"members: replace 2"},
	},

	"unknown-arguments.terraform": {4627 + 4813, 4813, []string{
		"gpurent_fleet.train update 4627 unknown", "gpurent_instance.b update 4813 4813",
	}, []string{"size is not known before the apply", "desired_state is not known before the apply"}},
	"unknown-arguments.opentofu": {4813 + 4627, 4627, []string{
		"gpurent_fleet.train update 4813 unknown", "gpurent_instance.b update 4627 4627",
	}, []string{"size is not known before the apply", "desired_state is not known before the apply"}},
	"mixed.terraform": {4813 + 4824 + 4851 + 4627, 4813 + 4824 + 9000 + 121 + 9000, []string{
		"gpurent_fleet.train update 9637 <=18637+disk", "gpurent_instance.a destroy 4851 0",
		"gpurent_instance.b stop 4627 121", "gpurent_instance.c create 0 <=9000+disk",
	}, []string{"members: create 1"}},
	"mixed.opentofu": {4627 + 4813 + 4824 + 4851, 4627 + 4813 + 9000 + 54 + 9000, []string{
		"gpurent_fleet.train update 9440 <=18440+disk", "gpurent_instance.a destroy 4824 0",
		"gpurent_instance.b stop 4851 54", "gpurent_instance.c create 0 <=9000+disk",
	}, []string{"members: create 1"}},
}

func TestNewReport_RecordedPlans(t *testing.T) {
	files := recordedFiles(t)
	used := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			want, found := plans[name]
			if !found {
				name, _, _ = strings.Cut(name, ".")
				want, found = plans[name]
			}
			if !found {
				t.Fatal("no sums are computed for this plan")
			}
			used[name] = true
			report := cost.NewReport(parse(t, textOf(t, file)))
			if len(report.Problems) > 0 {
				t.Errorf("problems: %v", report.Problems)
			}
			if report.Totals.BeforeKopH != want.before || report.Totals.AfterKopH != want.after {
				t.Errorf("%d now and %d afterwards, want %d and %d", report.Totals.BeforeKopH, report.Totals.AfterKopH,
					want.before, want.after)
			}
			var lines []string
			for _, s := range report.Servers {
				lines = append(lines, lineOf(s))
			}
			if got, want := strings.Join(lines, "\n"), strings.Join(want.servers, "\n"); got != want {
				t.Errorf("servers:\n%s\nwant:\n%s", got, want)
			}
			table := report.Table()
			for _, part := range want.also {
				if !strings.Contains(table, part) {
					t.Errorf("the table has no %q:\n%s", part, table)
				}
			}
		})
	}
	if len(files) < 58 || len(used) != len(plans) {
		t.Errorf("%d plans, of %d scenarios, and sums for %d", len(files), len(used), len(plans))
	}
}

// lineOf returns the address, the action and the prices of a server.
func lineOf(s cost.Server) string {
	return fmt.Sprintf("%s %s %s %s", s.Address, s.Action, amountOf(s.BeforeKopH), afterOf(s))
}

func afterOf(s cost.Server) string {
	if s.KopH == nil && s.Uncapped {
		return "no-cap"
	}
	text := map[cost.Basis]string{cost.Cap: "<=", cost.Offer: "now "}[s.Basis] + amountOf(s.KopH)
	if s.KopH != nil && s.DiskExcluded {
		text += "+disk"
	}
	if s.Basis == cost.Offer && s.Uncapped {
		text += " uncapped"
	}
	return text
}

func amountOf(kopH *int64) string {
	if kopH == nil {
		return "unknown"
	}
	return fmt.Sprint(*kopH)
}

func recordedFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "plans", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func textOf(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
