package template_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const listExample = "list-resources/gpurent_template/list-resource.tfquery.hcl"

// Own templates are found, those of the catalogue and of other names are not.
func TestTemplateList_whatIsFoundIsAdoptedAsItIs(t *testing.T) {
	env := acctest.Start(t)
	env.Post("templates", `{"name":"training-a","image":"registry.example/a:1","ports":[80],"env":{"A":"1"},"onstart":"true"}`)
	env.Post("templates", `{"name":"training-b","image":"registry.example/b:1"}`)
	env.Post("templates", `{"name":"other","image":"registry.example/c:1"}`)
	cli := env.Protocol()
	found, err := cli.Found(strings.Replace(env.Read(listExample), "= gpurent\n", "= gpurent\n  include_resource = true\n", 1), "list.gpurent_template.training")
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, f := range found {
		if !strings.Contains(f.Name, "registry.example/") {
			t.Errorf("%q does not name the image", f.Name)
		}
		if adopted, diags := cli.Adopt("", f); acctest.Failed(diags) || len(adopted.Changes) > 0 {
			t.Errorf("%s: the plan changes %v: %s", f.Name, adopted.Changes, acctest.Said(diags))
		}
	}
}

func TestAccTemplateList_example(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	env.Post("templates", `{"name":"training-a","image":"registry.example/a:1"}`)
	if found, err := w.Found(env.Read(listExample), "list.gpurent_template.training"); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
