package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// story is a situation in which a server belongs to one state, and a run could take or destroy it. It runs for an
// instance with a chosen key, whose server is young (recovered within recover_within) or old, and for a fleet with a
// random seed, whose servers can be of any age.
type story struct {
	*testing.T
	env   *acctest.Env
	kind  string // "gpurent_instance" or "gpurent_fleet"
	young bool
	state *acctest.Workspace // of the first state, which has the servers
	ids   []string           // of its servers
}

// block returns the resource with an address, and the same key or name in every configuration.
func (s *story) block(name string, arguments ...string) string {
	own := "idempotency_key = \"w\"\n  offer_query = {}"
	if s.kind == "gpurent_fleet" {
		own = "size = 2\n  offer_queries = [{}]"
	}
	return fmt.Sprintf("resource %q %q {\n  name = \"w\"\n  template = \"pytorch\"\n  disk_gb = 60\n  %s\n  %s\n}\n",
		s.kind, name, own, strings.Join(arguments, "\n  "))
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
	refused  = "Usual causes:"              // of a server that is not lost
	twice    = "is in the state twice"      // of two objects with one server
)

func TestAccOwnership(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, run := range map[string]func(s *story){
		"a configuration copied to a second folder, and destroyed there": func(s *story) {
			second := s.env.Workspace(s.env.Config(s.block("a")))
			switch {
			case s.kind == "gpurent_fleet":
				s.run(second, applyAll, "1 added")
			case s.young:
				s.run(second, applyAll, taken)
				s.run(second, "state rm "+s.address("a"))
			default:
				s.run(second, applyAll, "!", refused, "moved block")
			}
			s.run(second, "destroy -auto-approve")
			s.same()
		},
		"a resource renamed without a moved block, with -target first": func(s *story) {
			s.state.Configure(s.env.Config(s.block("b")))
			if s.kind == "gpurent_fleet" {
				s.run(s.state, applyAll+" -target="+s.address("b"), "1 added")
				s.state.Configure(s.env.Config(s.block("a")))
				s.run(s.state, applyAll, "1 destroyed")
				s.same()
				return
			}
			if !s.young {
				s.run(s.state, applyAll+" -target="+s.address("b"), "!", refused, "moved block")
				s.state.Configure(s.env.Config(s.block("a")))
				s.same()
				return
			}
			s.run(s.state, applyAll+" -target="+s.address("b"), taken)
			s.run(s.state, "plan", "!", twice, "state list -id=")
			s.run(s.state, applyAll+" -refresh=false", "!", twice)
			s.run(s.state, "state rm "+s.address("a"))
			s.same()
		},
		"create_before_destroy from a dependent whose provisioner fails": func(s *story) {
			dependent := "resource \"terraform_data\" \"d\" {\n  input = \"" + s.address("a") + "\"\n  lifecycle {\n" +
				"    create_before_destroy = true\n    replace_triggered_by = [" + s.address("a") + "]\n  }\n  %s\n}\n"
			s.state.Configure(s.env.Config(s.block("a"), fmt.Sprintf(dependent, "")))
			s.run(s.state, applyAll)
			s.state.Configure(s.env.Config(s.block("a"), fmt.Sprintf(dependent,
				"provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }")))
			replace := applyAll + " -replace=" + s.address("a")
			if s.kind == "gpurent_fleet" {
				s.run(s.state, replace, "!", "exit status 1")
				old := s.ids
				s.state.Configure(s.env.Config(s.block("a"), fmt.Sprintf(dependent, "")))
				s.run(s.state, applyAll)
				s.ids = s.servers()
				if len(s.ids) != 2 || slices.Contains(s.ids, old[0]) {
					s.Errorf("the servers are %v, before the replacement %v", s.ids, old)
				}
				s.same()
				return
			}
			if !s.young {
				s.run(s.state, replace, "!", refused, "create_before_destroy")
				s.state.Configure(s.env.Config(s.block("a"), fmt.Sprintf(dependent, "")))
				s.same()
				return
			}
			s.run(s.state, replace, "!", taken)
			s.run(s.state, "plan", "!", twice, "deposed", "import {")
			s.run(s.state, "destroy -auto-approve", "!", twice)
			// As in the message: remove both objects, and import the server again.
			s.run(s.state, "state rm "+s.address("a"))
			s.run(s.state, "import "+s.address("a")+" "+s.ids[0])
			s.state.Configure(s.env.Config(s.block("a"), fmt.Sprintf(dependent, "")))
			s.run(s.state, applyAll)
			s.same()
		},
		"one server imported twice": func(s *story) {
			id := s.ids[0]
			if s.kind == "gpurent_fleet" {
				id = "w"
			}
			s.state.Configure(s.env.Config(s.block("a"), s.block("b")))
			s.run(s.state, "import "+s.address("b")+" "+id)
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
		},
		"a state restored from a backup": func(s *story) {
			backup := s.state.Read("terraform.tfstate")
			s.run(s.state, applyAll+" -replace="+s.address("a"))
			s.ids = s.servers()
			s.wait()
			current := s.state.Read("terraform.tfstate")
			s.state.Write("terraform.tfstate", backup)
			switch {
			case s.kind == "gpurent_fleet": // the replacement has other keys: its servers are named, and stay
				s.run(s.state, applyAll, s.ids[0], s.ids[1], "unmanaged")
				s.run(s.state, "destroy -auto-approve")
				s.state.Write("terraform.tfstate", current)
				s.same()
				return
			case s.young:
				s.run(s.state, applyAll, taken, "Object no longer exists")
				s.same()
				return
			}
			s.run(s.state, applyAll, "!", refused, "import {")
			s.state.Write("terraform.tfstate", current)
			s.same()
		},
		"the address and the key of another service": func(s *story) {
			s.run(s.other(), "plan", "!", "in this account")
			s.run(s.other(), "destroy -auto-approve", "!", "in this account")
			s.run(s.other(), "destroy -auto-approve -refresh=false", "!", "in this account")
			s.same()
		},
	} {
		for _, kind := range []string{"gpurent_instance", "gpurent_fleet"} {
			for age, young := range map[string]bool{"young": true, "old": false} {
				if kind == "gpurent_fleet" && young {
					continue // their age makes no difference
				}
				t.Run(strings.Join([]string{name, kind, age}, ", "), func(t *testing.T) {
					t.Parallel()
					env := acctest.Start(t)
					env.AddSSHKey()
					s := &story{T: t, env: env, kind: kind, young: young}
					s.state = env.Workspace(env.Config(s.block("a")))
					s.run(s.state, applyAll)
					s.ids = s.servers()
					s.wait()
					run(s)
				})
			}
		}
	}
}

// wait lets the servers become as old as the story needs them.
func (s *story) wait() {
	if s.young {
		s.env.Advance(10 * time.Minute)
		return
	}
	s.env.Advance(2 * time.Hour)
}

// other returns a workspace with the first state, the address of a second service, and its key.
func (s *story) other() *acctest.Workspace {
	second := acctest.Start(s.T)
	w := second.Workspace(second.Config(s.block("a")))
	w.Write("terraform.tfstate", s.state.Read("terraform.tfstate"))
	return w
}
