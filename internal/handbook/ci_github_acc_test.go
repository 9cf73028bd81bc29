package handbook_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const ciGitHub = "ci/github-actions"

// githubWorld is a repository on GitHub, with the secrets that the README says to set.
type githubWorld struct {
	*ciWorld
	api   *githubAPI
	store *objectStore
	runs  int
	s3    bool // whether the CLI has the backend of the example
}

func newGitHubWorld(t *testing.T, tr *trial, options ...acctest.Option) *githubWorld {
	t.Helper()
	needs(t, "bash", "curl", "git", "jq")
	g := &githubWorld{ciWorld: newCIWorld(t, tr, ciGitHub, options...), api: newGitHubAPI(t), store: newObjectStore(t), s3: hasS3Backend(t, tr)}
	if !g.s3 {
		g.withoutS3()
	}
	return g
}

// event is what starts a workflow.
type event struct {
	name string
	pull int
	// commit is the merged one, fork says that the pull request comes from elsewhere.
	commit string
	fork   bool
	// unreviewed is the input of a run that is started by hand.
	unreviewed bool
}

// start runs a workflow as GitHub would for an event. It returns what the steps of each job have printed, and the error of
// the first job that fails.
func (g *githubWorld) start(ctx context.Context, name string, e event) (map[string]map[string]string, error) {
	g.t.Helper()
	var file workflow
	parseStrictly(g.t, filepath.Join(g.repository, ".github", "workflows", name), &file)
	if _, ok := file.On[e.name]; !ok {
		g.t.Fatalf("%s does not start on %s", name, e.name)
	}
	g.runs++
	printed, failed := map[string]map[string]string{}, error(nil)
	for _, id := range slices.Sorted(maps.Keys(file.Jobs)) {
		job := file.Jobs[id]
		known := g.expressions(e, file, job)
		r := newRunner(g.t, g.trial, g.repository, known, file, job)
		if !r.holds(job.If) {
			continue
		}
		maps.Copy(r.env, g.settings)
		maps.Copy(r.env, map[string]string{
			"TF": g.trial.cli, "GITHUB_API_URL": g.api.url, "GITHUB_SERVER_URL": "https://github.test", "GITHUB_REPOSITORY": aRepository,
			"GITHUB_RUN_ID": fmt.Sprint(g.runs), "GITHUB_SHA": e.commit, "GITHUB_EVENT_NAME": e.name,
		})
		if !g.s3 {
			r.prepare = func(env map[string]string) {
				if id := env["AWS_ACCESS_KEY_ID"]; id != "" {
					maps.Copy(env, g.store.httpBackend(id, env["AWS_SECRET_ACCESS_KEY"]))
				}
			}
		}
		if r.env["LOCK_TIMEOUT"] != "" {
			r.env["LOCK_TIMEOUT"] = "1s" // nobody here gives a lock back
		}
		err := r.run(ctx, job)
		printed[id] = r.printed
		g.keep(fmt.Sprintf("run %d, %s", g.runs, id), r.printed, r.workspace)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w\n%v", id, err, r.printed)
		}
	}
	return printed, failed
}

// expressions are what a job may refer to: a fork has no secrets, and the environment's take the place of the repository's.
func (g *githubWorld) expressions(e event, file workflow, job workflowJob) map[string]string {
	permissions := job.Permissions
	if permissions == nil {
		permissions = file.Permissions
	}
	known := map[string]string{
		"github.token": g.api.token(permissions), "github.run_id": fmt.Sprint(g.runs), "github.event_name": e.name, "github.repository": aRepository,
		"github.event.pull_request.head.repo.full_name": aRepository, "github.event.pull_request.number": fmt.Sprint(e.pull),
		"inputs.unreviewed":     map[bool]string{true: "true"}[e.unreviewed],
		"vars.GPURENT_BASE_URL": g.service.BaseURL, "vars.STATE_URL": g.store.url,
		"secrets.GPURENT_API_KEY": g.reader, "secrets.STATE_KEY_ID": storeReader, "secrets.STATE_KEY": storeReaderSecret,
	}
	if job.Environment == "production" {
		maps.Copy(known, map[string]string{
			"secrets.GPURENT_API_KEY": g.service.APIKey, "secrets.STATE_KEY_ID": storeWriter, "secrets.STATE_KEY": storeWriterSecret,
		})
	}
	if e.fork {
		known["github.event.pull_request.head.repo.full_name"] = "somebody/servers"
		for _, name := range []string{"GPURENT_API_KEY", "STATE_KEY_ID", "STATE_KEY"} {
			known["secrets."+name] = ""
		}
	}
	return known
}

// must starts a workflow that succeeds, and returns what its jobs have printed, in one.
func (g *githubWorld) must(name string, e event) string {
	g.t.Helper()
	printed, err := g.start(g.t.Context(), name, e)
	if err != nil {
		g.t.Fatal(err)
	}
	return fmt.Sprint(printed)
}

// fails starts a workflow that fails with words that say why.
func (g *githubWorld) fails(name string, e event, why string) {
	g.t.Helper()
	if _, err := g.start(g.t.Context(), name, e); err == nil || !strings.Contains(acctest.Words(err.Error()), why) {
		g.t.Fatalf("%s ended with %v, want %q", name, err, why)
	}
}

// A repository that somebody has taken over, for some days. It runs with every CLI,
// because the CLIs can differ in their backends.
func TestNightlyCIGitHub(t *testing.T) {
	t.Parallel()
	g := newGitHubWorld(t, newTrial(t))
	byHand, night := event{name: "workflow_dispatch", commit: "first"}, event{name: "schedule"}

	// A stranger's pull request is checked, without secrets. A colleague's is planned, and its comment updated.
	g.api.chat(t, 1)
	if printed, err := g.start(t.Context(), "plan.yml", event{name: "pull_request", pull: 1, fork: true}); err != nil || len(printed) != 1 || len(g.api.ours(1)) > 0 {
		t.Fatalf("a fork got %v: %v", printed, err)
	}
	g.edit("main.tf", "size            = 1", "size            = 2")
	g.must("plan.yml", event{name: "pull_request", pull: 1})
	g.costs(1, 0, "180,00", "0,00")
	g.edit("main.tf", "size            = 2", "size            = 1")
	g.must("plan.yml", event{name: "pull_request", pull: 1})
	g.costs(1, 0, "90,00", "0,00")

	// Names in the comment are inert, and init changes no lock file.
	g.planOfHostileNames(func() []string {
		g.must("plan.yml", event{name: "pull_request", pull: 3})
		return g.api.ours(3)
	})
	g.withAnotherLock(func() { g.fails("plan.yml", event{name: "pull_request", pull: 3}, readOnlyLock) })

	// What was merged is applied, once, by a key of the run's own. A push that no pull request has shown rents nothing.
	// Neither does a run by hand that does not say so, nor a push whose servers cost more than their review has shown.
	const notShown = "create module.pool.gpurent_instance.server"
	g.fails("apply.yml", event{name: "push", commit: "unseen"}, notShown)
	g.fails("apply.yml", event{name: "workflow_dispatch", commit: "unseen"}, notShown)
	g.api.merged["first"] = 1
	g.edit("main.tf", "max_price_kop_h = 9000 ", "max_price_kop_h = 15000 ")
	g.fails("apply.yml", event{name: "push", commit: "first"}, "its price cap is 15000 kopecks an hour, the reviewed one 9000")
	g.edit("main.tf", "max_price_kop_h = 15000 ", "max_price_kop_h = 9000 ")
	g.edit("main.tf", "num_gpus = [1]", "num_gpus = [1, 2]")
	g.fails("apply.yml", event{name: "push", commit: "first"}, "the review has shown another offer_query")
	g.edit("main.tf", "num_gpus = [1, 2]", "num_gpus = [1]")
	if n := g.service.Left("instances", 0); n != nil {
		t.Fatal(n)
	}
	g.must("apply.yml", event{name: "push", commit: "first"})
	server := onlyServer(t, g.service)
	if rented := g.service.Requests(); slices.ContainsFunc(rented, func(r simulator.Request) bool {
		return r.Method == http.MethodPost && r.Path == "/instances" && r.KeyID == g.service.OwnKeyID()
	}) {
		t.Error("the pipeline's own key has rented")
	}
	if said := g.must("apply.yml", event{name: "push", commit: "first"}); !strings.Contains(said, "No changes.") {
		t.Errorf("a second apply changes something:\n%s", said)
	}

	// The next pull request knows what the server really costs.
	g.edit("main.tf", "size            = 1", "size            = 1\n  desired_state   = \"stopped\"")
	g.must("plan.yml", event{name: "pull_request", pull: 2})
	g.costs(2, server.Price.RunningKopH, rub(server.Price.StoppedKopH), rub(server.Price.RunningKopH-server.Price.StoppedKopH))
	g.edit("main.tf", "\n  desired_state   = \"stopped\"", "")

	// Nights: a server was stopped, and still is. Then an apply by hand, and the issue is closed.
	stopped := "stopped"
	if err := g.service.SetInstance(server.ID, simulator.InstancePatch{Status: &stopped, DesiredState: &stopped}); err != nil {
		t.Fatal(err)
	}
	g.fails("drift.yml", night, "exit status 2")
	g.fails("drift.yml", night, "exit status 2")
	if len(g.api.issues) != 1 || g.api.issues[0].State != "open" || !strings.Contains(g.api.issues[0].Body, "| start | "+rub(server.Price.StoppedKopH)+" ₽ | "+rub(server.Price.RunningKopH)+" ₽ |") {
		t.Fatalf("issues %+v", g.api.issues)
	}
	g.must("apply.yml", byHand)
	g.must("drift.yml", night)
	if len(g.api.issues) != 1 || g.api.issues[0].State != "closed" || onlyServer(t, g.service).ID != server.ID {
		t.Errorf("issues %+v, and the server was %s", g.api.issues, server.ID)
	}

	// A lock that a dead run has left.
	g.store.put("/example-terraform-state/research.tfstate.tflock", []byte(`{"ID":"dead-run","Who":"runner"}`))
	g.fails("apply.yml", byHand, "Error acquiring the state lock")
	g.nothingLeaked(g.store.written(), storeReaderSecret, storeWriterSecret)
}

// costs holds what the one comment of a pull request says against what is true: what the servers cost now, kopecks per
// hour, and in rubles what they may cost afterwards, how much of it is more, and how much goes.
func (g *githubWorld) costs(pull int, now int64, later, removes string) {
	g.t.Helper()
	saysCosts(g.t, g.api.ours(pull), now, later, removes)
}

// A job that is cancelled while its server boots loses nothing, and the next run goes on with the same server.
func TestNightlyCIGitHubCancelled(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	g := newGitHubWorld(t, newTrial(t), func(c *simulator.Config) { c.Boot = 30 * time.Minute })
	byHand := event{name: "workflow_dispatch", unreviewed: true}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g.onRent = func() {
		// The request is answered first.
		time.AfterFunc(500*time.Millisecond, cancel)
	}
	_, err := g.start(ctx, "apply.yml", byHand)
	if err == nil || !strings.Contains(acctest.Words(err.Error()), "Interrupted while instance") {
		t.Fatalf("it ended with %v", err)
	}
	server := onlyServer(t, g.service)
	if names := g.store.names(); len(names) != 1 || !strings.HasSuffix(names[0], "research.tfstate") {
		t.Errorf("the store has %v: want the state, and no lock", names)
	}
	if err := g.service.Left("api-keys", 2); err != nil {
		t.Error(err)
	}
	g.service.Advance(time.Hour) // meanwhile it boots
	if said := g.must("apply.yml", byHand); !strings.Contains(said, "0 added, 0 changed, 0 destroyed") || onlyServer(t, g.service).ID != server.ID {
		t.Errorf("the next run did not go on with %s:\n%s", server.ID, said)
	}
}

// What the README says to ask of a store tells one that locks from one that does not.
func TestCIGitHubAsksTheStore(t *testing.T) {
	needs(t, "bash", "curl")
	content, err := os.ReadFile(example(ciGitHub, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	snippets := blocks(t, string(content))
	if len(snippets) != 1 || snippets[0].language != "sh" {
		t.Fatalf("snippets %v: want one, of shell", snippets)
	}
	store := newObjectStore(t)
	printed := script{
		name: "the README", text: snippets[0].text, folder: t.TempDir(), shell: []string{"bash", "-eu"},
		env: append(os.Environ(), "NO_PROXY=127.0.0.1", "AWS_ENDPOINT_URL_S3="+store.url, "AWS_ACCESS_KEY_ID="+storeWriter, "AWS_SECRET_ACCESS_KEY="+storeWriterSecret),
	}.must(t)
	if printed != "200 412 " {
		t.Errorf("it prints %q", printed)
	}
}

// A key is only in the steps that need it: what the others download and run cannot read it. TestWorkflowsAreSafe checks
// that no job has one.
func TestCIGitHub_KeysAreInTheStepsThatNeedThem(t *testing.T) {
	const state, rental = "STATE_KEY STATE_KEY_ID", "GPURENT_API_KEY STATE_KEY STATE_KEY_ID"
	for name, want := range map[string]map[string]string{
		"plan.yml":  {"Init": state, "Plan": rental},
		"apply.yml": {"Init": state, "Plan": rental, "Apply": rental},
		"drift.yml": {"Init": state, "Plan": rental},
	} {
		var file workflow
		parseStrictly(t, example(ciGitHub, ".github", "workflows", name), &file)
		got := map[string]string{}
		for _, job := range file.Jobs {
			for n, step := range job.Steps {
				var secrets []string
				for _, value := range step.Env {
					if secret := aSetting.FindStringSubmatch(value); secret != nil && strings.Contains(value, "secrets.") {
						secrets = append(secrets, secret[1])
					}
				}
				if slices.Sort(secrets); secrets != nil {
					got[cmp.Or(step.Name, fmt.Sprint("step ", n))] = strings.Join(secrets, " ")
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: steps have the secrets %v, want %v", name, got, want)
		}
	}
}

// Only what the guard has seen is applied, or what somebody asks for by hand.
func TestCIGitHub_AppliesOnlyWhatTheGuardHasSeen(t *testing.T) {
	var file workflow
	parseStrictly(t, example(ciGitHub, ".github", "workflows", "apply.yml"), &file)
	if events := slices.Sorted(maps.Keys(file.On)); !slices.Equal(events, []string{"push", "workflow_dispatch"}) {
		t.Errorf("it applies on %v", events)
	}
	steps := file.Jobs["apply"].Steps
	step := func(command string) int {
		return slices.IndexFunc(steps, func(s workflowStep) bool { return strings.Contains(s.Run, command) })
	}
	guard, apply := step("sh ci/guard.sh costs.md reviewed.md"), step("$TF apply")
	if guard < 0 || guard >= apply || steps[guard].If != "inputs.unreviewed != true" || len(file.Jobs) != 1 {
		t.Errorf("the guard is step %d and the apply step %d of %+v", guard, apply, steps)
	}
}

// A provider that is not in the committed lock file is not installed.
func TestCI_InitChangesNoLockFile(t *testing.T) {
	found := 0
	for _, file := range []string{
		ciGitHub + "/.github/workflows/plan.yml", ciGitHub + "/.github/workflows/apply.yml",
		ciGitHub + "/.github/workflows/drift.yml", ciGitLab + "/.gitlab-ci.yml",
	} {
		for line := range strings.Lines(textOf(t, example(file))) {
			if !strings.Contains(line, "$TF init") {
				continue
			}
			found++
			if !strings.Contains(line, " -lockfile=readonly") {
				t.Errorf("%s: %s", file, strings.TrimSpace(line))
			}
		}
	}
	if found != 8 {
		t.Errorf("%d lines with init were found, want 8", found)
	}
}

// The commit of the module in the examples is one of this repository, and has the module.
func TestCI_ModulePinExists(t *testing.T) {
	commit := pinnedModule(t, ciGitHub)
	git := func(arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), "git", arguments...)
		command.Dir = acctest.Root()
		output, err := command.CombinedOutput()
		return strings.TrimSpace(string(output)), err
	}
	if shallow, err := git("rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		t.Skipf("this tree has no complete history: %s, %v", shallow, err)
	}
	if output, err := git("cat-file", "-e", commit+":examples/"+poolFolder+"/main.tf"); err != nil {
		t.Errorf("%s: %v, %s", commit, err, output)
	}
	if !strings.Contains(textOf(t, example(poolFolder, "README.md")), "?ref="+commit+`"`) {
		t.Error("the README of the module names another commit")
	}
}
