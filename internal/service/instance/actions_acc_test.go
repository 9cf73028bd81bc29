package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// An action changes the instance and not the configuration: the next plan shows the drift.
func TestAccInstanceActions_nextPlanShowsDrift(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	t.Parallel()
	env := acctest.Start(t)
	w := env.Workspace("")
	config := ""
	configure := func(arguments string) {
		config = env.Provider() + configByOffer("max_price_kop_h = 1000000", arguments) +
			env.Read("actions/gpurent_instance_stop/action.tf") + env.Read("actions/gpurent_instance_start/action.tf") +
			env.Read("actions/gpurent_instance_restart/action.tf")
		w.Configure(config)
		w.Run("apply", "-auto-approve", "-no-color")
	}
	invoke := func(action string, want ...string) {
		t.Helper()
		output, ok := w.Invoke(config, "action.gpurent_instance_"+action)
		if expectOutput(t, output, want...); !ok {
			t.Error(output)
		}
	}
	planned := func(change string) {
		t.Helper()
		output, err := w.Try("plan", "-no-color", "-detailed-exitcode")
		if expectOutput(t, output, change); (err != nil) != (change != "") {
			t.Errorf("the plan ends with %v, want the change %q:\n%s", err, change, output)
		}
	}
	configure("")
	invoke("stop.night", "is stopped")
	planned(`desired_state = "stopped" -> "running"`)
	invoke("start.morning", "is stopped", "is running")
	invoke("start.morning", "is running")
	invoke("restart.trainer", "is stopped", "is running")
	planned("")
	configure(`desired_state = "stopped"`)
	invoke("start.morning", "is running")
	planned(`desired_state = "running" -> "stopped"`)
	configure(`desired_state = "stopped"`)
	planned("")
}

// The API key and the id of the server can come from resources of the same apply.
func TestAccInstanceActions_unknownArguments(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	t.Parallel()
	env := acctest.Start(t)
	w := env.Workspace("", append(testenv.Home(t.TempDir()), "GPURENT_API_KEY=")...)
	id := createInstances(env, "")[0]
	const address = "action.gpurent_instance_stop.it"
	key := strings.Replace(env.Provider(), fmt.Sprintf("%q", env.APIKey), "terraform_data.key.output", 1) +
		fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\n", env.APIKey)
	if output, ok := w.Invoke(key+actionBlock("stop", fmt.Sprintf("%q", id)), address); ok {
		t.Errorf("invoking the action before the API key exists: %s", output)
	} else {
		expectOutput(t, output, "Provider configuration is unknown")
	}
	w.Configure(key + actionBlock("stop", "terraform_data.id.output") + fmt.Sprintf(`
resource "terraform_data" "id" {
  input = %q
}
resource "terraform_data" "trigger" {
  depends_on = [terraform_data.key, terraform_data.id]
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [%s]
    }
  }
}
`, id, address))
	w.Run("plan", "-no-color")
	if n := len(env.Requests()); n > 0 {
		t.Errorf("%d requests before the apply, want none", n)
	}
	w.Run("apply", "-auto-approve", "-no-color")
	if status := acctest.Fetch[struct{ Status string }](env, "instances/"+id).Status; status != "stopped" {
		t.Errorf("it is %s", status)
	}
	if output, ok := w.Invoke(env.ProviderWithoutKey()+actionBlock("stop", fmt.Sprintf("%q", id)), address); ok {
		t.Errorf("without a key: %s", output)
	} else {
		expectOutput(t, output, "Missing API key")
	}
}

// An action_trigger invokes an action after a change of its instance.
func TestAccInstanceActions_actionTrigger(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	config := func(name string) string {
		return env.Config(configByOffer(fmt.Sprintf(`name = %q`, name), `lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.gpurent_instance_restart.it]
    }
  }`), actionBlock("restart", address+".id"))
	}
	asked := func(want int) func() {
		return func() {
			if n := env.CountRequests("POST", "/instances") - 1; n != want && (want == 0 || len(env.Quirks()) == 0) {
				t.Errorf("%d starts and stops, want %d", n, want)
			}
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config("before"), PostApplyFunc: asked(0)},
			{
				Config:            config("after"),
				PostApplyFunc:     asked(2),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("name", knownvalue.StringExact("after"))},
			},
			{Config: config("after"), ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
