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

const one = "data.gpurent_template.one"

// lookUp is a look-up of one template.
func lookUp(arguments ...string) string {
	return "data \"gpurent_template\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// own makes an own template behind Terraform's back and returns its slug.
func own(env *acctest.Env, name string) (slug string) {
	env.Post("templates", fmt.Sprintf(`{"name":%q,"image":"ubuntu:24.04"}`, name))
	acctest.List(env, "templates?limit=200", func(t struct{ Slug, Name, Owner string }) {
		if t.Name == name && t.Owner == "me" {
			slug = t.Slug
		}
	})
	return slug
}

func isOne(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(one, tfjsonpath.New(path), value)
}

func TestAccTemplateDataSource_bySlugAndByName(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts how the image is written.
	env := acctest.Start(t, acctest.WithoutQuirks("image-spelling"))
	slug := own(env, "Обучение 🚀")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.ProviderWithoutKey() + lookUp(`name = "PyTorch 2.5"`),
				ConfigStateChecks: []statecheck.StateCheck{
					isOne("slug", knownvalue.StringExact("pytorch")), isOne("owner", knownvalue.StringExact("catalog")), isOne("public", knownvalue.Bool(true)),
					isOne("ports", knownvalue.SetExact([]knownvalue.Check{knownvalue.Int64Exact(6006)})), isOne("onstart", knownvalue.Null()),
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
				Config: env.Config(lookUp(`name = "Обучение 🚀"`)),
				ConfigStateChecks: []statecheck.StateCheck{
					isOne("slug", knownvalue.StringExact(slug)), isOne("owner", knownvalue.StringExact("me")), isOne("min_disk_gb", knownvalue.Int64Exact(10)),
				},
			},
			{
				Config:            env.Config(lookUp(fmt.Sprintf("slug = %q", slug))),
				ConfigStateChecks: []statecheck.StateCheck{isOne("name", knownvalue.StringExact("Обучение 🚀"))},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
}

// A template of this apply is found in it, under a slug that was not known before.
func TestAccTemplateDataSource_seesWhatTheApplyHasMade(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts that a new template is listed at once, with its image as it was given.
	env := acctest.Start(t, acctest.WithoutQuirks("lagging-list", "image-spelling"))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(lookUp("slug = gpurent_template.trainer.slug"), config(),
				"data \"gpurent_template\" \"named\" {\n  name = \"Trainer\"\n  depends_on = [gpurent_template.trainer]\n}\n"+
					"data \"gpurent_template\" \"before\" {\n  name = \"PyTorch 2.5\"\n}\n"),
			ConfigStateChecks: []statecheck.StateCheck{
				isOne("name", knownvalue.StringExact("Trainer")),
				statecheck.ExpectKnownValue("data.gpurent_template.named", tfjsonpath.New("image"), knownvalue.StringExact("ubuntu:24.04")),
			},
		}},
		CheckDestroy: func(*terraform.State) error { return env.NoneOwned() },
	})
}

func TestAccTemplateDataSource_saysWhatThereIs(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the first and the last templates that an error lists.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	slug := own(env, "PyTorch 2.5")
	withKey := func(arguments string) string { return env.Config(lookUp(arguments)) }
	withoutKey := func(arguments string) string { return env.ProviderWithoutKey() + lookUp(arguments) }
	// The key is known only after the apply.
	later := func(arguments string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\nprovider \"gpurent\" {\n  base_url = %q\n  api_key  = terraform_data.key.output\n}\n", env.APIKey, env.BaseURL) +
			lookUp(arguments)
	}
	tests := []struct{ config, want string }{
		{withKey(`name = "pytroch"`), `No template is named "pytroch".*There are: pytorch \("PyTorch 2.5"\), .*… and 1 more\.`},
		{withKey(`name = "PyTorch 2.5"`), `Several templates are named "PyTorch 2.5".*Give the slug of one instead of the name: pytorch \(owner catalog\) ` + slug + ` \(owner me\)`},
		{withKey(`name = "pytorch"`), `No template is named "pytorch".*It is the slug of one: set slug instead of name`},
		{withKey(`slug = "pytroch"`), `No template has the slug "pytroch".*There are: pytorch \(`},
		{withoutKey(`slug = "` + slug + `"`), `No template has the slug.*own templates are found only with an API key, and none is configured`},
		{later(`name = "PyTorch 2.5"`), `Provider configuration not known yet`},
		{later(`slug = "` + slug + `"`), `Provider configuration not known yet`},
	}
	w := env.Workspace("", "GPURENT_API_KEY=")
	for _, test := range tests {
		w.Configure(test.config)
		output, err := w.Try("plan", "-no-color")
		if words := acctest.Words(strings.ReplaceAll(output, "│", "")); err == nil || !regexp.MustCompile(test.want).MatchString(words) {
			t.Errorf("%v, and it does not say %s:\n%s", err, test.want, output)
		}
	}
	w.Configure(later(`slug = "pytorch"`))
	if output, err := w.Try("plan", "-no-color"); err != nil {
		t.Errorf("the catalogue needs no key: %v\n%s", err, output)
	}
	if err := errors.Join(env.NothingLeft("instances"), env.OnlyKeyLeft()); err != nil {
		t.Error(err)
	}
}

// However many templates are looked for, and whoever does: one listing.
func TestAccTemplateDataSource_sharesAListing(t *testing.T) {
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
		t.Errorf("%d requests: %v", n, env.Requests())
	}
}

func TestAccTemplateDataSource_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{lookUp(), `(?i)one\s+\(and\s+only\s+one\)|Missing\s+Attribute|exactly\s+one`},
		{lookUp(`slug = "pytorch"`, `name = "PyTorch 2.5"`), `(?i)one\s+\(and\s+only\s+one\)|exactly\s+one`},
		{lookUp(`slug = ""`), `at\s+least\s+1`},
		{lookUp(`name = ""`), `at\s+least\s+1`},
	})
}
