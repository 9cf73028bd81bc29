package cost_test

import (
	"bytes"
	"cmp"
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
			oldest := cmp.Or(s.terraform, "1.11.0")
			if current.Name == "OpenTofu" {
				oldest = cmp.Or(s.tofu, "1.12.0")
			}
			if oldest == none || !current.Has(oldest) {
				t.Skipf("%s does not have this feature", current)
			}
			env := acctest.Start(t, acctest.WithQuirks())
			w := env.Workspace("")
			addModules(t, w)
			for _, config := range s.applied {
				w.Configure(fast + config)
				_, _ = w.Try("apply", "-auto-approve", "-no-color") //nolint:errcheck // deposed objects come from failures
				if s.after != nil {
					s.after(t, env, w)
				}
			}
			w.Configure(fast + s.planned)
			w.Run("get")
			w.Run(slices.Concat([]string{"plan", "-no-color", "-out=saved.plan"}, s.arguments)...)
			plan := w.Run("show", "-json", "saved.plan")
			name := s.name + "." + strings.ToLower(current.Name) + ".json"
			if err := os.WriteFile(filepath.Join("testdata", "plans", name), trimmed(t, s, plan), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// trimmed removes what the command does not read from a plan.
func trimmed(t *testing.T, s scenario, plan string) []byte {
	t.Helper()
	_, plan, _ = strings.Cut(plan, "{") // the CLI can print warnings before
	var parts map[string]any
	decoder := json.NewDecoder(strings.NewReader("{" + plan))
	decoder.UseNumber()
	if err := decoder.Decode(&parts); err != nil {
		t.Fatal(err)
	}
	for _, unread := range []string{"configuration", "relevant_attributes", "checks", "output_changes", "variables"} {
		delete(parts, unread)
	}
	changes, _ := parts["resource_changes"].([]any)
	for _, change := range changes {
		values, _ := change.(map[string]any)["change"].(map[string]any)
		delete(values, "before_identity")
		delete(values, "after_identity")
	}
	parts["planned_values"] = map[string]any{}
	if !s.prior {
		delete(parts, "prior_state")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(parts); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// addModules writes the module m with a server, and n with a module m.
func addModules(t *testing.T, w *acctest.Workspace) {
	t.Helper()
	folder := w.Command(t.Context(), nil).Dir
	const required = "terraform {\n  required_providers {\n    gpurent = { source = \"gpurent/gpurent\" }\n  }\n}\n"
	const nested = "module \"m\" {\n  source = \"../m\"\n}\n"
	for name, config := range map[string]string{"m": required + server("a"), "n": nested} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		w.Write(filepath.Join(name, "main.tf"), config)
	}
}

// setInstances changes all servers of the account as if they had changed outside Terraform.
func setInstances(patch simulator.InstancePatch) func(*testing.T, *acctest.Env, *acctest.Workspace) {
	return func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
		t.Helper()
		for _, saved := range acctest.SavedIn[struct{ ID string }](w, "gpurent_instance") {
			if err := env.SetInstance(saved.Attributes.ID, patch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// setMember changes the member of a fleet in a slot.
func setMember(slot string, patch simulator.InstancePatch) func(*testing.T, *acctest.Env, *acctest.Workspace) {
	return func(t *testing.T, env *acctest.Env, w *acctest.Workspace) {
		t.Helper()
		type fleet struct {
			Instances map[string]struct{ ID string }
		}
		for _, saved := range acctest.SavedIn[fleet](w, "gpurent_fleet") {
			if err := env.SetInstance(saved.Attributes.Instances[slot].ID, patch); err != nil {
				t.Fatal(err)
			}
		}
	}
}
