package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// An import adopts creation-only arguments, which the API does not return, from the configuration, without a request.
func TestAccInstance_importAdoptsArguments(t *testing.T) {
	env := acctest.Start(t)
	id := createInstances(env, "")[0]
	config := env.Config(fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id),
		configByQuery(`{ num_gpus = [1] }`, `idempotency_key = "k"`, `ssh_key_ids = []`,
			`replace_on = ["offer_query", "ssh_key_ids"]`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate,
					plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("running")),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("ssh"), knownvalue.NotNull())),
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("id", knownvalue.StringExact(id)),
					attributeIs("offer_query", knownvalue.NotNull()), attributeIs("idempotency_key", knownvalue.StringExact("k")),
					attributeIs("ssh_key_ids", knownvalue.SetSizeExact(0)),
					attributeIs("on_outbid", knownvalue.StringExact("restart")),
					attributeIs("rented_offer_id", knownvalue.Null()), attributeIs("quoted_kop_h", knownvalue.Null()),
				},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
	})
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 0 {
		t.Errorf("%d requests that change something", n)
	}
}

// The generated configuration of an instance that was created outside Terraform is valid, plans no change, and rents
// the same GPUs.
func TestAccInstance_generatedConfig(t *testing.T) {
	for kind, test := range map[string]struct {
		arguments string
		stop      bool
		want      []string
	}{
		"on_demand": {`,"name":"by hand"`, false, []string{
			`name = "by hand"`, `disk_gb = 60`, `template = "pytorch"`, `gpu = ["rtx_4090"]`, `num_gpus = [1]`,
		}},
		"interruptible": {
			`,"type":"interruptible","ssh_key_ids":[]`, true, []string{`type = "interruptible"`, `desired_state = "stopped"`},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			// The test expects the GPU of the offer in the generated query.
			env := acctest.Start(t, acctest.WithoutQuirks("other-gpu"))
			id := createInstance(env, env.CheapestOffer("rtx_4090", kind).ID, test.arguments)
			env.Advance(time.Minute)
			if test.stop {
				env.Post("instances/"+id+"/stop", "")
				env.Advance(time.Minute)
			}
			env.ClearRequests()
			generated := acctest.Words(env.Generated("resources/gpurent_instance/import-by-string-id.tf", id))
			for _, want := range test.want {
				if !strings.Contains(generated, want) {
					t.Errorf("%s is not in:\n%s", want, generated)
				}
			}
			if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 0 {
				t.Errorf("%d requests that change something", n)
			}
		})
	}
}
