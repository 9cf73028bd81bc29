package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// createMixed creates instances through the API: a running one, a stopped one, a running one without a name, and one
// that is being destroyed. It returns the ids of the first three.
func createMixed(t *testing.T, env *acctest.Env) (running, stopped, unnamed string) {
	t.Helper()
	// The second name ends with a letter and a combining mark, which configurations store as one character.
	ids := createInstances(env, "by-hand", "by-hand-и\u0306", "", "by-hand-3")
	setStatus(t, env, ids[1], "stopped", "stopped")
	setStatus(t, env, ids[3], "destroying", "destroyed")
	return ids[0], ids[1], ids[2]
}

// listBlock returns a list block with the given name, arguments and config arguments.
func listBlock(name, outer, inner string) string {
	return fmt.Sprintf("list \"gpurent_instance\" %q {\n  provider = gpurent\n  %s\n  config {\n    %s\n  }\n}\n",
		name, outer, inner)
}

func TestAccInstanceList_filters(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test asserts the whole list by names, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	running, stopped, unnamed := createMixed(t, env)
	tests := []struct {
		inner string
		want  []string
	}{
		{"", []string{running, stopped, unnamed}},
		{`name_prefix = "by-hand-й"`, []string{stopped}},
		{`status = ["stopped", "failed"]`, []string{stopped}},
		{`template = "ubuntu"`, nil},
		{"name_prefix = \"by\"\n    status = [\"running\"]\n    template = \"pytorch\"", []string{running}},
	}
	blocks := env.Read("list-resources/gpurent_instance/list-resource.tfquery.hcl")
	for n, test := range tests {
		blocks += listBlock(fmt.Sprintf("n%d", n), "", test.inner)
	}
	results, err := w.Query(blocks)
	if err != nil {
		t.Fatal(err)
	}
	for n, test := range tests {
		var ids []string
		for _, f := range results[fmt.Sprintf("list.gpurent_instance.n%d", n)] {
			ids = append(ids, fmt.Sprint(f.Identity["id"]))
		}
		slices.Sort(ids)
		if slices.Sort(test.want); !slices.Equal(ids, test.want) {
			t.Errorf("%s: %v, want %v", test.inner, ids, test.want)
		}
	}
	if example := results["list.gpurent_instance.running"]; len(example) != 2 || example[0].Resource == nil {
		t.Errorf("the example returns %v, want the two running servers with their resources", example)
	}
	_, err = w.Query(listBlock("a", "", `status = ["destroyed"]`) + listBlock("b", "", `template = ""`))
	if err == nil || !strings.Contains(err.Error(), "status[0] must be one of") ||
		!strings.Contains(err.Error(), "template must not be empty") {
		t.Errorf("invalid arguments: %v", err)
	}
	narrow := env.Workspace(env.ProviderWithKey(env.Secret(`{"name":"narrow","scopes":["user:read"]}`)))
	if _, err = narrow.Query(listBlock("all", "", "")); !strings.Contains(fmt.Sprint(err), "lacks the scope") {
		t.Errorf("without the scope: %v", err)
	}
}

func TestAccInstanceList_import(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// Instances of neighbours, and an instance whose response lacks required arguments, cannot be imported.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	createMixed(t, env)
	env.ClearRequests()
	found := w.Adopt(listBlock("all", "include_resource = true", ""))
	if len(found) != 3 {
		t.Fatalf("%d results, want 3", len(found))
	}
	for _, f := range found {
		if !strings.Contains(f.Name, " × ") || !strings.Contains(f.Name, " per hour") ||
			!strings.Contains(f.Name, fmt.Sprint(f.Resource["status"])) {
			t.Errorf("the display name %q lacks the GPU, the price or the status", f.Name)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 0 {
		t.Errorf("%d writes", n)
	}
}
