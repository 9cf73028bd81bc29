package template_test

import (
	"errors"
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

// The data source finds a template of the same apply.
func TestAccTemplateDataSource_newTemplate(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test checks that a new template is listed immediately, and the spelling of its image.
	env := acctest.Start(t, acctest.WithoutQuirks("lagging-list", "image-spelling"))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(dataSourceConfig("slug = gpurent_template.trainer.slug"), config(),
				"data \"gpurent_template\" \"named\" {\n  name = \"Trainer\"\n  depends_on = [gpurent_template.trainer]\n}\n"+
					"data \"gpurent_template\" \"before\" {\n  name = \"PyTorch 2.5\"\n}\n"),
			ConfigStateChecks: []statecheck.StateCheck{
				expectAttribute("name", knownvalue.StringExact("Trainer")),
				statecheck.ExpectKnownValue("data.gpurent_template.named", tfjsonpath.New("image"),
					knownvalue.StringExact("ubuntu:24.04")),
			},
		}},
		CheckDestroy: func(*terraform.State) error { return env.NoneOwned() },
	})
}

func TestAccTemplateDataSource_errors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test checks the first template in an error and the number of the omitted ones.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	slug := createTemplate(env, "PyTorch 2.5")
	withKey := func(arguments string) string { return env.Config(dataSourceConfig(arguments)) }
	withoutKey := func(arguments string) string { return env.ProviderWithoutKey() + dataSourceConfig(arguments) }
	// unknownKey returns a provider block with a key that is known only after apply.
	unknownKey := func(arguments string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\nprovider \"gpurent\" {\n  base_url = "+
			"%q\n  api_key  = terraform_data.key.output\n}\n", env.APIKey, env.BaseURL) +
			dataSourceConfig(arguments)
	}
	tests := []struct{ config, want string }{
		{withKey(`name = "pytroch"`),
			`No template with this name.*Existing: (.* \(".*"\), ){10}… and 1 more\.`},
		{withKey(`name = "PyTorch 2.5"`),
			`Several templates have this name.*Set slug instead of name, or delete what you do not need: ` +
				`pytorch \("PyTorch 2.5"\): owner catalog ` + slug + ` \("PyTorch 2.5"\): owner me`},
		{withKey(`slug = "pytroch"`), `No template with this slug.*Existing: .*pytorch \(`},
		{withoutKey(`slug = "` + slug + `"`),
			`No template with this slug.*Only the catalog was searched, because no API key is configured`},
		{unknownKey(`name = "PyTorch 2.5"`), `Provider configuration is unknown`},
		{unknownKey(`slug = "` + slug + `"`), `Provider configuration is unknown`},
	}
	w := env.Workspace("", "GPURENT_API_KEY=")
	for _, test := range tests {
		w.Configure(test.config)
		output, err := w.Try("plan", "-no-color")
		if words := acctest.WithoutFrame(output); err == nil ||
			!regexp.MustCompile(test.want).MatchString(words) {
			t.Errorf("%v, no match of %s:\n%s", err, test.want, output)
		}
	}
	w.Configure(unknownKey(`slug = "pytorch"`))
	if output, err := w.Try("plan", "-no-color"); err != nil {
		t.Errorf("the catalog requires no key: %v\n%s", err, output)
	}
	if err := errors.Join(env.NothingLeft("instances"), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}

// All data sources share one list request.
func TestAccTemplateDataSource_sharesOneList(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("small-pages", "gateway-errors"))
	w := env.Workspace(env.Config(`
data "gpurent_template" "slugs" {
  for_each = toset(["ubuntu", "cuda-devel", "pytorch", "pytorch-jupyter", "comfyui"])
  slug     = each.key
}
data "gpurent_template" "names" {
  for_each = toset(["vLLM server", "ComfyUI", "Custom image", "PyTorch 2.5", "Ollama + Open WebUI"])
  name     = each.key
}
data "gpurent_templates" "all" {}
`))
	env.ClearRequests()
	w.Run("plan")
	if n := len(env.Requests()); n != 1 {
		t.Errorf("%d requests, want 1: %v", n, env.Requests())
	}
}

func TestAccTemplateDataSource_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{dataSourceConfig(), `(?i)one\s+\(and\s+only\s+one\)|Missing\s+Attribute|exactly\s+one`},
		{dataSourceConfig(`slug = "pytorch"`, `name = "PyTorch 2.5"`), `(?i)one\s+\(and\s+only\s+one\)|exactly\s+one`},
		{dataSourceConfig(`slug = ""`), `at\s+least\s+1`},
		{dataSourceConfig(`name = ""`), `at\s+least\s+1`},
	})
}
