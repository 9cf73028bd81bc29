package handbook_test

import (
	"context"
	"net/http"
	"os"
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
	needs(t, "jq")
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

// refused plans and runs apply.sh, which must refuse the plan for this reason.
func (p *pipeline) refused(review, reason string) {
	p.t.Helper()
	p.must("$TF plan -out=saved.plan")
	output, err := p.script("sh ci/apply.sh " + review).run(p.t)
	p.printed.WriteString(output)
	if err == nil || !strings.Contains(acctest.Words(output), reason) {
		p.t.Fatalf("apply.sh ended with %v, want %q:\n%s", err, reason, output)
	}
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
		"export GPURENT_API_KEY=" + reader + "\nunset TF_VAR_run_key\n$TF plan -lock=false -out=saved.plan\nsh ci/costs.sh\n",
	)
	review := p.read("costs.md")
	if want := "| **per hour** | | **0,00 ₽** | **up to 90,00 ₽** |"; !strings.Contains(review, want) {
		t.Errorf("the costs have no %q:\n%s", want, review)
	}

	const notShown = "create gpurent_fleet.research"
	p.write("reviewed.md", "")
	p.refused("reviewed.md", notShown)
	p.refused("missing.md", "missing.md")
	p.refused("", "usage")
	p.write("reviewed.md", review)
	p.edit("main.tf", "max_price_kop_h = 9000 ", "max_price_kop_h = 15000 ")
	p.refused("reviewed.md", "the price cap is 15000 kopecks per hour, but 9000 in the review")
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

	// A costs.md of another plan does not help: apply.sh reads the plan itself.
	p.edit("main.tf", "size            = 1", "size            = 2")
	p.write("costs.md", review)
	p.refused("reviewed.md", "update gpurent_fleet.research: not in the review")
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
