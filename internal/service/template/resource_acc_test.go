package template_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const (
	address = "gpurent_template.trainer"
	example = "resources/gpurent_template/resource.tf"

	config = "resource \"gpurent_template\" \"trainer\" {\n  name = \"Trainer\"\n  image = \"ubuntu:24.04\"\n}\n"
)

func TestAccTemplate_createImportReplace(t *testing.T) {
	// An import without a configuration keeps the spelling of the API.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling"))
	expect := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), value)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example(example),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("slug", knownvalue.NotNull()), expect("owner", knownvalue.StringExact("me")),
					expect("public", knownvalue.Bool(false)),
					expect("ports", knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(6006)})),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true},
			{
				Config:           env.Config(config),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionDestroyBeforeCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("launch_mode", knownvalue.StringExact("ssh")), expect("description", knownvalue.Null()),
					expect("env", knownvalue.MapSizeExact(0)), expect("onstart", knownvalue.Null()),
					expect("min_disk_gb", knownvalue.NotNull()),
				},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NoOwnTemplate() },
	})
}

func TestAccTemplateDataSources(t *testing.T) {
	// The test checks the spelling of the image, and that a new template is listed immediately.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling", "lagging-list"))
	own := tfjsonpath.New("templates")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_template/data-source.tf",
				"data-sources/gpurent_templates/data-source.tf") + config +
				"data \"gpurent_templates\" \"own\" {\n  owner = \"me\"\n  depends_on = [" + address + "]\n}\n",
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("jupyter_templates",
					knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.StringExact("pytorch-jupyter")})),
				statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("disk_gb"), knownvalue.Int64Exact(150)),
				statecheck.ExpectKnownValue("data.gpurent_templates.own", own, knownvalue.ListSizeExact(1)),
				statecheck.ExpectKnownValue("data.gpurent_templates.own", own.AtSliceIndex(0).AtMapKey("image"),
					knownvalue.StringExact("ubuntu:24.04")),
			},
		}},
	})
}
