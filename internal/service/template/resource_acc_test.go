package template_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	address = "gpurent_template.trainer"
	example = "resources/gpurent_template/resource.tf"
)

func config(arguments ...string) string {
	return "resource \"gpurent_template\" \"trainer\" {\n  name = \"Trainer\"\n  image = \"ubuntu:24.04\"\n  " +
		strings.Join(arguments, "\n  ") + "\n}\n"
}

func TestAccTemplate_createReplaceImport(t *testing.T) {
	// An import without a configuration keeps the spelling of the API.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling"))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example(example),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("slug"), knownvalue.NotNull()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("owner"), knownvalue.StringExact("me")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("public"), knownvalue.Bool(false)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("ports"),
						knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(6006)})),
				},
			},
			{Config: env.Example(example), ConfigPlanChecks: acctest.Unchanged()},
			{ResourceName: address, ImportState: true, ImportStateVerify: true},
			{
				Config:           env.Config(config()),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("launch_mode"), knownvalue.StringExact("ssh")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("description"), knownvalue.Null()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("env"), knownvalue.MapSizeExact(0)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("onstart"), knownvalue.Null()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("min_disk_gb"), knownvalue.NotNull()),
				},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NoOwnTemplate() },
	})
}

func TestAccTemplate_importOfCatalogTemplate(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(config()), ResourceName: address, ImportState: true, ImportStateId: "pytorch",
			ExpectError: regexp.MustCompile(`belongs to the catalog`),
		}},
	})
}

func TestAccTemplatesDataSource(t *testing.T) {
	// The test checks the spelling of the image, and that a new template is listed immediately.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling", "lagging-list"))
	own := tfjsonpath.New("templates")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.ProviderWithoutKey() + `data "gpurent_templates" "own" { owner = "me" }`,
				ExpectError: regexp.MustCompile(`Missing API key`)},
			{
				Config: env.Example("data-sources/gpurent_templates/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("jupyter_templates",
						knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.StringExact("pytorch-jupyter")})),
				},
			},
			{
				Config: env.Config(config(), "data \"gpurent_templates\" \"own\" {\n  owner = \"me\"\n  depends_on = "+
					"[gpurent_template.trainer]\n}\n"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("data.gpurent_templates.own", own, knownvalue.ListSizeExact(1)),
					statecheck.ExpectKnownValue("data.gpurent_templates.own", own.AtSliceIndex(0).AtMapKey("image"),
						knownvalue.StringExact("ubuntu:24.04")),
				},
			},
		},
	})
}

// The API returns "" for no description. Null and "" are the same description.
func TestAccTemplate_emptyDescription(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	description := func(want knownvalue.Check) []statecheck.StateCheck {
		return []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("description"), want)}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: env.Config(config()), ConfigStateChecks: description(knownvalue.Null())},
			{Config: env.Config(config()), ConfigPlanChecks: acctest.Unchanged()},
			{
				Config:            env.Config(config(`description = ""`)),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: description(knownvalue.StringExact("")),
			},
			{Config: env.Config(config(`description = ""`)), ConfigPlanChecks: acctest.Unchanged()},
			{Config: env.Config(config()), ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate)},
			{Config: env.Config(config(`description = "text"`)), ConfigPlanChecks: acctest.Planned(address,
				plancheck.ResourceActionDestroyBeforeCreate)},
			{
				Config:            env.Config(config()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: description(knownvalue.Null()),
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NoOwnTemplate() },
	})
}

// Terraform passes no private state for the deletion of a tainted object, so that only the API's word before it proves
// the account: the response can be lost, and its repetition is a 404.
func TestAccTemplate_taintedAndLostResponse(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	w := env.Workspace(config())
	w.Run("apply", "-auto-approve")
	w.Run("taint", address)
	fault := simulator.Fault{Method: http.MethodDelete, Path: "/templates", Drop: simulator.DropAfter, Times: 1}
	if err := env.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	w.Run("apply", "-auto-approve")
	w.Run("destroy", "-auto-approve")
	if err := env.NoOwnTemplate(); err != nil {
		t.Error(err)
	}
}
