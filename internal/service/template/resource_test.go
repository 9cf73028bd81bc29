package template_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

const kind = "gpurent_template"

func trainer(description any) map[string]any {
	return map[string]any{"name": "Trainer", "image": "ubuntu:24.04", "description": description}
}

// The API returns "" for no description. Null and "" are the same description: a change between them is in place.
func TestPlan_EmptyDescription(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	template, _ := p.Create(kind, trainer(nil))
	for _, description := range []any{nil, "", nil} {
		plan, _ := p.Plan(template, trainer(description))
		changed := !plan.Planned.State.Equal(template.State)
		if want := description != nil || !template.Attributes()["description"].IsNull(); changed != want {
			t.Errorf("%v: the plan has a change: %t", description, changed)
		}
		template, _ = p.Apply(plan)
		template, _ = p.Refresh(template)
		again, _ := p.Plan(template, trainer(description))
		if len(plan.Replaces) > 0 || !again.Planned.State.Equal(template.State) {
			t.Errorf("%v: replaced because of %v, next plan %s", description, plan.Replaces, again.Planned.State)
		}
	}
	if plan, _ := p.Plan(template, trainer("text")); !slices.Equal(plan.Replaces, []string{"description"}) {
		t.Errorf("replaced because of %v", plan.Replaces)
	}
}

func TestImport_CatalogTemplate(t *testing.T) {
	t.Parallel()
	p := acctest.Configured(t, acctest.Start(t).Arguments())
	if _, diags := p.Import(kind, "pytorch"); !strings.Contains(acctest.Texts(diags), "belongs to the catalog") {
		t.Errorf("got %s", acctest.Texts(diags))
	}
}

// Terraform passes no private state for the deletion of a tainted object, so that only the API's word before it proves
// the account: the response can be lost, and its repetition is a 404.
func TestDelete_TaintedAndLostResponse(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	p := acctest.Configured(t, env.Arguments())
	template, _ := p.Create(kind, trainer(nil))
	template.Private = nil
	fault := simulator.Fault{Method: http.MethodDelete, Path: "/templates", Drop: simulator.DropAfter, Times: 1}
	if err := env.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	_, diags := acctest.Configured(t, env.Arguments()).Destroy(template)
	if err := env.NoOwnTemplate(); err != nil || len(diags) > 0 {
		t.Errorf("%v %s", err, acctest.Texts(diags))
	}
}

// A template is found by its name: in the catalog without a key, and else with one.
func TestDataSource_Name(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_API_KEY", "")
	env := acctest.Start(t)
	env.Post("templates", `{"name":"Обучение 🚀","image":"ubuntu:24.04"}`)
	without := env.Arguments()
	delete(without, "api_key")
	for _, test := range []struct {
		name     string
		provider map[string]any
		want     []string
	}{
		{"PyTorch 2.5", without, []string{`"slug":tftypes.String<"pytorch">`, `"owner":tftypes.String<"catalog">`,
			`"public":tftypes.Bool<"true">`, `"onstart":tftypes.String<null>`, `tftypes.Number<"6006">`}},
		{"Обучение 🚀", env.Arguments(), []string{`"slug":tftypes.String<"` + env.OwnTemplate() + `">`,
			`"owner":tftypes.String<"me">`, `"min_disk_gb":tftypes.Number<"10">`}},
		{"Обучение 🚀", without, []string{"Only the catalog was searched"}},
	} {
		state, diags := acctest.Configured(t, test.provider).Data(kind, map[string]any{"name": test.name})
		for _, want := range test.want {
			if text := state + acctest.Texts(diags); !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", test.name, want, text)
			}
		}
	}
}
