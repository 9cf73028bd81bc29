package instance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
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

// createInstances creates an instance through the API for each name, "" for none, and waits until they run.
func createInstances(env *acctest.Env, names ...string) (ids []string) {
	free := env.Offers("limit=200")
	for i, name := range names {
		named := ""
		if name != "" {
			named = fmt.Sprintf(`"name":%q,`, name)
		}
		ids = append(
			ids,
			env.Post("instances", fmt.Sprintf(`{%s"offer_id":%q,"template":"pytorch","disk_gb":60}`, named, free[i].ID)),
		)
	}
	env.Advance(time.Minute)
	env.ClearRequests()
	return ids
}

// stopClock makes the clock move only when the test moves it: charges would change every plan.
func stopClock(c *simulator.Config) { c.Step = 0 }

// configByQuery returns an instance with an offer_query.
func configByQuery(query string, arguments ...string) string {
	return fmt.Sprintf(
		"resource \"gpurent_instance\" \"trainer\" {\n  offer_query = %s\n  template = \"pytorch\"\n"+
			"  disk_gb  = 60\n  %s\n}\n",
		query,
		strings.Join(arguments, "\n  "),
	)
}

// afterFirst calls f after the response to the first matching request.
func afterFirst(method, pattern string, do func()) acctest.Option {
	var done atomic.Bool
	wanted := regexp.MustCompile(pattern)
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if r.Method == method && wanted.MatchString(r.URL.Path) && !done.Swap(true) {
				do()
			}
		})
	})
}

// removeFromStateStep removes the instances from the state, like a kill before the state is saved.
func removeFromStateStep(config string) resource.TestStep {
	return resource.TestStep{
		Config: config + "removed {\n  from = gpurent_instance.trainer\n  lifecycle {\n    destroy = false\n  }\n}\n",
	}
}

const address = "gpurent_instance.trainer"

// configByOffer returns an instance with an offer_id and further arguments.
func configByOffer(arguments ...string) string {
	return offersDataSource("") + resourceBlock("data.gpurent_offers.test.ids[0]", arguments...)
}

func offersDataSource(filter string) string {
	return fmt.Sprintf("data \"gpurent_offers\" \"test\" {\n  gpu = [\"rtx_4090\"]\n  num_gpus = [1]\n  %s\n}\n", filter)
}

func resourceBlock(offer string, arguments ...string) string {
	return fmt.Sprintf(
		"resource \"gpurent_instance\" \"trainer\" {\n  offer_id = %s\n  template = \"pytorch\"\n  disk_gb  = 60\n  %s\n}\n",
		offer,
		strings.Join(arguments, "\n  "),
	)
}

func attributeIs(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(path), value)
}

func expectAction(action plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, action)
}

func addFaults(t *testing.T, env *acctest.Env, faults ...simulator.Fault) {
	t.Helper()
	for _, f := range faults {
		if err := env.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
}

// configWithoutRetries disables the retries of the client, so that the resource receives faults.
func configWithoutRetries(env *acctest.Env, parts ...string) string {
	return strings.Replace(env.Config(parts...), "max_retries = 3", "max_retries = 0", 1)
}

func checkDestroyed(env *acctest.Env) resource.TestCheckFunc {
	return func(*terraform.State) error { return env.NothingLeft("instances") }
}

// bootInOneHour makes instances boot in an hour of simulated time, which passes only when the test moves the clock.
func bootInOneHour(c *simulator.Config) { c.Boot = time.Hour }

// onFirstGet calls f before the first request for an instance by id.
func onFirstGet(do func(id string)) acctest.Option {
	var done atomic.Bool
	pattern := regexp.MustCompile(`^/api/v1/instances/([^/]+)$`)
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if found := pattern.FindStringSubmatch(r.URL.Path); r.Method == http.MethodGet && found != nil && !done.Swap(true) {
				do(found[1])
			}
			next.ServeHTTP(w, r)
		})
	})
}

// configOfTwo returns two instances with equal arguments.
func configOfTwo(query string) string {
	return strings.Replace(configByQuery(query), "offer_query", "count = 2\n  offer_query", 1)
}

func configWithSpending(env *acctest.Env, arguments, config string) string {
	return env.Provider("spending = {\n"+arguments+"\n}") + config
}
