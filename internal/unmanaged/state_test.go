package unmanaged_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// stateOf returns a state with one object in the root module.
func stateOf(object string) string {
	return `{"format_version":"1.0","values":{"root_module":{"resources":[` + object + `]}}}`
}

// recorded returns a state that a CLI wrote, shortened: two members of a fleet, an instance and a deposed one, a
// tainted one in a module, and a data source, which owns no server.
func recorded(t *testing.T, cli string) string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + cli + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestStates_Read(t *testing.T) {
	const deep = `{"format_version":"1.9","terraform_version":"9.0.0","new":{},"values":{"new":1,"root_module":{
		"child_modules":[{"resources":[]},{"child_modules":[{"resources":[
			{"mode":"managed","type":"gpurent_instance","values":{"id":"d"}}]}]}]}}}`
	const fleet = `{"mode":"managed","type":"gpurent_fleet","values":{"id":"f","size":1e3,"instances":{"0":{"id":"m",
		"gpu":{"slug":"x"},"running_kop_h":1}}}}`
	const others = `{"mode":"managed","type":"other_instance","values":null},{"mode":"data","type":"gpurent_instance"}`
	for name, test := range map[string]struct {
		input  string
		states int
		ids    string
	}{
		"Terraform": {recorded(t, "terraform"), 1,
			"ins_i56ubpef5x7e ins_mkz279hsba2g ins_n8zc9jz2tvm2 ins_nxhey2gpat5k ins_u72jqs298egb"},
		"OpenTofu": {recorded(t, "tofu"), 1,
			"ins_mkfeu43rg3p8 ins_mkz279hsba2g ins_pm2e8bqp6tqr ins_u72jqs298egb ins_zb5h3s5gxjzs"},
		"with the results of checks": {`{"format_version":"1.0","terraform_version":"1.15.9","checks":[]}`, 1, ""},
		"outputs only":               {`{"format_version":"1.0","values":{"outputs":{},"root_module":{}}}`, 1, ""},
		"several states":             {deep + "\n" + `{"format_version":"1.0"}` + deep, 3, "d"},
		"other providers":            {stateOf(others), 1, ""},
		"fleet of another version":   {stateOf(fleet), 1, "m"},
	} {
		var states unmanaged.States
		err := states.Read(strings.NewReader(test.input))
		ids := strings.Join(slices.Sorted(maps.Keys(states.IDs)), " ")
		if err != nil || states.Count != test.states || ids != test.ids {
			t.Errorf("%s: %d states with %q, %v; want %d with %q", name, states.Count, ids, err, test.states, test.ids)
		}
	}
}

// An input that is no state never counts as a state without servers.
func TestStates_Read_Errors(t *testing.T) {
	const useShow = `use "terraform show -json"`
	for input, want := range map[string]string{
		" \n": `it is empty: did "terraform show -json" fail?`,
		`{"format_version":"1.2","planned_values":{},"prior_state":{"values":{}}}`: useShow + " without a plan",
		`{"version":4,"serial":1,"lineage":"x","resources":[]}`:                    useShow, // a state file
		`{"format_version":"1.0","valid":true}`:                                    "it is not a state",
		`{"terraform_version":"1.15.9"}`:                                           "no format_version 1.x",
		`{"format_version":"2.0","values":{}}`:                                     "no format_version 1.x",
		"No state.":                                                                "it is not the output of",
		`null`:                                                                     useShow,
		`{"format_version":"1.0","values":{`:                                       "unexpected EOF",
		`{"format_version":"1.0"} Warning`:                                         "it is not the output of",
		`{"format_version":"1.0","values":[]}`:                                     "not those of a state",
		stateOf(`{"address":"a.b","mode":"managed","type":"gpurent_instance","values":{"id":null}}`): `"a.b" in it cannot ` +
			"be read: it has no id",
		stateOf(`{"mode":"managed","type":"gpurent_instance"}`):                                    "cannot be read",
		stateOf(`{"mode":"managed","type":"gpurent_fleet","values":{"id":"f","instances":["i"]}}`): "cannot be read",
	} {
		var states unmanaged.States
		if err := states.Read(strings.NewReader(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", input, err, want)
		}
	}
}
