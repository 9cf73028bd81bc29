package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// costsOf returns the output of costs.jq for a plan with these changes of servers.
func costsOf(t *testing.T, changes ...string) string {
	t.Helper()
	var planned []string
	for n, change := range changes {
		planned = append(planned, changeOf("gpurent_instance", fmt.Sprintf("s%d", n), change))
	}
	return costsOfPlan(t, planned...)
}

// changeOf returns a resource change of a plan.
func changeOf(resource, name, change string) string {
	return fmt.Sprintf(`{"address": %q, "mode": "managed", "type": %q, "change": %s}`, resource+"."+name, resource, change)
}

// costsOfPlan returns the output of costs.jq for a plan with these resource changes.
func costsOfPlan(t *testing.T, changes ...string) string {
	t.Helper()
	return costsOfPlans(t, changes)[0]
}

// costsOfPlans returns the output of one costs.jq process for each plan.
func costsOfPlans(t *testing.T, plans ...[]string) []string {
	t.Helper()
	const read = `{"address": "data.gpurent_balance.now", "mode": "data", "type": "gpurent_balance",
		"change": {"actions": ["read"]}}`
	const first = "<!-- gpurent costs -->\n"
	var all strings.Builder
	for _, changes := range plans {
		fmt.Fprintf(&all, "{\"resource_changes\": [%s]}\n", strings.Join(append(slices.Clone(changes), read), ","))
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "plan.json"), []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := script{
		name: "costs", text: "jq -r -f '" + example(ciGitHub, "ci", "costs.jq") + "' plan.json", folder: folder,
		shell: []string{"sh", "-e"}, env: os.Environ(),
	}.must(t)
	texts := strings.SplitAfter("\n"+printed, "\n"+first)[1:]
	if len(texts) != len(plans) {
		t.Fatalf("costs.jq printed %d texts for %d plans:\n%s", len(texts), len(plans), printed)
	}
	for n := range texts {
		texts[n] = first + strings.TrimSuffix(texts[n], first)
	}
	return texts
}

const (
	aRunning = `"status": "running", "type": "on_demand", "desired_state": "running",
		"price": {"running_kop_h": 4814, "stopped_kop_h": 158}`
	aStopped = `"status": "stopped", "type": "on_demand", "desired_state": "stopped",
		"price": {"running_kop_h": 4814, "stopped_kop_h": 158}`
	anOutbid = `"status": "outbid", "type": "interruptible", "desired_state": "running",
		"price": {"running_kop_h": 2000, "stopped_kop_h": 158}`
	toRunning = `"desired_state": "running", "max_price_kop_h": 3000`
)

// fleetWith returns the arguments and the members of a fleet.
func fleetWith(size int, arguments string, members ...string) string {
	instances := make([]string, len(members))
	for slot, member := range members {
		instances[slot] = fmt.Sprintf(`"%d": {%s}`, slot, member)
	}
	return fmt.Sprintf(`{"name": "train", "size": %d, "type": "on_demand", "template": "pytorch", "disk_gb": 60,
		"desired_state": "running", "shrink": "highest_slot", "offer_queries": [{"gpu": ["rtx_4090"]}], %s,
		"instances": {%s}}`, size, arguments, strings.Join(instances, ","))
}

// The price of a fleet is the sum of its members, and that of new members their cap.
func TestCICosts_Fleets(t *testing.T) {
	needs(t, "jq")
	const (
		limits = `"max_price_kop_h": 5000, "max_total_kop_h": 20000`
		failed = `"status": "failed", "price": {"running_kop_h": 4814, "stopped_kop_h": 158}`
	)
	two := fleetWith(2, limits, aRunning, aRunning)
	update := func(before, after string, unknown bool) string {
		return fmt.Sprintf(`{"actions": ["update"], "before": %s, "after": %s, "after_unknown": {"instances": %t}}`,
			before, after, unknown)
	}
	for name, test := range map[string]struct {
		change string
		want   []string
	}{
		"unchanged": {`{"actions": ["no-op"], "before": ` + two + `}`, []string{"| 1 unchanged | | 96,28 ₽ | 96,28 ₽ |"}},
		"created": {
			`{"actions": ["create"], "before": null, "after": ` + fleetWith(3, limits) + `}`,
			[]string{"| create | 0,00 ₽ | up to 150,00 ₽ |"},
		},
		"created with a lower total": {
			`{"actions": ["create"], "before": null, "after": ` + fleetWith(9, limits) + `}`,
			[]string{"| create | 0,00 ₽ | up to 200,00 ₽ |"},
		},
		"created without a cap": {
			`{"actions": ["create"], "before": null, "after": ` + fleetWith(3, `"max_price_kop_h": null`) + `}`,
			[]string{"| create | 0,00 ₽ | no cap |", "The pipeline does not apply this plan."},
		},
		"destroyed": {`{"actions": ["delete"], "before": ` + two + `}`, []string{"| destroy | 96,28 ₽ | 0,00 ₽ |"}},
		"a larger size": {
			update(two, fleetWith(3, limits), true),
			[]string{
				"| scale from 2 to 3 | 96,28 ₽ | up to 146,28 ₽ |", "- Changed arguments of `gpurent_fleet.train`: `size`.",
			},
		},
		"a smaller size": {
			update(two, fleetWith(1, limits), true), []string{"| scale from 2 to 1 | 96,28 ₽ | up to 48,14 ₽ |"},
		},
		"a stop": {
			update(two, strings.Replace(fleetWith(2, limits), `"running"`, `"stopped"`, 1), true),
			[]string{"| stop | 96,28 ₽ | 3,16 ₽ |"},
		},
		"a repair": {
			update(fleetWith(2, limits, aRunning, failed), fleetWith(2, limits), true),
			[]string{"| repair | 96,28 ₽ | up to 98,14 ₽ |"},
		},
		"a rolling update": {
			update(two, strings.Replace(fleetWith(2, limits), "pytorch", "ubuntu", 1), true),
			[]string{"| replace members | 96,28 ₽ | up to 100,00 ₽ |", "`template`"},
		},
		"a policy": {update(two, two, false), []string{"| update | 96,28 ₽ | 96,28 ₽ |"}},
		"higher caps": {
			update(two, fleetWith(2, `"max_price_kop_h": 9000, "max_total_kop_h": 20000`, aRunning, aRunning), false),
			[]string{"- The price cap of `gpurent_fleet.train`: 100,00 ₽ per hour before, 180,00 ₽ after."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			costs := costsOfPlan(t, changeOf("gpurent_fleet", "train", test.change))
			for _, want := range test.want {
				if !strings.Contains(costs, want) {
					t.Errorf("the costs have no %q:\n%s", want, costs)
				}
			}
		})
	}
}

// The costs of each kind of change are exact to the kopeck.
func TestCICosts(t *testing.T) {
	needs(t, "jq")
	for name, test := range map[string]struct {
		changes []string
		want    []string
	}{
		"nothing": {nil, []string{
			"### No server changes", "| **per hour** | | **0,00 ₽** | **0,00 ₽** |", "<!-- reviewed: W10= -->",
		}},
		"what stays": {
			[]string{`{"actions": ["no-op"], "before": {` + aRunning + `}}`},
			[]string{
				"### No server changes", "| 1 unchanged | | 48,14 ₽ | 48,14 ₽ |",
				"| **per month (730 hours)** | | **35 142,20 ₽** | **35 142,20 ₽** |",
			},
		},
		"a rental": {
			[]string{`{"actions": ["create"], "before": null, "after": {"max_price_kop_h": 123456789}}`},
			[]string{
				"| create | 0,00 ₽ | up to 1 234 567,89 ₽ |", "The plan adds up to 1 234 567,89 ₽ per hour",
				"New servers count with their price cap",
			},
		},
		"a rental without a cap": {
			[]string{
				`{"actions": ["create"], "before": null, "after": {}}`,
				`{"actions": ["no-op"], "before": {` + aRunning + `}}`,
			},
			[]string{
				"| create | 0,00 ₽ | no cap |", "The sums do not include servers without a price cap",
				"The pipeline does not apply this plan.", "**48,14 ₽** | **up to 48,14 ₽** |",
			},
		},
		"an end": {
			[]string{
				`{"actions": ["delete"], "before": {` + aRunning + `}}`,
				`{"actions": ["delete"], "before": {` + aStopped + `}}`,
			},
			[]string{
				"| destroy | 48,14 ₽ | 0,00 ₽ |", "| destroy | 1,58 ₽ | 0,00 ₽ |",
				"adds 0,00 ₽ per hour (0,00 ₽ per month) and removes 49,72 ₽ per hour (36 295,60 ₽ per month).",
			},
		},
		"a replacement": {
			[]string{`{"actions": ["create", "delete"], "before": {` + aRunning + `}, "after": {"max_price_kop_h": 5000}}`},
			[]string{"| replace | 48,14 ₽ | up to 50,00 ₽ |", "The plan adds up to 1,86 ₽ per hour"},
		},
		"a server removed from the state": {
			[]string{`{"actions": ["forget"], "before": {` + aRunning + `}}`},
			[]string{"| forget, **billing continues** | 48,14 ₽ | 48,14 ₽ |"},
		},
		"a stop": {
			[]string{`{"actions": ["update"], "before": {` + aRunning + `}, "after": {"desired_state": "stopped"}}`},
			[]string{"| stop | 48,14 ₽ | 1,58 ₽ |", "removes 46,56 ₽ per hour"},
		},
		"a start": {
			[]string{`{"actions": ["update"], "before": {` + aStopped + `}, "after": {` + toRunning + `}}`},
			[]string{"| start | 1,58 ₽ | 48,14 ₽ |", "The plan adds 46,56 ₽ per hour"},
		},
		"a bid": {
			[]string{`{"actions": ["update"], "before": {` + anOutbid + `}, "after": {` + toRunning + `}}`},
			[]string{"| start | 1,58 ₽ | up to 30,00 ₽ |"},
		},
		"no bid": {
			[]string{`{"actions": ["update"], "before": {` + anOutbid + `}, "after": {"on_outbid": "keep", ` + toRunning + `}}`},
			[]string{"| update | 1,58 ₽ | 1,58 ₽ |"},
		},
		"a name": {
			[]string{`{"actions": ["update"], "before": {` + aRunning + `}, "after": {` + toRunning + `}}`},
			[]string{"| update | 48,14 ₽ | 48,14 ₽ |", "adds 0,00 ₽"},
		},
		"a higher cap": {
			[]string{`{"actions": ["update"], "before": {` + aRunning + `, "max_price_kop_h": 9000},
				"after": {"max_price_kop_h": 9000000}}`},
			[]string{"- The price cap of `gpurent_instance.s0`: 90,00 ₽ per hour before, 90 000,00 ₽ after."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			costs := costsOf(t, test.changes...)
			for _, want := range test.want {
				if !strings.Contains(costs, want) {
					t.Errorf("the costs have no %q:\n%s", want, costs)
				}
			}
		})
	}
}
