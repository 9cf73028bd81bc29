package template_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_template/list-resource.tfquery.hcl"

// The list returns own templates only.
func TestAccTemplateList_resultsImportWithoutChanges(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	env.Post("templates",
		`{"name":"training-a","image":"registry.example/a:1","ports":[80],"env":{"A":"1"},"onstart":"true",`+
			`"description":"D"}`)
	env.Post("templates", `{"name":"training-b","image":"registry.example/b:1"}`)
	w := env.Workspace(env.Provider())
	found := w.Adopt(strings.Replace(env.Read(listExample), "= gpurent\n", "= gpurent\n  include_resource = true\n", 1))
	if len(found) != 2 {
		t.Fatalf("%v, want 2 results", found)
	}
	for _, f := range found {
		if !strings.Contains(f.Name, "registry.example/") {
			t.Errorf("the display name %q lacks the image", f.Name)
		}
		if f.Resource["name"] == "training-b" && f.Resource["description"] != nil {
			t.Errorf("no description is %#v, want null", f.Resource["description"])
		}
	}
}
