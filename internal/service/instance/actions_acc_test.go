package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// An action changes the instance and not the configuration, so that the next plan shows the drift. A change of a
// resource triggers the action of the example.
func TestAccInstanceActions_examples(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	t.Parallel()
	env := acctest.Start(t)
	config := env.Provider() + configByOffer("max_price_kop_h = 1000000") +
		env.Read("actions/gpurent_instance_stop/action.tf") + env.Read("actions/gpurent_instance_start/action.tf") +
		env.Read("actions/gpurent_instance_restart/action.tf")
	w := env.Workspace(config)
	w.Run("apply", "-auto-approve", "-no-color")
	output, ok := w.Invoke(config, "action.gpurent_instance_stop.night")
	if expectOutput(t, output, "is stopped"); !ok {
		t.Error(output)
	}
	output, err := w.Try("plan", "-no-color", "-detailed-exitcode")
	if expectOutput(t, output, `desired_state = "stopped" -> "running"`); err == nil {
		t.Error("the plan shows no drift")
	}
	output, ok = w.Invoke(config, "action.gpurent_instance_start.morning")
	if expectOutput(t, output, "is stopped", "is running"); !ok {
		t.Error(output)
	}
	w.Configure(strings.Replace(config, "llama-3.1-8b", "llama-3.1-70b", 1))
	output = w.Run("apply", "-auto-approve", "-no-color")
	expectOutput(t, output, "is stopped", "is running")
}

// The API key and the id of the server can come from resources of the same apply.
func TestAccInstanceActions_unknownArguments(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	t.Parallel()
	env := acctest.Start(t)
	w := env.Workspace("", append(testenv.Home(t.TempDir()), "GPURENT_API_KEY=")...)
	id := createInstances(env, "")[0]
	const address = "action.gpurent_instance_stop.it"
	stop := func(id string) string {
		return fmt.Sprintf("action \"gpurent_instance_stop\" \"it\" {\n  config {\n    instance_id = %s\n  }\n}\n", id)
	}
	key := strings.Replace(env.Provider(), fmt.Sprintf("%q", env.APIKey), "terraform_data.key.output", 1) +
		fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\n", env.APIKey)
	output, ok := w.Invoke(key+stop(fmt.Sprintf("%q", id)), address)
	if expectOutput(t, output, "Provider configuration is unknown"); ok {
		t.Error("the action is invoked before the API key exists")
	}
	if n := len(env.Requests()); n > 0 {
		t.Errorf("%d requests, want none", n)
	}
	w.Configure(key + stop("terraform_data.id.output") + fmt.Sprintf(`
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
	w.Run("apply", "-auto-approve", "-no-color")
	if status := acctest.Fetch[struct{ Status string }](env, "instances/"+id).Status; status != "stopped" {
		t.Errorf("it is %s", status)
	}
}
