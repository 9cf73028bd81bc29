package instance_test

import (
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
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
