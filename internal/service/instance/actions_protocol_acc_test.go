package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// What follows needs more of a CLI than to be there, or no CLI at all.

// playedHere is a stage on which no CLI is needed.
func playedHere(t *testing.T, options ...acctest.Option) (*stage, *acctest.Protocol) {
	t.Helper()
	env := acctest.Start(t, options...)
	p := env.Protocol()
	return &stage{t, env, p.Actor(), env.Provider()}, p
}

func TestInstanceActions_examples(t *testing.T) {
	s, p := playedHere(t)
	offer := s.CheapestOffer("rtx_4090", "on_demand")
	p.Set("gpurent_instance.trainer.id", s.rents(offer.ID, "")).Set("gpurent_instance.trainer.max_price_kop_h", offer.Price.OnDemandKopH)
	for _, example := range []struct{ path, address, want string }{
		{"actions/gpurent_instance_stop/action.tf", "action.gpurent_instance_stop.night", "is stopped"},
		{"actions/gpurent_instance_start/action.tf", "action.gpurent_instance_start.morning", "runs: ssh"},
		{"actions/gpurent_instance_restart/action.tf", "action.gpurent_instance_restart.trainer", "runs: ssh"},
	} {
		if said, ok := s.act(s.Example(example.path), example.address); !ok || !strings.Contains(said, example.want) {
			t.Errorf("%s: %s", example.path, said)
		}
	}
}

// What is not known at plan is checked when it is, before anything is asked for.
func TestInstanceActions_knownOnlyLater(t *testing.T) {
	s, _ := playedHere(t)
	id := s.rentsAny()
	s.puts(id, "failed")
	s.ClearRequests()
	for name, test := range map[string]struct {
		arguments map[string]any
		requests  int // not counted are those for the log
		want      string
	}{
		"a failed server":    {map[string]any{"id": id}, 1, `Cannot restart instance ` + id},
		"no server":          {map[string]any{"id": "ins_none"}, 1, "no such server"},
		"no id":              {map[string]any{"id": ""}, 0, "at least 1"},
		"no duration":        {map[string]any{"id": id, "timeout": "soon"}, 0, "Not a duration"},
		"a cap of nothing":   {map[string]any{"id": id, "cap": 0}, 0, "at least 1"},
		"a cap below that":   {map[string]any{"id": id, "cap": -1}, 0, "at least 1"},
		"an id that escapes": {map[string]any{"id": "../account"}, 1, "no such server"},
	} {
		t.Run(name, func(t *testing.T) {
			p := s.Protocol().SetLater("var.timeout", "1m").SetLater("var.cap", 100)
			for name, value := range test.arguments {
				p.SetLater("var."+name, value)
			}
			const config = `
action "gpurent_instance_restart" "it" {
  config {
    instance_id     = var.id
    timeout         = var.timeout
    max_price_kop_h = var.cap
  }
}
`
			if diags := p.Plan(config, "action.gpurent_instance_restart.it"); len(diags) > 0 {
				t.Errorf("the plan says: %s", acctest.Said(diags))
			}
			if n := len(s.Requests()); n > 0 {
				t.Errorf("the plan makes %d requests", n)
			}
			_, diags := p.Invoke(config, "action.gpurent_instance_restart.it")
			if said := acctest.Said(diags); !acctest.Failed(diags) || !strings.Contains(said, test.want) {
				t.Errorf("%q is not said in: %s", test.want, said)
			}
			n := 0
			for _, r := range s.Requests() {
				if !strings.HasSuffix(r.Path, "/logs") {
					n++
				}
			}
			if n != test.requests {
				t.Errorf("%d requests, want %d: %v", n, test.requests, s.Requests())
			}
			s.ClearRequests()
		})
	}
}

func TestInstanceActions_badArgumentsAreRefused(t *testing.T) {
	s, p := playedHere(t)
	for arguments, want := range map[string]string{
		`instance_id = ""`:                              "at least 1",
		`timeout = "1m"`:                                `"instance_id" is required`,
		"instance_id = \"i\"\n timeout = \"0s\"":        "Not a duration",
		"instance_id = \"i\"\n max_price_kop_h = 0":     "at least 1",
		"instance_id = \"i\"\n max_price_kop_h = \"x\"": "a number is required",
	} {
		if diags := p.Validate("action \"gpurent_instance_start\" \"it\" {\n config {\n" + arguments + "\n}\n}"); !strings.Contains(acctest.Said(diags), want) {
			t.Errorf("%s: %q is not said in: %s", arguments, want, acctest.Said(diags))
		}
	}
	if diags := p.Validate(actionBlock("stop", "i", "max_price_kop_h = 1")); !strings.Contains(acctest.Said(diags), "Unsupported argument") {
		t.Errorf("a stop takes a price: %s", acctest.Said(diags))
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

// A provider whose key is made by the same configuration is not known at plan.
func TestInstanceActions_theProviderMayBeKnownLater(t *testing.T) {
	s, p := playedHere(t)
	config := strings.Replace(s.Provider(), fmt.Sprintf("%q", s.APIKey), "var.key", 1) + actionBlock("stop", s.rentsAny())
	p.SetLater("var.key", s.APIKey)
	s.ClearRequests()
	if diags := p.Plan(config, "action.gpurent_instance_stop.it"); len(diags) > 0 || len(s.Requests()) > 0 {
		t.Errorf("the plan makes %d requests and says: %s", len(s.Requests()), acctest.Said(diags))
	}
	if said, ok := p.Actor()(config, "action.gpurent_instance_stop.it"); !ok {
		t.Error(said)
	}
	if _, diags := p.Set("var.key", acctest.Unknown).Invoke(config, "action.gpurent_instance_stop.it"); !strings.Contains(acctest.Said(diags), "Provider configuration not known yet") {
		t.Error(acctest.Said(diags))
	}
	t.Setenv("GPURENT_API_KEY", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s.provider = s.ProviderWithoutKey()
	if said, ok := s.run("stop", "ins_any"); ok || !strings.Contains(said, "Missing API key") {
		t.Error(said)
	}
}

// The first Ctrl-C, as a CLI passes it on.
func TestInstanceActions_ctrlC(t *testing.T) {
	s, p := playedHere(t, unhurried)
	id := s.rentsAny()
	p.Progress = func(text string) {
		if strings.Contains(text, "is stopping") {
			p.Stop()
		}
	}
	s.refuses("restart", id, "", "", "Interrupted before instance "+id, "Run the action again", `Last seen: status "stopping"`)
	p.Progress = nil
	s.does("restart", id, "running", "runs: ssh")
	s.asked(id, 1, 1)
}

// An action leaves the configuration as it is, so that the next plan puts back what it did.
func TestAccInstanceActions_areDifferencesInThePlan(t *testing.T) {
	s, _ := playedHere(t)
	id := ""
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: s.Config(server()), Check: acctest.RememberID(address, &id)},
			{
				PreConfig:         func() { s.does("stop", id, "stopped") },
				Config:            s.Config(server()),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("running"))},
			},
			{
				PreConfig:        func() { s.does("restart", id, "running") },
				Config:           s.Config(server()),
				ConfigPlanChecks: acctest.Unchanged(),
			},
			{Config: s.Config(server(`desired_state = "stopped"`))},
			{
				PreConfig:         func() { s.does("start", id, "running") },
				Config:            s.Config(server(`desired_state = "stopped"`)),
				ConfigPlanChecks:  acctest.Planned(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{at("status", knownvalue.StringExact("stopped"))},
			},
		},
		CheckDestroy: nothingLeft(s.Env),
	})
}

// A lifecycle triggers an action after the server it is about was changed.
func TestAccInstanceActions_areTriggered(t *testing.T) {
	env := acctest.Start(t)
	config := func(name string) string {
		return env.Config(server(fmt.Sprintf(`name = %q`, name), `lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.gpurent_instance_restart.it]
    }
  }`), strings.Replace(actionBlock("restart", "ID"), `"ID"`, address+".id", 1))
	}
	asked := func(want int) func() {
		return func() {
			if n := env.CountRequests("POST", "/instances") - 1; n != want {
				t.Errorf("%d starts and stops, want %d", n, want)
			}
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config("before"), PostApplyFunc: asked(0)},
			{
				Config:            config("after"),
				PostApplyFunc:     asked(2),
				ConfigStateChecks: []statecheck.StateCheck{at("name", knownvalue.StringExact("after"))},
			},
			{Config: config("after"), ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: nothingLeft(env),
	})
}
