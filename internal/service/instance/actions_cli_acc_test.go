package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// exitWithChanges is the status of plan -detailed-exitcode when the plan has changes.
const exitWithChanges = "exit status 2"

// An action changes the instance and not the configuration: the next plan shows the drift.
func TestAccInstanceActions_nextPlanShowsDrift(t *testing.T) {
	t.Parallel()
	s := newActionTest(t)
	config := func(arguments string) string {
		return s.provider + configByOffer(
			"max_price_kop_h = 1000000",
			arguments,
		) + s.Read(
			"actions/gpurent_instance_stop/action.tf",
		) +
			s.Read(
				"actions/gpurent_instance_start/action.tf",
			) + s.Read(
			"actions/gpurent_instance_restart/action.tf",
		)
	}
	invoke := func(config, action, want string) {
		t.Helper()
		output, ok := s.workspace.Invoke(config, "action.gpurent_instance_"+action)
		if !ok || !strings.Contains(output, want) {
			t.Errorf("%s: %q is not in: %s", action, want, output)
		}
	}
	planned := func(changes ...string) {
		t.Helper()
		output, err := s.workspace.Try("plan", "-no-color", "-detailed-exitcode")
		output = acctest.Words(output)
		if len(changes) == 0 && err != nil || len(changes) > 0 && (err == nil || err.Error() != exitWithChanges) {
			t.Fatalf("the plan ends with %v, want changes %v: %s", err, changes, output)
		}
		for _, change := range changes {
			if !strings.Contains(output, change) {
				t.Errorf("%q is not in the plan: %s", change, output)
			}
		}
	}
	s.workspace.Configure(config(""))
	s.workspace.Run("apply", "-auto-approve", "-no-color")
	invoke(config(""), "stop.night", "is stopped")
	planned(`desired_state = "stopped" -> "running"`, "0 to add, 1 to change")
	invoke(config(""), "start.morning", "runs: ssh")
	invoke(config(""), "restart.trainer", "runs: ssh")
	planned()
	stopped := config(`desired_state = "stopped"`)
	s.workspace.Configure(stopped)
	s.workspace.Run("apply", "-auto-approve", "-no-color")
	invoke(stopped, "start.morning", "runs: ssh")
	planned(`desired_state = "running" -> "stopped"`, "0 to add, 1 to change")
	s.workspace.Run("apply", "-auto-approve", "-no-color")
	planned()
}

func TestAccInstanceActions_invalidArguments(t *testing.T) {
	t.Parallel()
	s := newActionTest(t)
	config, wants := "", []string{}
	for n, test := range []struct{ verb, arguments, want string }{
		{"start", `instance_id = ""`, "instance_id string length must be at least 1"},
		{"start", `timeout = "1m"`, `The argument "instance_id" is required`},
		{"start", "instance_id = \"i\"\n timeout = \"0s\"", "must be a duration above zero"},
		{"start", "instance_id = \"i\"\n max_price_kop_h = 0", "max_price_kop_h value must be at least 1"},
		{"start", "instance_id = \"i\"\n max_price_kop_h = \"x\"", "a number is required"},
		{"stop", "instance_id = \"i\"\n max_price_kop_h = 1", `An argument named "max_price_kop_h" is not expected here`},
	} {
		config += fmt.Sprintf(
			"action \"gpurent_instance_%s\" \"n%d\" {\n config {\n %s\n }\n}\n",
			test.verb,
			n,
			test.arguments,
		)
		wants = append(wants, test.want)
	}
	s.workspace.Configure(s.provider + config)
	output, err := s.workspace.Try("validate", "-json")
	if err == nil {
		t.Fatal("invalid arguments are accepted")
	}
	output = strings.ReplaceAll(acctest.Words(output), `\"`, `"`)
	for _, want := range wants {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in: %s", want, output)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// The API key and the id of the server can come from resources of the same apply.
func TestAccInstanceActions_unknownArguments(t *testing.T) {
	t.Parallel()
	s := newActionTest(t)
	id := s.createAny()
	key := strings.Replace(s.provider, fmt.Sprintf("%q", s.APIKey), "terraform_data.key.output", 1) +
		fmt.Sprintf("resource \"terraform_data\" \"key\" {\n  input = %q\n}\n", s.APIKey)
	s.ClearRequests()
	output, ok := s.workspace.Invoke(key+actionBlock("stop", id), "action.gpurent_instance_stop.it")
	if ok || !strings.Contains(output, "Provider configuration is unknown") {
		t.Errorf("invoking the action before the API key exists: %s", output)
	}
	s.workspace.Configure(key + fmt.Sprintf(`
resource "terraform_data" "id" {
  input = %q
}
resource "terraform_data" "trigger" {
  depends_on = [terraform_data.key, terraform_data.id]
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.gpurent_instance_stop.it]
    }
  }
}
`, id) + strings.Replace(actionBlock("stop", "ID"), `"ID"`, "terraform_data.id.output", 1))
	s.workspace.Run("plan", "-no-color")
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests before the apply, want none", n)
	}
	s.workspace.Run("apply", "-auto-approve", "-no-color")
	s.expectResult(id, "stopped", "", nil)
	s.provider = s.ProviderWithoutKey()
	s.fails("stop", id, "", "stopped", "Missing API key")
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
  }`), strings.Replace(actionBlock("restart", "ID"), `"ID"`, address+".id", 1))
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
