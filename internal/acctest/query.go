package acctest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Found is one result of a list block.
type Found struct {
	Name     string         `json:"display_name"`
	Identity map[string]any `json:"identity"`
	Resource map[string]any `json:"resource_object"` // nil without include_resource
}

const (
	queryFile     = "main.tfquery.hcl"
	generatedFile = "generated.tf"
)

// Query runs terraform query with the given list blocks. It returns the results by the address of their list block,
// such as "list.gpurent_instance.all". The error contains the output of the CLI on one line.
func (w *Workspace) Query(config string, arguments ...string) (map[string][]Found, error) {
	w.t.Helper()
	w.Write(queryFile, config)
	output, err := w.Try(append([]string{"query", "-json", "-no-color"}, arguments...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, Words(output))
	}
	found := map[string][]Found{}
	for lines := bufio.NewScanner(strings.NewReader(output)); lines.Scan(); {
		var line struct {
			Result *struct {
				Found

				Address string
			} `json:"list_resource_found"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Result != nil {
			found[line.Result.Address] = append(found[line.Result.Address], line.Result.Found)
		}
	}
	return found, nil
}

// Adopt runs terraform query with -generate-config-out and applies the generated configuration. The list blocks must
// set include_resource. Adopt fails the test if the generated configuration plans a change, or if a resource in the
// query results differs from its state after the import. It returns all results.
func (w *Workspace) Adopt(config string) []Found {
	w.t.Helper()
	results, err := w.Query(config, "-generate-config-out="+generatedFile)
	if err != nil {
		w.t.Fatal(err)
	}
	all := slices.Concat(slices.Collect(maps.Values(results))...)
	plan := w.Run("plan", "-no-color", "-out=adopt.tfplan")
	if want := fmt.Sprintf("%d to import, 0 to add, 0 to change, 0 to destroy", len(all)); !strings.Contains(plan, want) {
		w.t.Fatalf("the plan of the generated configuration has no %q:\n%s\n%s", want, w.Read(generatedFile), plan)
	}
	w.Run("apply", "-no-color", "adopt.tfplan")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	for address, found := range results {
		states := SavedIn[map[string]any](w, strings.Split(address, ".")[1])
		for _, f := range found {
			w.sameAsListed(f, states)
		}
	}
	return all
}

// sameAsListed compares a query result with the state of the same resource.
func (w *Workspace) sameAsListed(f Found, states []Saved[map[string]any]) {
	w.t.Helper()
	i := slices.IndexFunc(states, func(s Saved[map[string]any]) bool { return s.Attributes["id"] == f.Identity["id"] })
	if i < 0 || f.Resource == nil {
		w.t.Errorf("%s: in state: %t, in the query result: %t", f.Name, i >= 0, f.Resource != nil)
		return
	}
	for name, imported := range states[i].Attributes {
		if !reflect.DeepEqual(f.Resource[name], imported) {
			w.t.Errorf("%s: %s is %#v in the query result and %#v after the import", f.Name, name, f.Resource[name], imported)
		}
	}
}
