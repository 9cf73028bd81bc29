package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

// createMixed creates instances through the API: a running one, a stopped one, a running one without a name, and a
// destroyed one. It returns the ids of the first three.
func createMixed(t *testing.T, env *acctest.Env) (running, stopped, unnamed string) {
	t.Helper()
	offers := env.Offers("num_gpus=1&gpu=rtx_4090")
	if len(offers) < 4 {
		t.Fatalf("only %d offers", len(offers))
	}
	createInstances := func(n int, template, more string) string {
		return env.Post(
			"instances",
			fmt.Sprintf(`{"offer_id":%q,"template":%q,"disk_gb":60%s}`, offers[n].ID, template, more),
		)
	}
	// The second name ends with a letter and a combining mark, which configurations store as one character.
	running, stopped = createInstances(
		0,
		"pytorch",
		`,"name":"by-hand"`,
	), createInstances(
		1,
		"pytorch",
		`,"name":"by-hand-и\u0306"`,
	)
	unnamed, gone := createInstances(2, "ubuntu", ""), createInstances(3, "pytorch", `,"name":"by-hand-3"`)
	env.Advance(time.Minute)
	env.Post("instances/"+stopped+"/stop", "")
	env.Delete("instances/" + gone)
	env.Advance(time.Minute)
	return running, stopped, unnamed
}

// listBlock returns a list block with the given name, arguments and config arguments.
func listBlock(name, outer, inner string) string {
	return fmt.Sprintf(
		"list \"gpurent_instance\" %q {\n  provider = gpurent\n  %s\n  config {\n    %s\n  }\n}\n",
		name,
		outer,
		inner,
	)
}

const listExample = "list-resources/gpurent_instance/list-resource.tfquery.hcl"

func TestAccInstanceList_filters(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The test asserts the whole list by names, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	running, stopped, unnamed := createMixed(t, env)
	tests := []struct {
		outer, inner string
		want         []string
	}{
		{"", "", []string{running, stopped, unnamed}},
		{"", `name_prefix = "by-hand"`, []string{running, stopped}},
		{"", `name_prefix = "by hand"`, nil},
		{"", `name_prefix = "by-hand-й"`, []string{stopped}},
		{"", `status = ["stopped", "failed"]`, []string{stopped}},
		{"", `template = "ubuntu"`, []string{unnamed}},
		{"", "name_prefix = \"by\"\n    status = [\"running\"]\n    template = \"pytorch\"", []string{running}},
		{"limit = 2", "", []string{running, stopped, unnamed}[:2]},
	}
	blocks := env.Read(listExample)
	for n, test := range tests {
		blocks += listBlock(fmt.Sprintf("n%d", n), test.outer, test.inner)
	}
	results, err := w.Query(blocks)
	if err != nil {
		t.Fatal(err)
	}
	for n, test := range tests {
		ids := map[string]bool{}
		for _, f := range results[fmt.Sprintf("list.gpurent_instance.n%d", n)] {
			ids[fmt.Sprint(f.Identity["id"])] = true
			if f.Resource != nil {
				t.Errorf("%s: the result has a resource without include_resource", test.inner)
			}
		}
		ok := len(ids) == len(test.want)
		for _, id := range test.want {
			ok = ok && (ids[id] || test.outer != "") // the service decides which results a limit omits
		}
		if !ok {
			t.Errorf("%s %s: %v, want %v", test.outer, test.inner, ids, test.want)
		}
	}
	if example := results["list.gpurent_instance.running"]; len(example) != 2 || example[0].Resource == nil {
		t.Errorf("the example returns %v, want the two running servers with their resources", example)
	}
}

func TestAccInstanceList_import(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// Instances of neighbours, and an instance whose response lacks required arguments, cannot be imported.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	w := env.Workspace(env.Provider())
	createMixed(t, env)
	found := w.Adopt(listBlock("all", "include_resource = true", ""))
	if len(found) != 3 {
		t.Fatalf("%d results, want 3", len(found))
	}
	for _, f := range found {
		if !strings.Contains(f.Name, "1 × ") || !strings.Contains(f.Name, " per hour") ||
			!strings.Contains(f.Name, fmt.Sprint(f.Resource["status"])) {
			t.Errorf("the display name %q lacks the GPU, the price or the status", f.Name)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 5 {
		t.Errorf("%d writes, want only those of the test itself", n)
	}
}

func TestAccInstanceList_invalidArguments(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	_, err := w.Query(
		listBlock(
			"a",
			"",
			`status = ["destroyed"]`,
		) + listBlock(
			"b",
			"",
			`status = []`,
		) + listBlock(
			"c",
			"",
			`name_prefix = ""`,
		) +
			listBlock(
				"d",
				"",
				`template = ""`,
			),
	)
	if err == nil {
		t.Fatal("invalid arguments are accepted")
	}
	for _, want := range []string{
		`status[0] value must be one of`, `status list must contain at least 1`,
		`name_prefix string length must be at least 1`, `template string length must be at least 1`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestAccInstanceList_missingKeyOrScope(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	narrow := env.Secret(`{"name":"narrow","scopes":["user:read"]}`)
	for provider, want := range map[string]string{
		env.ProviderWithKey(narrow): "lacks the scope instances:read",
		env.ProviderWithoutKey():    "Missing API key",
	} {
		w := env.Workspace(provider, append(testhome.Env(t.TempDir()), "GPURENT_API_KEY=")...)
		if _, err := w.Query(listBlock("all", "", "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
