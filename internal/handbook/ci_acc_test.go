package handbook_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// readOnly is the key of the jobs that plan and check.
const readOnly = `{"name": "read", "scopes": ["instances:read", "billing:read", "user:read"]}`

// pipeline is a repository with the configuration and the scripts of the CI examples, and a simulator.
type pipeline struct {
	t       *testing.T
	service *acctest.Env
	folder  string
	env     map[string]string
	setup   *cliSetup
	home    string
	// steps are the commands of the steps of the workflow, by name.
	steps map[string]string
	// printed is the output of all scripts.
	printed strings.Builder
}

func newPipeline(t *testing.T, options ...acctest.Option) *pipeline {
	t.Helper()
	setup := newCLISetup(t)
	// The test is about the scripts. Quirks would exceed the limits of the example or change its plans.
	service := acctest.Start(t, append(options, acctest.WithoutQuirks("all"))...)
	p := &pipeline{t: t, setup: setup, home: setup.newHome(t), service: service, folder: t.TempDir()}
	checkout(t, example(ciGitHub), p.folder)
	if err := os.Remove(filepath.Join(p.folder, "backend.tf")); err != nil {
		t.Fatal(err)
	}
	write(t, "provider \"gpurent\" {\n  poll_interval = \"200ms\"\n}\n", p.folder, "provider_override.tf")
	file := parseWorkflow(t, textOf(t, example(ciGitHub, ".github", "workflows", "servers.yml")))
	p.steps = map[string]string{}
	for _, job := range []string{"plan", "apply"} {
		for _, step := range file.Jobs[job].Steps {
			p.steps[step.Name] = step.Run
		}
	}
	p.env = map[string]string{
		"TF_INPUT": "0", "MAX_ADDED": file.Env["MAX_ADDED"], "MAX_BURN": file.Env["MAX_BURN"],
		"GITHUB_OUTPUT": filepath.Join(p.folder, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(p.folder, "summary"),
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "research/servers", "GITHUB_RUN_ID": "1",
		"GPURENT_BASE_URL": service.BaseURL, "GPURENT_API_KEY": service.APIKey,
	}
	service.Post("ssh-keys", `{"name": "team", "public_key": "`+rentaltest.PublicKey+`"}`)
	p.must("$TF init")
	return p
}

func (p *pipeline) script(text string) script {
	return script{text: text, folder: p.folder, env: p.setup.environ(p.home, p.env)}
}

// must runs a script that must succeed and returns its output.
func (p *pipeline) must(text string) string {
	p.t.Helper()
	output := p.script(text).must(p.t)
	p.printed.WriteString(output)
	return output
}

// fails runs a script that must end with an exit status and print a text.
func (p *pipeline) fails(text string, want int, words string) {
	p.t.Helper()
	output, status := p.script(text).run(p.t)
	p.printed.WriteString(output)
	if status != want {
		p.t.Errorf("%s ended with %d, want %d", text, status, want)
	}
	expectWords(p.t, output, words)
}

// plan runs the job that plans with a key that can only read.
func (p *pipeline) plan() {
	p.t.Helper()
	for _, step := range []string{"Plan", "Costs", "Limits"} {
		p.must(p.steps[step])
	}
}

func (p *pipeline) read(name string) string { return textOf(p.t, filepath.Join(p.folder, name)) }

// serverIDs returns the ids of the rented servers.
func (p *pipeline) serverIDs() (ids []string) {
	p.t.Helper()
	acctest.List(p.service, "instances?limit=200", func(s struct{ ID string }) { ids = append(ids, s.ID) })
	return ids
}

// A plan with its costs, its limits, and an apply of this plan with another key. A plan that is no longer current is
// refused.
func TestAccCI_AppliesTheSavedPlan(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	p := newPipeline(t)
	own := p.service.APIKey
	reader := p.service.Secret(readOnly)
	p.env["GPURENT_API_KEY"] = reader
	p.plan()
	if want := "| **per hour** | | **0.00 ₽** | **up to 90.00 ₽ + disk** |"; !strings.Contains(p.read("summary"), want) {
		t.Errorf("the costs have no %q:\n%s", want, p.read("summary"))
	}
	if p.read("output") != "changes=true\n" {
		t.Errorf("the output of the step is %q", p.read("output"))
	}
	p.must("cp saved.plan first.plan")
	p.env["GPURENT_API_KEY"] = own
	p.must(p.steps["Apply"])
	ids := p.serverIDs()
	if len(ids) != 1 {
		t.Fatalf("the apply rented %v, want one server", ids)
	}
	p.must("rm output\n" + p.steps["Plan"] + "\ntest ! -e output") // nothing to approve
	p.must("cp first.plan saved.plan")
	p.fails(p.steps["Apply"], 1, "Saved plan is stale")

	// Two more servers exceed what a plan may add.
	p.must("sed 's/^  size .*/  size = 3/' main.tf >changed\nmv changed main.tf")
	p.must(p.steps["Plan"] + "\n" + p.steps["Costs"])
	p.fails(p.steps["Limits"], 3, "exceeds a limit")
	if now := p.serverIDs(); !slices.Equal(now, ids) {
		t.Errorf("the servers are %v, want %v", now, ids)
	}
	texts := map[string]string{
		"output":    p.printed.String(),
		"state":     p.read("terraform.tfstate"),
		"plan.json": p.read("plan.json"),
	}
	for _, secret := range []string{own, reader} {
		if err := acctest.Leak(secret, texts); err != nil {
			t.Error(err)
		}
	}
}

// An apply that is cancelled while its server boots keeps the server in the state and releases the lock.
func TestAccCI_CancelledApply(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	proxy := new(acctest.Proxy)
	proxy.Set(acctest.Request("POST", "/instances").Do(acctest.After(func(*http.Request) {
		// The provider gets the response to the create request and waits.
		proxy.Set(acctest.Request("GET", "/instances.*").Do(acctest.After(func(*http.Request) { cancel() })))
	})))
	p := newPipeline(t, proxy.Option(), func(c *simulator.Config) { c.Boot = 30 * time.Minute })
	p.must("$TF plan -out=saved.plan")
	output, status := p.script(p.steps["Apply"]).runUntil(ctx, t)
	if status == 0 {
		t.Error("the cancelled apply succeeds")
	}
	expectWords(t, output, "Interrupted while fleet")
	expectWords(t, p.must("$TF state list"), "gpurent_fleet.research")
	if _, err := os.Stat(filepath.Join(p.folder, ".terraform.tfstate.lock.info")); err == nil {
		t.Error("the state is still locked")
	}
	if err := p.service.Left("instances", 1); err != nil {
		t.Error(err)
	}
}

// The nightly check fails for a change of the next apply and for billed servers that no state contains.
// TestCIScripts_Drift has the other cases.
func TestAccCI_FindsDriftAndUnmanagedServers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	p := newPipeline(t)
	p.must("sh ci/gpurent.sh version\n" + p.steps["Plan"] + "\n" + p.steps["Apply"])
	p.env["GPURENT_API_KEY"] = p.service.Secret(readOnly)
	p.must("sh ci/drift.sh")
	p.must("cp terraform.tfstate before.tfstate\n$TF state rm gpurent_fleet.research")
	p.fails("sh ci/drift.sh", 3, "1 unmanaged server, ")
	// The state of another configuration contains the server.
	p.must("mkdir other\ncp -r *.tf .terraform* other\nmv before.tfstate other/terraform.tfstate\n" +
		"$TF -chdir=other show -json >other.json")
	p.fails("sh ci/drift.sh other.json", 2, "No unmanaged servers")
}
