package cost_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var record = flag.Bool("record", false, "record the plans in testdata/plans with the CLI in TF_ACC_TERRAFORM_PATH")

// fast is the configuration of a provider that does not wait between two polls.
const fast = "provider \"gpurent\" {\n  poll_interval = \"1ms\"\n}\n"

// TestRecordPlans records the plan of each scenario with one CLI.
func TestRecordPlans(t *testing.T) {
	if !*record {
		t.Skip("records test data only with -record, TF_ACC=1 and TF_ACC_TERRAFORM_PATH")
	}
	acctest.Needs(t, "1.11.0", "1.12.0")
	current, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.tofuOnly && current.Name != "OpenTofu" {
				t.Skipf("%s does not have this feature", current)
			}
			env := acctest.Start(t)
			w := env.Workspace("")
			for _, config := range s.applied {
				w.Configure(fast + config)
				_, _ = w.Try("apply", "-auto-approve", "-no-color") //nolint:errcheck // deposed objects come from failures
				if s.after != nil {
					s.after(t, env, w)
				}
			}
			w.Configure(fast + s.planned)
			w.Run(slices.Concat([]string{"plan", "-no-color", "-out=saved.plan"}, s.arguments)...)
			plan := w.Run("show", "-json", "saved.plan")
			name := s.name + "." + strings.ToLower(current.Name) + ".json"
			if err := os.WriteFile(filepath.Join("testdata", "plans", name), trimmed(t, s, plan), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// trimmed removes large parts that the command does not read from a plan.
func trimmed(t *testing.T, s scenario, plan string) []byte {
	t.Helper()
	_, plan, _ = strings.Cut(plan, "{") // the CLI can print warnings before
	var parts map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+plan), &parts); err != nil {
		t.Fatal(err)
	}
	unread := []string{"configuration", "relevant_attributes", "checks", "output_changes", "variables"}
	if !s.prior {
		unread = append(unread, "prior_state")
	}
	for _, name := range unread {
		delete(parts, name)
	}
	parts["planned_values"] = json.RawMessage("{}")
	data, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// setServers changes all instances, or the members in a slot of all fleets, as if they had changed outside Terraform.
func setServers(
	slot string, patch simulator.InstancePatch,
) func(*testing.T, *acctest.Env, *acctest.Workspace) {
	return func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
		t.Helper()
		type server struct {
			ID        string
			Instances map[string]struct{ ID string }
		}
		kind := instance
		if slot != "" {
			kind = "gpurent_fleet"
		}
		for _, saved := range acctest.SavedIn[server](w, kind) {
			id := saved.Attributes.ID
			if slot != "" {
				id = saved.Attributes.Instances[slot].ID
			}
			if err := env.SetInstance(id, patch); err != nil {
				t.Fatal(err)
			}
		}
	}
}
