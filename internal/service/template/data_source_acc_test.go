package template_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccTemplateDataSource(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Post("templates", `{"name":"Обучение 🚀","image":"ubuntu:24.04"}`)
	expect := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_template.one", tfjsonpath.New(path), value)
	}
	named := func(name string) string {
		return fmt.Sprintf("data \"gpurent_template\" \"one\" {\n  name = %q\n}\n", name)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.ProviderWithoutKey() + named("PyTorch 2.5"),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("slug", knownvalue.StringExact("pytorch")),
					expect("owner", knownvalue.StringExact("catalog")), expect("public", knownvalue.Bool(true)),
					expect("ports", knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(6006)})),
					expect("onstart", knownvalue.Null()),
				},
			},
			{
				Config: env.Example("data-sources/gpurent_template/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("disk_gb"), knownvalue.Int64Exact(150)),
				},
			},
			{
				Config: env.Config(named("Обучение 🚀")),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("slug", knownvalue.StringExact(env.OwnTemplate())), expect("owner", knownvalue.StringExact("me")),
					expect("min_disk_gb", knownvalue.Int64Exact(10)),
				},
			},
			{
				Config:      env.ProviderWithoutKey() + named("Обучение 🚀"),
				ExpectError: regexp.MustCompile(`(?s)Only\s+the\s+catalog\s+was\s+searched`),
			},
		},
	})
}
