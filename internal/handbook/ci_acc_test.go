package handbook_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// pipeline is a repository with the configuration and the scripts of the CI examples, and a simulator.
type pipeline struct {
	t       *testing.T
	service *acctest.Env
	folder  string
	env     map[string]string
	setup   *cliSetup
	home    string
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
	p.env = map[string]string{
		"TF_INPUT": "0", "LOCK_TIMEOUT": "1s", "TF_VAR_run_key": "apply 1",
		"GPURENT_BASE_URL": service.BaseURL, "GPURENT_API_KEY": service.APIKey,
	}
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

// refused plans and runs apply.sh, which must refuse the plan for this reason.
func (p *pipeline) refused(review string, status int, reason string) {
	p.t.Helper()
	p.must("$TF plan -out=saved.plan")
	p.fails("sh ci/apply.sh "+review, status, reason)
}

// apply plans, and applies what the review showed.
func (p *pipeline) apply(review string) string {
	p.t.Helper()
	return p.must("$TF plan -out=saved.plan\nsh ci/apply.sh " + review)
}

func (p *pipeline) read(name string) string { return textOf(p.t, filepath.Join(p.folder, name)) }

// serverIDs returns the ids of the rented servers.
func (p *pipeline) serverIDs() (ids []string) {
	p.t.Helper()
	acctest.List(p.service, "instances?limit=200", func(s struct{ ID string }) { ids = append(ids, s.ID) })
	return ids
}

// A change from the review with its costs to an apply, which refuses what the review did not show.
func TestAccCI_AppliesOnlyReviewedChanges(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	p := newPipeline(t)
	reader := p.service.Secret(`{"name": "plan", "scopes": ["instances:read", "billing:read"]}`)
	p.must(
		"export GPURENT_API_KEY=" + reader + "\nunset TF_VAR_run_key\n$TF plan -lock=false -out=saved.plan\n" +
			"$TF show -json saved.plan >plan.json\nsh ci/gpurent.sh cost plan.json --format markdown >costs.md\n",
	)
	review := p.read("costs.md")
	if want := "| **per hour** | | **0.00 ₽** | **up to 90.00 ₽ + disk** |"; !strings.Contains(review, want) {
		t.Errorf("the costs have no %q:\n%s", want, review)
	}

	const notShown = "`gpurent_fleet.research`: create is not in the review"
	write(t, "", p.folder, "reviewed.md")
	p.refused("reviewed.md", 4, notShown)
	p.refused("missing.md", 1, "missing.md")
	p.refused("", 2, "usage")
	if ids := p.serverIDs(); len(ids) > 0 {
		t.Fatalf("refused applies rented %v", ids)
	}

	write(t, review, p.folder, "reviewed.md")
	p.apply("reviewed.md")
	if ids := p.serverIDs(); len(ids) != 1 {
		t.Fatalf("the apply rented %v, want one server", ids)
	}
	if slices.ContainsFunc(p.service.Requests(), func(r simulator.Request) bool {
		return r.Method == http.MethodPost && r.Path == "/instances" && r.KeyID == p.service.OwnKeyID()
	}) {
		t.Error("the pipeline's own key has rented: want the key of the run")
	}
	if output := p.apply("reviewed.md"); !strings.Contains(output, "No changes.") {
		t.Errorf("a second apply changes something:\n%s", output)
	}

	// A plan.json of another plan does not help: apply.sh reads the plan itself.
	p.must("sed 's/^  size .*/  size = 2/' main.tf >changed\nmv changed main.tf")
	p.refused("reviewed.md", 4, "`gpurent_fleet.research`: scale is not in the review")
	p.apply("--unreviewed")
	if ids := p.serverIDs(); len(ids) != 2 {
		t.Errorf("the apply without a review has left the servers %v, want two", ids)
	}
	texts := map[string]string{
		"output":    p.printed.String(),
		"state":     p.read("terraform.tfstate"),
		"plan.json": p.read("plan.json"),
	}
	for _, secret := range []string{p.service.APIKey, reader} {
		if err := acctest.Leak(secret, texts); err != nil {
			t.Error(err)
		}
	}
	if err := p.service.Left("api-keys", 2); err != nil { // the pipeline's and the reader's
		t.Error(err)
	}
}

// An apply that is cancelled while its server boots keeps the server in the state, releases the lock and revokes its
// key.
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
	output, status := p.script("exec sh ci/apply.sh --unreviewed").runUntil(ctx, t)
	if status == 0 {
		t.Error("the cancelled apply succeeds")
	}
	expectWords(t, output, "Interrupted while fleet")
	expectWords(t, p.must("$TF state list"), "gpurent_fleet.research")
	if _, err := os.Stat(filepath.Join(p.folder, ".terraform.tfstate.lock.info")); err == nil {
		t.Error("the state is still locked")
	}
	if err := errors.Join(p.service.Left("instances", 1), p.service.Left("api-keys", 1)); err != nil {
		t.Error(err)
	}
}

// The nightly check writes what differs from the configuration, and the billed servers that no state contains.
// TestCIScripts_Drift has the other cases.
func TestAccCI_FindsDriftAndUnmanagedServers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	p := newPipeline(t)
	p.must("sh ci/gpurent.sh version\n$TF plan -out=saved.plan\nsh ci/apply.sh --unreviewed")
	delete(p.env, "TF_VAR_run_key")
	p.env["GPURENT_API_KEY"] = p.service.Secret(`{"name": "read", "scopes": ["instances:read", "billing:read"]}`)
	p.must("sh ci/drift.sh")
	if issue := p.read("issue.md"); issue != "" {
		t.Errorf("without a difference the issue is:\n%s", issue)
	}

	p.must("cp terraform.tfstate before.tfstate\n$TF state rm gpurent_fleet.research\nsh ci/drift.sh")
	const unmanaged = "1 unmanaged server, "
	expectWords(t, p.read("issue.md"), "### Billed servers that no state tracks", unmanaged, "### Server changes",
		"| `gpurent_fleet.research` | create | 0.00 ₽ |")
	// The state of another configuration contains the server.
	p.must("mkdir other\ncp -r *.tf .terraform* other\nmv before.tfstate other/terraform.tfstate\n" +
		"$TF -chdir=other show -json >other.json\nsh ci/drift.sh other.json")
	if issue := p.read("issue.md"); strings.Contains(issue, unmanaged) || strings.Contains(issue, "<!--") {
		t.Errorf("with both states:\n%s", issue)
	}
}
