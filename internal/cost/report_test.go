package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

const (
	instance = "gpurent_instance"
	runs     = `"id": "ins_1", "status": "running", "desired_state": "running", "type": "on_demand", "disk_gb": 60,
		"price": {"running_kop_h": 4800, "stopped_kop_h": 100}`
	limited = `"type": "on_demand", "desired_state": "running", "disk_gb": 60, "max_price_kop_h": 9000`
)

// changeOf returns an element of resource_changes with an address NAME of a type.
func changeOf(kind, name, change string) string {
	return fmt.Sprintf(`{"address": %q, "mode": "managed", "type": %q, "change": {%s}}`, kind+"."+name, kind, change)
}

func creation(kind, after string) string {
	return changeOf(kind, "x", `"actions": ["create"], "before": null, "after": {`+after+`}, "after_unknown": {}`)
}

func update(kind, before, after string) string {
	return changeOf(kind, "x", `"actions": ["update"], "before": {`+before+`}, "after": {`+after+`}, "after_unknown": {}`)
}

// planOf returns a plan with these resource changes.
func planOf(t testing.TB, changes ...string) cost.Plan {
	t.Helper()
	return parse(t, `{"format_version": "1.2", "resource_changes": [`+strings.Join(changes, ",")+`]}`)
}

func parse(t testing.TB, text string) cost.Plan {
	t.Helper()
	plan, err := cost.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return plan
}

func reportOf(t testing.TB, changes ...string) cost.Report {
	t.Helper()
	return cost.NewReport(planOf(t, changes...))
}

// Whatever the command does not understand is a problem, has no price, and exceeds every limit.
func TestNewReport_Problems(t *testing.T) {
	create := creation(instance, limited)
	changed := func(old, changed string) string { return strings.Replace(create, old, changed, 1) }
	const unexpected = "gpurent_instance.x: The plan has an unexpected value of "
	for name, test := range map[string]struct {
		change string // of a resource
		plan   string // further parts of the plan
		want   string
	}{
		"unknown actions": {changed(`"create"`, `"clone"`), "",
			"gpurent_instance.x: The plan has the unknown actions `clone`."},
		"no actions": {changed(`"create"`, ``), "",
			"gpurent_instance.x: The plan has the unknown actions `\"\"`."},
		"a cap that is a text":   {changed("9000", `"9000"`), "", unexpected + "`max_price_kop_h`."},
		"a huge cap":             {changed("9000", `1e300`), "", unexpected + "`max_price_kop_h`."},
		"a cap above all prices": {changed("9000", `1000000000001`), "", unexpected + "`max_price_kop_h`."},
		"a negative price": {update(instance, strings.Replace(runs, "4800", "-4800", 1), limited), "",
			unexpected + "`price.running_kop_h`."},
		"a number as type": {changed(`"on_demand"`, `7`), "", unexpected + "`type`."},
		"a large fleet": {creation("gpurent_fleet", `"size": 5001, `+limited), "",
			"gpurent_fleet.x: The plan has an unexpected value of `size`."},
		"another version":  {"", `, "format_version": "2.0"`, ": The plan has the format version `2.0`. "},
		"an error":         {"", `, "errored": true`, ": The plan does not contain all changes"},
		"deferred changes": {"", `, "deferred_changes": [{}, {}]`, ": The plan does not contain all changes"},
	} {
		t.Run(name, func(t *testing.T) {
			report := cost.NewReport(parse(t, `{"format_version": "1.2", "resource_changes": [`+test.change+`]`+test.plan+`}`))
			var problems []string
			for _, problem := range report.Problems {
				problems = append(problems, problem.Address+": "+problem.Message)
			}
			if got := strings.Join(problems, "\n"); !strings.HasPrefix(got, test.want) {
				t.Errorf("the problems are %q, want %q", got, test.want)
			}
			if report.Totals.AfterKopH != 0 || report.Check(new(int64(1e12)), nil) {
				t.Errorf("it keeps a limit: %+v", report.Totals)
			}
			if table := report.Table(); !strings.Contains(table, "Problem:") {
				t.Errorf("the table does not name it:\n%s", table)
			}
		})
	}
}

func TestRead_Errors(t *testing.T) {
	for _, text := range []string{
		"", "x", "[]", "{}", `{"format_version": "1.0", "values": {}}`, "PK\x03\x04",
		`{"format_version": "1.2", "resource_changes": [{"address": "a.b", "change": {"actions": "create"}}]}`,
	} {
		if _, err := cost.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "show -json PLAN") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A sum that is not a possible price is a problem, and never a wrapped amount.
func TestReport_TooLargeSum(t *testing.T) {
	var changes []string
	for n := range 3 {
		changes = append(changes, changeOf(instance, fmt.Sprint("x", n), `"actions": ["create"],
			"after": {"max_price_kop_h": 900000000000}`))
	}
	report := reportOf(t, changes...)
	if report.Totals.AfterKopH != 9e11 || len(report.Totals.Undetermined) != 2 || len(report.Problems) != 2 {
		t.Errorf("%+v %v", report.Totals, report.Problems)
	}
}

// An update that the plan cannot describe completely counts with the highest price that it can lead to.
func TestNewReport_HighestPrice(t *testing.T) {
	members := `"instances": {
		"0": {"id": "ins_1", "status": "running", "running_kop_h": 9500},
		"1": {"id": "ins_2", "status": "stopped", "running_kop_h": 500}}`
	const running = `{"id": "ins_1", "status": "running", "running_kop_h": 9500}`
	const cheap = `{"id": "ins_2", "status": "running", "running_kop_h": 500}`
	two := `"instances": {"0": ` + running + `, "1": ` + cheap + `}`
	fleet := `"name": "x", "size": 2, "max_price_kop_h": 900, "template": "a", ` + limitedFleet
	marked := func(mark, name string) string {
		return strings.Replace(update("gpurent_fleet", fleet+","+members, fleet), `"after_unknown": {}`,
			`"`+mark+`": {"`+name+`": true}`, 1)
	}
	for name, test := range map[string]struct {
		change, want string
	}{
		"an unknown template":  {marked("after_unknown", "template"), "gpurent_fleet.x update 9500 <=10400+disk"},
		"a sensitive template": {marked("after_sensitive", "template"), "gpurent_fleet.x update 9500 <=10400+disk"},
		"members that it does not list": {
			strings.Replace(marked("after_unknown", "instances"), members, two, 1),
			"gpurent_fleet.x update 10000 <=10400+disk",
		},
		"a price above all prices": {
			creation("gpurent_fleet", `"size": 5000, "max_price_kop_h": 1000000000, `+limitedFleet),
			"gpurent_fleet.x create 0 unknown",
		},
		"an unknown state": {
			strings.Replace(update(instance, strings.Replace(runs, `"status": "running"`, `"status": "stopped"`, 1), limited),
				`"after_unknown": {}`, `"after_unknown": {"desired_state": true}`, 1),
			"gpurent_instance.x update 100 4800",
		},
		"a start of a member": {
			update("gpurent_fleet", fleet+","+members, fleet), "gpurent_fleet.x update 9500 10000",
		},
		"a wait for a start": {
			update(instance, strings.Replace(runs, `"running"`, `"starting"`, 1), limited), "gpurent_instance.x wait 4800 4800",
		},
		"a wait for a stop, then a start": {
			update(instance, strings.NewReplacer(`"running"`, `"stopping"`, "on_demand", "interruptible").Replace(runs),
				strings.Replace(limited, "on_demand", "interruptible", 1)),
			"gpurent_instance.x wait 4800 <=9000+disk",
		},
		"an unknown status": {
			update(instance, strings.Replace(runs, `"status": "running"`, `"status": "paused"`, 1), limited),
			"gpurent_instance.x wait 4800 4800",
		},
		"an unknown type": {
			update(instance, strings.NewReplacer("on_demand", "auction", `"status": "running"`, `"status": "stopped"`).
				Replace(runs), limited),
			"gpurent_instance.x start 100 <=9000+disk",
		},
		"no price": {
			update(instance, `"id": "ins_1", "status": "running", "type": "on_demand"`, limited),
			"gpurent_instance.x update unknown unknown",
		},
		"a query that is not known before the apply": {
			strings.Replace(creation(instance, limited), `"after_unknown": {}`, `"after_unknown": {"offer_query": true}`, 1),
			"gpurent_instance.x create 0 <=9000+disk",
		},
		"a fleet without a cap": {
			creation("gpurent_fleet", `"size": 3, `+limitedFleet), "gpurent_fleet.x create 0 no-cap",
		},
		"a policy of a fleet": {
			update("gpurent_fleet", fleet+","+two, fleet+`, "on_outbid": "keep", `+two), "gpurent_fleet.x update 10000 10000",
		},
		"create and forget": {
			changeOf(instance, "x", `"actions": ["create", "forget"], "before": {`+runs+`}, "after": {`+limited+`}`),
			"gpurent_instance.x replace_and_forget 4800 <=13800+disk",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := reportOf(t, test.change)
			if got := lineOf(report.Servers[0]); got != test.want {
				t.Errorf("got %s, want %s; %v", got, test.want, report.Problems)
			}
		})
	}
}

const limitedFleet = `"type": "on_demand", "desired_state": "running", "disk_gb": 60`

// The sum after the apply and its change are compared with the limits.
func TestReport_Check(t *testing.T) {
	report := reportOf(t, update(instance, runs, limited), creation("gpurent_fleet", `"size": 2, `+limited))
	for _, test := range []struct {
		maxBurn, maxAdded *int64
		kept              bool
	}{
		{nil, nil, true},
		{new(int64(22800)), new(int64(18000)), true},
		{new(int64(22799)), nil, false},
		{nil, new(int64(17999)), false},
	} {
		checked := report
		if kept := checked.Check(test.maxBurn, test.maxAdded); kept != test.kept {
			t.Errorf("%+v: kept %v", checked.Limits, kept)
		}
	}
	uncapped := reportOf(t, creation(instance, `"disk_gb": 60`))
	if uncapped.Check(new(int64(1e9)), nil) || !strings.Contains(uncapped.Table(), "gpurent_instance.x") {
		t.Error("a plan without a cap keeps a limit")
	}
}

// A server of the prior state that the plan contains counts once.
func TestNewReport_PriorState(t *testing.T) {
	report := cost.NewReport(parse(t, `{"format_version": "1.2",
		"resource_changes": [`+update(instance, runs, limited)+`],
		"prior_state": {"values": {"root_module": {"resources": [
			{"address": "gpurent_instance.x", "mode": "managed", "type": "gpurent_instance", "values": {`+runs+`}}]}}}}`))
	if len(report.Servers) != 1 || lineOf(report.Servers[0]) != "gpurent_instance.x update 4800 4800" {
		t.Errorf("%+v", report.Servers)
	}
}

// No format prints a sensitive value.
func TestReport_HasNoSensitiveValues(t *testing.T) {
	for _, file := range recordedFiles(t) {
		if !strings.Contains(file, "sensitive") {
			continue
		}
		report := cost.NewReport(parse(t, textOf(t, file)))
		data, err := report.JSON()
		if err != nil {
			t.Fatal(err)
		}
		all := data + report.Markdown() + report.Table()
		for _, secret := range []string{"hunter2", "4321", "43.21"} {
			if strings.Contains(all, secret) {
				t.Errorf("%s: the report contains %q:\n%s", file, secret, all)
			}
		}
	}
}
