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
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const address = "gpurent_instance.trainer"

// resourceBlock returns an instance, with further arguments.
func resourceBlock(arguments ...string) string {
	return fmt.Sprintf("resource \"gpurent_instance\" \"trainer\" {\n  template = \"pytorch\"\n  disk_gb  = 60\n  %s\n}\n",
		strings.Join(arguments, "\n  "))
}

// configByQuery returns an instance with an offer_query.
func configByQuery(query string, arguments ...string) string {
	return resourceBlock(append(arguments, "offer_query = "+query)...)
}

// configByOffer returns an instance with the cheapest offer of a data source.
func configByOffer(arguments ...string) string {
	return "data \"gpurent_offers\" \"test\" {\n  gpu = [\"rtx_4090\"]\n  num_gpus = [1]\n}\n" +
		resourceBlock(append(arguments, "offer_id = data.gpurent_offers.test.ids[0]")...)
}

// actionBlock returns an action. id is an expression.
func actionBlock(verb, id string) string {
	return fmt.Sprintf("action \"gpurent_instance_%s\" \"it\" {\n  config {\n    instance_id = %s\n  }\n}\n", verb, id)
}

// createInstance creates an instance through the API, with further arguments in JSON.
func createInstance(env *acctest.Env, offerID, arguments string) (id string) {
	return env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60%s}`, offerID, arguments))
}

// createInstances creates an instance for each name, "" for none, and waits until they run.
func createInstances(env *acctest.Env, names ...string) (ids []string) {
	free := env.Offers("limit=200")
	for i, name := range names {
		named := ""
		if name != "" {
			named = fmt.Sprintf(`,"name":%q`, name)
		}
		ids = append(ids, createInstance(env, free[i].ID, named))
	}
	env.Advance(time.Minute)
	env.ClearRequests()
	return ids
}

// stopClock makes the clock move only when the test moves it: charges would change every plan.
func stopClock(c *simulator.Config) { c.Step = 0 }

func attributeIs(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(path), value)
}

func statusIs(status string) []statecheck.StateCheck {
	return []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact(status))}
}

func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return acctest.Planned(address, action)
}

// configWithoutRetries disables the retries of the client, so that the resource receives faults.
func configWithoutRetries(env *acctest.Env, parts ...string) string {
	return strings.Replace(env.Config(parts...), "max_retries = 3", "max_retries = 0", 1)
}

func checkDestroyed(env *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error { return env.NothingLeft("instances") }
}

// sellOut makes all offers of a GPU model unavailable, and returns them.
func sellOut(t *testing.T, env *acctest.Env, gpu string) []acctest.Offer {
	t.Helper()
	offers := env.Offers("limit=200&gpu=" + gpu)
	for _, offer := range offers {
		must(t, env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}))
	}
	return offers
}

// expectOutput checks that the output of a command has the texts.
func expectOutput(t *testing.T, output string, want ...string) {
	t.Helper()
	text := acctest.WithoutFrame(output)
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, output)
		}
	}
}
