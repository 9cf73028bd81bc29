package instance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// arguments holds the arguments of an instance in HCL, by name; "" omits one.
type arguments map[string]string

// transition is a change of one argument with the expected plan.
type transition struct {
	before, after arguments
	// want is "no-op", "update" with the changed attributes, or "replace" with the attributes that force it.
	want    string
	changes []string
}

// argument has values that an instance can have. between returns the expected plan for a change between two of them.
type argument struct {
	name    string
	values  []string
	beside  arguments // what else the server has
	between func(before, after string) (want string, changes []string)
}

func always(want string, changes ...string) func(string, string) (string, []string) {
	return func(string, string) (string, []string) { return want, changes }
}

// like is always, but without a change between values with the same meaning: "" is the default.
func like(preset, want string, changes ...string) func(string, string) (string, []string) {
	return func(before, after string) (string, []string) {
		value := func(v string) string {
			if v == "" {
				return preset
			}
			return v
		}
		if value(before) == value(after) {
			return "no-op", nil
		}
		return want, changes
	}
}

// desiredStates is between for desired_state: a start can change the price.
func desiredStates(before, after string) (string, []string) {
	changes := []string{"desired_state", "status", "stop_reason", "ssh", "urls"}
	if before == `"stopped"` {
		changes = append(changes, "price")
	}
	return like(`"running"`, "update", changes...)(before, after)
}

// testedArguments are tested with all ordered pairs of their values.
func testedArguments(offers []string) []argument {
	const someQuery, otherQuery = `{ gpu = ["rtx_4090"] }`, `{ gpu = ["rtx_4090"], order = "dlperf", max_attempts = 3 }`
	return []argument{
		{name: "name", values: []string{"", `"a"`, `"b"`}, between: always("update", "name")},
		{name: "template", values: []string{`"ubuntu"`, `"pytorch"`}, between: always("replace", "template")},
		{name: "disk_gb", values: []string{"60", "61"}, between: always("replace", "disk_gb")},
		{
			name:    "type",
			values:  []string{"", `"on_demand"`, `"interruptible"`},
			between: like(`"on_demand"`, "replace", "type"),
		},
		{
			name:    "image",
			values:  []string{`"ubuntu:22.04"`, `"ubuntu:24.04"`},
			beside:  arguments{"template": `"custom"`},
			between: always("replace", "image"),
		},
		{name: "max_price_kop_h", values: []string{"", "9000000", "9000001"}, between: always("update", "max_price_kop_h")},
		{
			name:    "on_outbid",
			values:  []string{"", `"restart"`, `"keep"`, `"replace"`},
			between: like(`"restart"`, "update", "on_outbid"),
		},
		{
			name:    "replace_on",
			values:  []string{"", `["offer_id"]`, `["ssh_key_ids", "offer_query"]`},
			between: always("update", "replace_on"),
		},
		{
			name:    "idempotency_key",
			values:  []string{"", "key-1", "key-2"},
			between: always("update", "idempotency_key"),
		},
		{name: "keep_on_timeout", values: []string{"", "false", "true"}, between: like("false", "update", "keep_on_timeout")},
		{
			name:    "timeouts",
			values:  []string{"", `{ create = "50m" }`, `{ update = "5m" }`},
			between: always("update", "timeouts"),
		},
		{name: "desired_state", values: []string{"", `"running"`, `"stopped"`}, between: desiredStates},
		{name: "offer_id", values: []string{offers[0], offers[1]}, between: always("no-op")},
		{
			name:    "offer_id",
			values:  []string{offers[2], offers[3]},
			beside:  arguments{"replace_on": `["offer_id"]`},
			between: always("replace", "offer_id"),
		},
		{
			name:    "offer_query",
			values:  []string{`{ gpu = ["rtx_4090"], min_disk_gb = 10 }`, someQuery, otherQuery},
			beside:  arguments{"max_price_kop_h": "9000000"},
			between: always("no-op"),
		},
		{
			name:    "offer_query",
			values:  []string{someQuery, otherQuery},
			beside:  arguments{"replace_on": `["offer_query"]`},
			between: always("replace", "offer_query"),
		},
		{
			name:    "offer_query",
			values:  []string{`{ gpu = ["rtx_4090"], num_gpus = [1] }`, `{ min_vram_gb = 40, order = "-price" }`},
			between: always("replace", "offer_query"),
		},
		{
			name:   "ssh_key_ids",
			values: []string{"", `[]`, `[gpurent_ssh_key.k.id]`},
			between: func(before, after string) (string, []string) {
				if before == "" || after == "" {
					return "update", []string{"ssh_key_ids"}
				}
				return "no-op", nil
			},
		},
		{
			name:    "ssh_key_ids",
			values:  []string{"", `[]`, `[gpurent_ssh_key.k.id]`},
			beside:  arguments{"replace_on": `["ssh_key_ids"]`},
			between: always("replace", "ssh_key_ids"),
		},
	}
}

// transitions returns all ordered pairs, and the change between the two ways to select an offer.
func transitions(offers []string) []transition {
	var all []transition
	for _, a := range testedArguments(offers) {
		for _, before := range a.values {
			for _, after := range a.values {
				if before == after {
					continue
				}
				want, changes := a.between(before, after)
				one, two := maps.Clone(a.beside), maps.Clone(a.beside)
				if one == nil {
					one, two = arguments{}, arguments{}
				}
				one[a.name], two[a.name] = before, after
				all = append(all, transition{one, two, want, changes})
			}
		}
	}
	byID, byQuery := arguments{"offer_id": offers[4]}, arguments{"offer_query": `{}`}
	other := arguments{"offer_query": `{ min_vram_gb = 40 }`}
	return append(all,
		transition{byID, byQuery, "update", []string{"offer_id", "offer_query"}},
		transition{byQuery, byID, "update", []string{"offer_id", "offer_query"}},
		transition{byQuery, other, "replace", []string{"offer_query"}},
		transition{arguments{}, arguments{}, "no-op", nil},
	)
}

// otherQuery selects the most expensive offer, for instances whose offer does not matter; the others use cheap offers.
const otherQuery = `{ order = "-price" }`

// block returns the configuration of the n-th instance.
func (a arguments) block(n int) string {
	full := arguments{"template": `"pytorch"`, "disk_gb": "60"}
	maps.Copy(full, a)
	if full["offer_id"] == "" && full["offer_query"] == "" {
		full["offer_query"] = otherQuery
	}
	if key := full["idempotency_key"]; key != "" {
		full["idempotency_key"] = fmt.Sprintf("%q", fmt.Sprintf("%s-of-%d", key, n))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "resource \"gpurent_instance\" \"s%d\" {\n", n)
	for _, name := range slices.Sorted(maps.Keys(full)) {
		if full[name] != "" {
			fmt.Fprintf(&text, "  %s = %s\n", name, full[name])
		}
	}
	return text.String() + "}\n"
}

// Every change of one argument has the documented effect, and the plan shows no other change.
func TestAccInstance_argumentChanges(t *testing.T) {
	placeholders := make([]string, 5)
	for i := range placeholders {
		placeholders[i] = fmt.Sprintf("offer %d", i)
	}
	all := transitions(placeholders)
	if len(all) < 80 {
		t.Errorf("only %d transitions", len(all))
	}
	// There are not enough offers for all instances at once.
	const atOnce = 50
	for chunk := range slices.Chunk(all, atOnce) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			testTransitions(t, chunk)
		})
	}
}

func testTransitions(t *testing.T, all []transition) {
	// Without started_at in the last response, a plan shows it as changed, too.
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent"))
	err := env.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(500)), BalanceKop: new(int64(1e10))})
	if err != nil {
		t.Fatal(err)
	}
	// The offers of average price, which no query of the other instances selects.
	var free []string
	for _, offer := range env.Offers("limit=200")[20:50] {
		if offer.GPU.Slug != "rtx_4090" {
			free = append(free, offer.ID)
		}
	}
	// place sets a different offer for each instance that names one.
	place := func(a arguments) arguments {
		if !strings.HasPrefix(a["offer_id"], "offer ") {
			return a
		}
		placed := maps.Clone(a)
		placed["offer_id"] = fmt.Sprintf("%q", free[0])
		free = free[1:]
		return placed
	}
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
	const key = "resource \"gpurent_ssh_key\" \"k\" {\n  public_key = \"" + publicKey + "\"\n}\n"
	configs := [2]string{env.Config(key), env.Config(key)}
	for n, tr := range all {
		configs[0] += place(tr.before).block(n)
		configs[1] += place(tr.after).block(n)
	}
	w := env.Workspace(configs[0])
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("plan", "-detailed-exitcode", "-no-color")
	w.Configure(configs[1])
	w.Run("plan", "-out=changes", "-no-color")
	changes := plannedChanges(t, w.Run("show", "-json", "changes"))
	for n, tr := range all {
		got, found := changes[fmt.Sprintf("gpurent_instance.s%d", n)]
		want := (plannedChange{tr.want, slices.Sorted(slices.Values(tr.changes))})
		if !found || !reflect.DeepEqual(got, want) {
			t.Errorf("from %v to %v: plans %v, want %v", tr.before, tr.after, got, want)
		}
	}
}

// plannedChange is the action of a plan for a resource, with the attributes that it changes or that force a
// replacement.
type plannedChange struct {
	action     string
	attributes []string
}

func plannedChanges(t *testing.T, planJSON string) map[string]plannedChange {
	t.Helper()
	var plan struct {
		Changes []struct {
			Address string
			Change  struct {
				Actions       []string
				Before, After map[string]any
				AfterUnknown  map[string]any `json:"after_unknown"`
				ReplacePaths  [][]any        `json:"replace_paths"`
			}
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(planJSON), &plan); err != nil {
		t.Fatal(err)
	}
	all := map[string]plannedChange{}
	for _, r := range plan.Changes {
		c := r.Change
		names := map[string]bool{}
		action := c.Actions[0]
		if len(c.Actions) == 2 {
			action = "replace"
			for _, path := range c.ReplacePaths {
				names[fmt.Sprint(path[0])] = true
			}
		} else {
			for name := range c.After {
				names[name] = !reflect.DeepEqual(c.Before[name], c.After[name])
			}
			for name, unknown := range c.AfterUnknown {
				if unknown == true {
					names[name] = true
				}
			}
		}
		maps.DeleteFunc(names, func(_ string, changed bool) bool { return !changed })
		all[r.Address] = plannedChange{action, slices.Sorted(maps.Keys(names))}
	}
	return all
}
