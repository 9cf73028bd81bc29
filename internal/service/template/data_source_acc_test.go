package template_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const dataSource = "data.gpurent_template.one"

// dataSourceConfig returns a data block with arguments.
func dataSourceConfig(arguments ...string) string {
	return "data \"gpurent_template\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// createTemplate creates an own template outside of Terraform and returns its slug.
func createTemplate(env *acctest.Env, name string) (slug string) {
	env.Post("templates", fmt.Sprintf(`{"name":%q,"image":"ubuntu:24.04"}`, name))
	acctest.List(env, "templates?limit=200", func(t struct{ Slug, Name, Owner string }) {
		if t.Name == name && t.Owner == "me" {
			slug = t.Slug
		}
	})
	return slug
}

// expectAttribute checks an attribute of the data source.
func expectAttribute(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(dataSource, tfjsonpath.New(path), value)
}

func TestAccTemplateDataSource_bySlugAndByName(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test checks the spelling of the image.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling"))
	slug := createTemplate(env, "Обучение 🚀")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.ProviderWithoutKey() + dataSourceConfig(`name = "PyTorch 2.5"`),
				ConfigStateChecks: []statecheck.StateCheck{
					expectAttribute("slug", knownvalue.StringExact("pytorch")),
					expectAttribute("owner", knownvalue.StringExact("catalog")), expectAttribute("public", knownvalue.Bool(true)),
					expectAttribute("ports", knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(6006)})),
					expectAttribute("onstart", knownvalue.Null()),
				},
			},
			{
				Config: env.Example("data-sources/gpurent_template/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("image", knownvalue.StringRegexp(regexp.MustCompile(`^pytorch/pytorch:`))),
					statecheck.ExpectKnownValue("gpurent_instance.trainer", tfjsonpath.New("disk_gb"), knownvalue.Int64Exact(150)),
				},
			},
			{
				Config: env.Config(dataSourceConfig(`name = "Обучение 🚀"`)),
				ConfigStateChecks: []statecheck.StateCheck{
					expectAttribute("slug", knownvalue.StringExact(slug)), expectAttribute("owner", knownvalue.StringExact("me")),
					expectAttribute("min_disk_gb", knownvalue.Int64Exact(10)),
				},
			},
			{
				Config:            env.Config(dataSourceConfig(fmt.Sprintf("slug = %q", slug))),
				ConfigStateChecks: []statecheck.StateCheck{expectAttribute("name", knownvalue.StringExact("Обучение 🚀"))},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}
