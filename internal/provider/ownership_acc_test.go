package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Situations that only a CLI brings about, in which a server could be destroyed or rented twice. The rules are tested
// without a CLI in the packages of instances and fleets.
func TestAccOwnership(t *testing.T) {
	acctest.FirstCLIOnly(t)
	for name, run := range map[string]func(s *story){
		"create_before_destroy from a dependent whose provisioner fails": deposedServer,
		"one server imported twice":                                      importedTwice,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := acctest.Start(t)
			env.AddSSHKey()
			s := &story{T: t, env: env, state: env.Workspace(env.Config(server("a")))}
			s.run(applyAll)
			ids := s.servers()
			run(s)
			if now := s.servers(); !slices.Equal(now, ids) {
				t.Errorf("the servers are %v, want %v", now, ids)
			}
			s.run("plan -detailed-exitcode")
		})
	}
}

// story is a state with a server.
type story struct {
	*testing.T
	env   *acctest.Env
	state *acctest.Workspace
}

// server returns a resource with the same key in every configuration.
func server(name string) string {
	return "resource \"gpurent_instance\" \"" + name + "\" {\n  template = \"pytorch\"\n  disk_gb = 60\n" +
		"  idempotency_key = \"w\"\n  offer_query = {}\n}\n"
}

// servers returns the ids of the billed servers.
func (s *story) servers() (ids []string) {
	acctest.List(s.env, "instances", func(inst struct{ ID string }) { ids = append(ids, inst.ID) })
	return ids
}

// run runs a command that must succeed with all texts in its output, or fail if the first text is "!".
func (s *story) run(command string, texts ...string) {
	s.Helper()
	output, err := s.state.Try(append(strings.Fields(command), "-no-color")...)
	fails := len(texts) > 0 && texts[0] == "!"
	if (err != nil) != fails {
		s.Fatalf("%s fails: %t\n%s", command, err != nil, output)
	}
	output = acctest.WithoutFrame(output)
	for _, text := range texts {
		if !strings.Contains(output, text) && text != "!" {
			s.Errorf("%s: no %q in\n%s", command, text, output)
		}
	}
}

const (
	address  = "gpurent_instance.a"
	applyAll = "apply -auto-approve"
	twice    = "is in the state twice" // of two objects with one server
)

func deposedServer(s *story) {
	config := func(provisioner string) string {
		return s.env.Config(server("a"), "resource \"terraform_data\" \"d\" {\n  input = \""+address+
			"\"\n  lifecycle {\n    create_before_destroy = true\n    replace_triggered_by = ["+address+
			"]\n  }\n  "+provisioner+"\n}\n")
	}
	s.state.Configure(config(""))
	s.run(applyAll)
	s.state.Configure(config("provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }"))
	s.run(applyAll+" -replace="+address, "!", "terraform state rm ADDRESS")
	s.run("plan", "!", twice, "deposed", "import {")
	s.run("destroy -auto-approve", "!", twice)
	// As in the message: remove both objects, and import the server again.
	s.run("state rm " + address)
	s.run("import " + address + " " + s.servers()[0])
	s.state.Configure(config(""))
	s.run(applyAll)
}

func importedTwice(s *story) {
	s.state.Configure(s.env.Config(server("a"), server("b")))
	s.run("import gpurent_instance.b " + s.servers()[0])
	s.run("plan", "!", twice)
	// Even without a refresh, if the key is unknown at plan.
	key := "resource \"terraform_data\" \"key\" {\n  input = \"" + s.env.APIKey + "\"\n" +
		"  triggers_replace = timestamp()\n}\n"
	unknown := strings.Replace(s.env.Provider(), `"`+s.env.APIKey+`"`, "terraform_data.key.output", 1)
	s.state.Configure(unknown + server("a") + key)
	s.run(applyAll, "!", twice)
	s.run("state rm gpurent_instance.b")
	s.state.Configure(s.env.Config(server("a")))
}
