package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The generated configuration of an instance that was created outside Terraform is valid, plans no change, and rents
// the same GPUs.
func TestAccInstance_generatedConfig(t *testing.T) {
	t.Parallel()
	// The test expects the GPU of the offer in the generated query.
	env := acctest.Start(t, acctest.WithoutQuirks("other-gpu"))
	id := env.Post(
		"instances",
		fmt.Sprintf(
			`{"offer_id":%q,"template":"pytorch","disk_gb":60,"name":"by hand"}`,
			env.CheapestOffer("rtx_4090", "on_demand").ID,
		),
	)
	env.Advance(time.Minute)
	generated := acctest.Words(env.Generated("resources/gpurent_instance/import-by-string-id.tf", id))
	for _, want := range []string{
		`name = "by hand"`, `disk_gb = 60`, `template = "pytorch"`, `gpu = ["rtx_4090"]`, `num_gpus = [1]`,
	} {
		if !strings.Contains(generated, want) {
			t.Errorf("%s is not in:\n%s", want, generated)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 1 {
		t.Errorf("%d requests that change something, want only the test's own", n)
	}
}

// An instance with a number of GPUs that no filter has, stopped and interruptible.
func TestAccInstance_generatedConfigUnusual(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post(
		"instances",
		fmt.Sprintf(
			`{"offer_id":%q,"template":"custom","image":"registry.example/own:1","disk_gb":60,"type":"interruptible",`+
				`"ssh_key_ids":[]}`,
			env.CheapestOffer("rtx_4090", "interruptible").ID,
		),
	)
	env.Advance(time.Minute)
	env.Post("instances/"+id+"/stop", "")
	env.Advance(time.Minute)
	generated := acctest.Words(env.Generated("resources/gpurent_instance/import-by-string-id.tf", id))
	for _, want := range []string{
		`type = "interruptible"`, `image = "registry.example/own:1"`, `desired_state = "stopped"`,
	} {
		if !strings.Contains(generated, want) {
			t.Errorf("%s is not in:\n%s", want, generated)
		}
	}
}

// imageOf returns the image of the instance with the given id.
func imageOf(env *acctest.Env, id string) string {
	return acctest.Fetch[struct{ Image string }](env, "instances/"+id).Image
}

// A generated configuration contains the image of each instance. If an instance failed, the configuration also works
// for its replacement.
func TestAccInstance_generatedConfigReplacesFailed(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The generated query contains the GPU of the instance, which must be that of an offer. The test lists all instances
	// and compares images.
	env := acctest.Start(t, acctest.WithoutQuirks("other-gpu", "strange-neighbours", "image-spelling"))
	env.Post("templates", `{"name":"own","image":"registry.example/own:1"}`)
	s := &actionTest{T: t, Env: env}
	offers := env.Offers("num_gpus=1&gpu=rtx_4090")
	for n, template := range []string{
		env.OwnTemplate(), env.OwnTemplate(), "pytorch", "custom\",\"image\":\"registry.example/any:2",
	} {
		id := env.Post(
			"instances",
			fmt.Sprintf(`{"offer_id":%q,"template":"%s","disk_gb":60,"name":"n%d"}`, offers[n].ID, template, n),
		)
		env.Advance(5 * time.Minute)
		if n > 0 {
			s.setStatus(id, "failed")
		}
	}
	w := env.Workspace(env.Provider())
	_, err := w.Query(listBlock("all", "include_resource = true", ""), "-generate-config-out=generated.tf")
	if err != nil {
		t.Fatal(err)
	}
	plan := w.Run("plan", "-no-color", "-out=replace.tfplan")
	if !strings.Contains(plan, "4 to import, 3 to add, 0 to change, 3 to destroy") {
		t.Fatalf("%s\n%s", w.Read("generated.tf"), plan)
	}
	w.Run("apply", "-no-color", "replace.tfplan")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	images := map[string]int{}
	for _, saved := range acctest.SavedIn[struct{ ID, Image string }](w, "gpurent_instance") {
		images[saved.Attributes.Image]++
		if got := imageOf(env, saved.Attributes.ID); got != saved.Attributes.Image {
			t.Errorf("the image is %s, and %s in the state", got, saved.Attributes.Image)
		}
	}
	if images["registry.example/own:1"] != 2 || images["registry.example/any:2"] != 1 || len(images) != 3 {
		t.Errorf("%v", images)
	}
}

// The image of the template is accepted, and not sent. Another image is refused at plan.
func TestAccInstance_templateImage(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	image := fmt.Sprintf(
		`image = %q`,
		acctest.Fetch[struct{ Data []struct{ Image string } }](env, "templates").Data[0].Image,
	)
	slug := acctest.Fetch[struct{ Data []struct{ Slug string } }](env, "templates").Data[0].Slug
	config := func(arguments string) string {
		return env.Config(strings.Replace(configByOffer(arguments), `"pytorch"`, fmt.Sprintf("%q", slug), 1))
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      config(`image = "ubuntu:1"`),
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(`Only\s+the\s+template\s+"custom"\s+accepts\s+any\s+image`),
			},
			{Config: config(image)},
			{Config: config(image), ConfigPlanChecks: acctest.Unchanged()},
			{Config: config(""), ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
