package handbook_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
	trial   *cliSetup
	// printed is the output of all scripts.
	printed strings.Builder
}

func newPipeline(t *testing.T, options ...acctest.Option) *pipeline {
	t.Helper()
	setup := newCLISetup(t)
	// The test is about the scripts. Quirks would exceed the limits of the example or change its plans.
	withoutQuirks := acctest.WithoutQuirks("all")
	p := &pipeline{
		t:       t,
		trial:   setup,
		service: acctest.Start(t, append(options, withoutQuirks)...),
		folder:  filepath.Join(t.TempDir(), "servers"),
	}
	checkout(t, example(ciGitHub), p.folder)
	if err := os.Remove(filepath.Join(p.folder, "backend.tf")); err != nil {
		t.Fatal(err)
	}
	p.env = map[string]string{
		"TF":                   setup.cli,
		"TF_INPUT":             "0",
		"TF_VAR_poll_interval": "200ms",
		"LOCK_TIMEOUT":         "1s",
		"GPURENT_BASE_URL":     p.service.BaseURL,
		"GPURENT_API_KEY":      p.service.APIKey,
		"TF_VAR_run_key":       "apply 1",
	}
	p.must("$TF init")
	return p
}

func (p *pipeline) script(text string) script {
	return script{name: text, text: text, folder: p.folder, shell: []string{"sh", "-e"}, env: p.trial.environ(p.env)}
}

// must runs a script that must succeed and returns its output.
func (p *pipeline) must(text string) string {
	p.t.Helper()
	output := p.script(text).must(p.t)
	p.printed.WriteString(output)
	return output
}

// fails runs a script that must end with an exit status and print a text, and returns its output.
func (p *pipeline) fails(text string, status int, want string) string {
	p.t.Helper()
	output, err := p.script(text).run(p.t)
	p.printed.WriteString(output)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != status || !strings.Contains(acctest.Words(output), want) {
		p.t.Fatalf("%s ended with %v, want %d and %q:\n%s", text, err, status, want, output)
	}
	return output
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

func (p *pipeline) read(name string) string {
	p.t.Helper()
	return textOf(p.t, filepath.Join(p.folder, name))
}

func (p *pipeline) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// edit replaces a text of a file.
func (p *pipeline) edit(name, old, changed string) {
	p.t.Helper()
	before := p.read(name)
	after := strings.Replace(before, old, changed, 1)
	if after == before {
		p.t.Fatalf("%s has no %q", name, old)
	}
	p.write(name, after)
}

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
	if want := "| **per hour** | | **0,00 ₽** | **up to 90,00 ₽ + disk** |"; !strings.Contains(review, want) {
		t.Errorf("the costs have no %q:\n%s", want, review)
	}

	p.fails("sh ci/gpurent.sh cost plan.json --max-added 89.99", 3, "The plan exceeds `--max-added`")
	p.must("sh ci/gpurent.sh cost plan.json --max-added 90 --format json >costs.json")

	const notShown = "`gpurent_fleet.research`: create is not in the review"
	p.write("reviewed.md", "")
	p.refused("reviewed.md", 4, notShown)
	p.refused("missing.md", 1, "missing.md")
	p.refused("", 2, "usage")
	p.write("reviewed.md", review)
	p.edit("main.tf", "max_price_kop_h = 9000 ", "max_price_kop_h = 15000 ")
	p.refused("reviewed.md", 4, "the price cap is 15000 kopecks per hour, but 9000 in the review")
	p.edit("main.tf", "max_price_kop_h = 15000 ", "max_price_kop_h = 9000 ")
	if ids := p.serverIDs(); len(ids) > 0 {
		t.Fatalf("refused applies rented %v", ids)
	}

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
	p.edit("main.tf", "size            = 1", "size            = 2")
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
// key. The next run continues with the same server.
func TestAccCI_CancelledApplyContinues(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var rented atomic.Bool
	watch := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			switch instances := strings.Contains(r.URL.Path, "/instances"); {
			case instances && r.Method == http.MethodPost:
				rented.Store(true)
			case instances && rented.Load(): // the provider has the response to the create request and waits
				cancel()
			}
		})
	}
	p := newPipeline(t, acctest.WithWrap(watch), func(c *simulator.Config) { c.Boot = 30 * time.Minute })
	p.must("$TF plan -out=saved.plan")
	output, err := p.script("exec sh ci/apply.sh --unreviewed").runUntil(ctx, t)
	if err == nil || !strings.Contains(acctest.Words(output), "Interrupted while fleet") {
		t.Fatalf("the apply ended with %v:\n%s", err, output)
	}
	before := p.serverIDs()
	if _, err := os.Stat(filepath.Join(p.folder, ".terraform.tfstate.lock.info")); err == nil {
		t.Error("the state is still locked")
	}
	if err := p.service.Left("api-keys", 1); err != nil {
		t.Error(err)
	}
	p.service.Advance(time.Hour)
	output = p.apply("--unreviewed")
	if after := p.serverIDs(); !strings.Contains(output, "0 added, 1 changed, 0 destroyed") ||
		len(before) != 1 || !slices.Equal(before, after) {
		t.Errorf("the servers were %v and are %v:\n%s", before, after, output)
	}
}

// The nightly check writes what differs from the configuration, and the billed servers that no state contains.
func TestAccCI_FindsDriftAndUnmanagedServers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	p := newPipeline(t)
	p.fails("mv .terraform hidden\nsh ci/gpurent.sh version", 1, "run init first")
	p.must("mv hidden .terraform\nsh ci/gpurent.sh version\n$TF plan -out=saved.plan\nsh ci/apply.sh --unreviewed")
	delete(p.env, "TF_VAR_run_key")
	p.env["GPURENT_API_KEY"] = p.service.Secret(`{"name": "read", "scopes": ["instances:read", "billing:read"]}`)
	expectIssue := func(wanted ...string) {
		t.Helper()
		p.must("sh ci/drift.sh")
		issue := p.read("issue.md")
		for _, want := range wanted {
			if !strings.Contains(issue, want) {
				t.Errorf("the issue has no %q:\n%s", want, issue)
			}
		}
		if len(wanted) == 0 && issue != "" || strings.Contains(issue, "<!--") {
			t.Errorf("the issue is:\n%s", issue)
		}
	}
	expectIssue()

	p.must("cp terraform.tfstate before.tfstate\n$TF state rm gpurent_fleet.research")
	const unmanaged = "1 unmanaged server, "
	expectIssue("### Billed servers in no state", unmanaged, "| `gpurent_fleet.research` | create | 0,00 ₽ |")
	// The state of another configuration contains the server.
	p.must("mkdir other\ncp *.tf .terraform.lock.hcl other\nmv before.tfstate other/terraform.tfstate\n" +
		"$TF -chdir=other init\n$TF -chdir=other show -json >other.json\nsh ci/drift.sh other.json")
	if issue := p.read("issue.md"); strings.Contains(issue, unmanaged) {
		t.Errorf("with both states:\n%s", issue)
	}
	p.must("mv other/terraform.tfstate .")
	expectIssue()

	p.service.Post("instances/"+p.serverIDs()[0]+"/stop", "")
	p.service.Advance(time.Minute)
	expectIssue("### Server changes", "| `gpurent_fleet.research` | start |")
	p.env["GPURENT_API_KEY"] = "invalid"
	p.fails("sh ci/drift.sh", 1, "401")
}
