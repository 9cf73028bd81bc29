package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// story is a situation in which servers belong to one state, and a run with a CLI could take or destroy them. The rules
// are tested without a CLI in the packages of instances and fleets.
type story struct {
	*testing.T
	env   *acctest.Env
	kind  string             // "gpurent_instance", with a chosen key, or "gpurent_fleet"
	state *acctest.Workspace // of the first state, which has the servers
	ids   []string           // of its servers
}

// block returns the resource with an address, and the same key or name in every configuration.
func (s *story) block(name string) string {
	own := "idempotency_key = \"w\"\n  offer_query = {}"
	if s.kind == "gpurent_fleet" {
		own = "size = 2\n  offer_queries = [{}]"
	}
	return fmt.Sprintf("resource %q %q {\n  name = \"w\"\n  template = \"pytorch\"\n  disk_gb = 60\n  %s\n}\n",
		s.kind, name, own)
}

func (s *story) address(name string) string { return s.kind + "." + name }

// servers returns the ids of the billed servers.
func (s *story) servers() (ids []string) {
	acctest.List(s.env, "instances", func(inst struct{ ID string }) { ids = append(ids, inst.ID) })
	return slices.Sorted(slices.Values(ids))
}

// same fails the test unless the first state and its servers are as at the beginning.
func (s *story) same() {
	s.Helper()
	if now := s.servers(); !slices.Equal(now, s.ids) {
		s.Errorf("the servers are %v, want %v", now, s.ids)
	}
	s.state.Run("plan", "-detailed-exitcode", "-no-color")
}

// run runs a command that must succeed with all texts in its output, or fail if the first text is "!".
func (s *story) run(w *acctest.Workspace, command string, texts ...string) {
	s.Helper()
	output, err := w.Try(append(strings.Fields(command), "-no-color")...)
	fails := len(texts) > 0 && texts[0] == "!"
	if (err != nil) != fails {
		s.Fatalf("%s fails: %t\n%s", command, err != nil, output)
	}
	output = acctest.Words(acctest.WithoutFrame(output))
	for _, text := range texts {
		if !strings.Contains(output, text) && text != "!" {
			s.Errorf("%s: no %q in\n%s", command, text, output)
		}
	}
}

const (
	applyAll = "apply -auto-approve"
	taken    = "terraform state rm ADDRESS" // the advice for a server that another state has
	twice    = "is in the state twice"      // of two objects with one server
)

func TestAccOwnership(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, test := range map[string]struct {
		kind string
		run  func(s *story)
	}{
		"an instance copied to a second folder": {"gpurent_instance", func(s *story) {
			second := s.env.Workspace(s.env.Config(s.block("a")))
			s.run(second, applyAll, taken)
			s.run(second, "state rm "+s.address("a"))
			s.run(second, "destroy -auto-approve")
			s.same()
		}},
		"a fleet copied to a second folder": {"gpurent_fleet", func(s *story) {
			second := s.env.Workspace(s.env.Config(s.block("a")))
			s.run(second, applyAll, "1 added")
			s.run(second, "destroy -auto-approve")
			s.same()
		}},
		"create_before_destroy from a dependent whose provisioner fails": {"gpurent_instance", func(s *story) {
			config := func(provisioner string) string {
				return s.env.Config(s.block("a"), "resource \"terraform_data\" \"d\" {\n  input = \""+s.address("a")+
					"\"\n  lifecycle {\n    create_before_destroy = true\n    replace_triggered_by = ["+s.address("a")+
					"]\n  }\n  "+provisioner+"\n}\n")
			}
			s.state.Configure(config(""))
			s.run(s.state, applyAll)
			s.state.Configure(config("provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }"))
			s.run(s.state, applyAll+" -replace="+s.address("a"), "!", taken)
			s.run(s.state, "plan", "!", twice, "deposed", "import {")
			s.run(s.state, "destroy -auto-approve", "!", twice)
			// As in the message: remove both objects, and import the server again.
			s.run(s.state, "state rm "+s.address("a"))
			s.run(s.state, "import "+s.address("a")+" "+s.ids[0])
			s.state.Configure(config(""))
			s.run(s.state, applyAll)
			s.same()
		}},
		"one server imported twice": {"gpurent_instance", func(s *story) {
			s.state.Configure(s.env.Config(s.block("a"), s.block("b")))
			s.run(s.state, "import "+s.address("b")+" "+s.ids[0])
			s.run(s.state, "plan", "!", twice)
			// Even without a refresh, if the key is unknown at plan.
			key := "resource \"terraform_data\" \"key\" {\n  input = \"" + s.env.APIKey + "\"\n" +
				"  triggers_replace = timestamp()\n}\n"
			unknown := strings.Replace(s.env.Provider(), `"`+s.env.APIKey+`"`, "terraform_data.key.output", 1)
			s.state.Configure(unknown + s.block("a") + key)
			s.run(s.state, applyAll, "!", twice)
			s.run(s.state, "state rm "+s.address("b"))
			s.state.Configure(s.env.Config(s.block("a")))
			s.same()
		}},
		"the state of a fleet restored from a backup": {"gpurent_fleet", func(s *story) {
			backup := s.state.Read("terraform.tfstate")
			s.run(s.state, applyAll+" -replace="+s.address("a"))
			s.ids = s.servers()
			current := s.state.Read("terraform.tfstate")
			s.state.Write("terraform.tfstate", backup)
			// The replacement has other keys: its servers are named, and stay.
			s.run(s.state, applyAll, s.ids[0], s.ids[1], "unmanaged")
			s.run(s.state, "destroy -auto-approve")
			s.state.Write("terraform.tfstate", current)
			s.same()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{T: t, env: acctest.Start(t), kind: test.kind}
			s.env.AddSSHKey()
			s.state = s.env.Workspace(s.env.Config(s.block("a")))
			s.run(s.state, applyAll)
			s.ids = s.servers()
			test.run(s)
		})
	}
}
