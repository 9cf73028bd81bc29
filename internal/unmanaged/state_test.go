package unmanaged_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// The files were written by both CLIs, and shortened: two members of a fleet, an instance and a deposed one, a tainted
// one in a module, and a data source, which owns no server.
func TestStates_Read_RecordedFromBothCLIs(t *testing.T) {
	for file, want := range map[string][]string{
		"terraform.json": {
			"ins_i56ubpef5x7e", "ins_mkz279hsba2g", "ins_n8zc9jz2tvm2", "ins_nxhey2gpat5k", "ins_u72jqs298egb",
		},
		"tofu.json": {
			"ins_mkfeu43rg3p8", "ins_mkz279hsba2g", "ins_pm2e8bqp6tqr", "ins_u72jqs298egb", "ins_zb5h3s5gxjzs",
		},
	} {
		content, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var states unmanaged.States
		if err := states.Read(strings.NewReader(string(content))); err != nil {
			t.Fatal(err)
		}
		if ids := slices.Sorted(maps.Keys(states.IDs)); !slices.Equal(ids, want) || states.Count != 1 {
			t.Errorf("%s: %d states with %q, want %q", file, states.Count, ids, want)
		}
	}
}

// stateOf returns a state with one object in the root module.
func stateOf(object string) string {
	return `{"format_version":"1.0","values":{"root_module":{"resources":[` + object + `]}}}`
}

func TestStates_Read(t *testing.T) {
	const deep = `{"format_version":"1.9","terraform_version":"9.0.0","new":{},"values":{"new":1,"root_module":{
		"child_modules":[{"resources":[]},{"child_modules":[{"resources":[
			{"mode":"managed","type":"gpurent_instance","values":{"id":"d"}}]}]}]}}}`
	for name, test := range map[string]struct {
		input  string
		states int
		ids    []string
	}{
		"without objects":            {`{"format_version":"1.0"}`, 1, nil},
		"with the results of checks": {`{"format_version":"1.0","terraform_version":"1.15.9","checks":[]}`, 1, nil},
		"outputs only":               {`{"format_version":"1.0","values":{"outputs":{},"root_module":{}}}`, 1, nil},
		"nested modules":             {deep, 1, []string{"d"}},
		"several states":             {deep + "\n" + `{"format_version":"1.0"}` + deep, 3, []string{"d"}},
		"other providers": {
			stateOf(`{"mode":"managed","type":"other_instance","values":null},{"mode":"data","type":"gpurent_instance"}`),
			1, nil,
		},
		"fleet without members": {
			stateOf(`{"mode":"managed","type":"gpurent_fleet","values":{"id":"f","instances":{}}}`), 1, nil,
		},
		"fleet of another version": {
			stateOf(`{"mode":"managed","type":"gpurent_fleet","values":{"id":"f","size":1e3,"instances":{"0":{"id":"m",
				"gpu":{"slug":"x"},"running_kop_h":1}}}}`), 1, []string{"m"},
		},
	} {
		var states unmanaged.States
		err := states.Read(strings.NewReader(test.input))
		if ids := slices.Sorted(maps.Keys(states.IDs)); err != nil || states.Count != test.states ||
			!slices.Equal(ids, test.ids) {
			t.Errorf("%s: %d states with %q, %v; want %d with %q", name, states.Count, ids, err, test.states, test.ids)
		}
	}
}

// An input that is no state never counts as a state without servers.
func TestStates_Read_Errors(t *testing.T) {
	const useShow = `use "terraform show -json"`
	for name, test := range map[string]struct{ input, want string }{
		"empty": {" \n", `it is empty: did "terraform show -json" fail?`},
		"plan": {
			`{"format_version":"1.2","planned_values":{},"prior_state":{"values":{}}}`,
			useShow + " without a plan",
		},
		"state file":           {`{"version":4,"serial":1,"lineage":"x","resources":[]}`, useShow},
		"encrypted state file": {`{"serial":1,"lineage":"x","encrypted_data":"x"}`, useShow},
		"schemas":              {`{"format_version":"1.0","provider_schemas":{}}`, "it is not a state"},
		"validation":           {`{"format_version":"1.0","valid":true}`, "it is not a state"},
		"version":              {`{"terraform_version":"1.15.9"}`, "no format_version 1.x"},
		"newer format":         {`{"format_version":"2.0","values":{}}`, "no format_version 1.x"},
		"text":                 {"No state.", "it is not the output of"},
		"list":                 {`[{"format_version":"1.0"}]`, "it is not the output of"},
		"null":                 {`null`, useShow},
		"incomplete":           {`{"format_version":"1.0","values":{`, "unexpected EOF"},
		"text behind a state":  {`{"format_version":"1.0"} Warning`, "it is not the output of"},
		"values of a plan":     {`{"format_version":"1.0","values":[]}`, "not those of a state"},
		"instance without id": {
			stateOf(`{"address":"a.b","mode":"managed","type":"gpurent_instance","values":{"id":null}}`),
			`"a.b" in it cannot be read: it has no id`,
		},
		"instance without values": {stateOf(`{"mode":"managed","type":"gpurent_instance"}`), "cannot be read"},
		"fleet with other members": {
			stateOf(`{"mode":"managed","type":"gpurent_fleet","values":{"id":"f","instances":["i"]}}`),
			"cannot be read",
		},
	} {
		var states unmanaged.States
		if err := states.Read(strings.NewReader(test.input)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	var states unmanaged.States
	broken := errors.New("the disk is broken")
	if err := states.Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v, want the error of the reader", err)
	}
}
