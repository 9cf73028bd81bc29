package handbook_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const ciGitLab = "ci/gitlab"

// gitlabWorld is a project on GitLab, with the variables that the README says to set.
type gitlabWorld struct {
	*ciWorld
	api  *gitlabAPI
	runs int
	// lockTimeout is how long a job waits for the state.
	lockTimeout string
}

// start runs a pipeline as GitLab would, or the jobs of one that somebody starts by hand. It returns what each job has
// printed, and the error of the one that fails.
func (g *gitlabWorld) start(source string, request int, commit string, byHand ...string) (map[string]string, error) {
	g.t.Helper()
	r := newGitLabRunner(g.t, g.trial, g.repository, ".gitlab-ci.yml", map[string]string{`apk add --no-cache curl jq`: `command -v curl jq`})
	g.runs++
	branch := "main"
	if request != 0 {
		branch = "" // a pipeline of a merge request is of no branch
	}
	r.file.Variables["LOCK_TIMEOUT"] = g.lockTimeout
	r.given = func(job gitlabJob) map[string]string {
		all := map[string]string{
			"CI_API_V4_URL": g.api.url, "CI_PROJECT_ID": "1", "CI_JOB_ID": fmt.Sprint(g.runs), "CI_JOB_URL": "https://gitlab.test/jobs/1",
			"CI_JOB_TOKEN": developerToken, "CI_PIPELINE_SOURCE": source, "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BRANCH": branch,
			"CI_COMMIT_SHA": commit, "CI_MERGE_REQUEST_IID": fmt.Sprint(request), "GITLAB_TOKEN": botToken,
			"GPURENT_BASE_URL": g.service.BaseURL, "GPURENT_API_KEY": g.reader,
		}
		maps.Copy(all, g.settings)
		if job.Environment == "production" { // its variables take the place of the others, and a Maintainer has merged
			all["GPURENT_API_KEY"], all["CI_JOB_TOKEN"] = g.service.APIKey, maintainerToken
		}
		return all
	}
	if _, has := r.has(r.file.Workflow.Rules, gitlabJob{}); !has {
		g.t.Fatalf("no pipeline starts on %s", source)
	}
	err := r.pipeline(g.t.Context(), byHand...)
	if err != nil {
		err = fmt.Errorf("%w\n%v", err, r.printed)
	}
	g.keep(fmt.Sprintf("pipeline %d", g.runs), r.printed, r.project)
	return r.printed, err
}

// must runs a pipeline in which these jobs, and no others, succeed, and returns what they have printed.
func (g *gitlabWorld) must(source string, request int, commit string, jobs ...string) string {
	g.t.Helper()
	printed, err := g.start(source, request, commit)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, job := range jobs {
		if _, ran := printed[job]; !ran || len(printed) != len(jobs) {
			g.t.Fatalf("a pipeline of %s ran %v, want %v", source, printed, jobs)
		}
	}
	return fmt.Sprint(printed)
}

// fails runs a pipeline that fails with words that say why.
func (g *gitlabWorld) fails(source, commit, why string) {
	g.t.Helper()
	if _, err := g.start(source, 0, commit); err == nil || !strings.Contains(acctest.Words(err.Error()), why) {
		g.t.Fatalf("a pipeline of %s ended with %v, want %q", source, err, why)
	}
}

// costs holds the one note of a merge request against what is true.
func (g *gitlabWorld) costs(request int, now int64, later, removes string) {
	g.t.Helper()
	saysCosts(g.t, g.api.ours(request), now, later, removes)
}

// A project that somebody has taken over, for some days.
func TestNightlyCIGitLab(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	tr := newTrial(t)
	needs(t, "curl", "git", "jq")
	g := &gitlabWorld{ciWorld: newCIWorld(t, tr, ciGitLab), api: newGitLabAPI(t), lockTimeout: "1s"}

	// A merge request is planned, and its note updated; others have written there, one of them as if he were us.
	for n := range 120 {
		g.api.add("1", 99, fmt.Sprintf("remark %d", n))
	}
	g.api.add("1", 99, "<!-- gpurent costs -->\nfor nothing")
	g.edit("main.tf", "size            = 1", "size            = 2")
	g.must("merge_request_event", 1, "", "check", "plan")
	g.costs(1, 0, "180,00", "0,00")
	g.edit("main.tf", "size            = 2", "size            = 1")
	g.must("merge_request_event", 1, "", "check", "plan")
	g.costs(1, 0, "90,00", "0,00")

	// Names in the note are inert, and init changes no lock file.
	g.planOfHostileNames(func() []string {
		g.must("merge_request_event", 2, "", "check", "plan")
		return g.api.ours(2)
	})
	g.withAnotherLock(func() { g.fails("push", "unseen", readOnlyLock) })

	// Neither a push nor a pipeline by hand rents what no merge request has shown, or what costs more than it has shown.
	// What was merged is applied once.
	const notShown = "create module.pool.gpurent_instance.server"
	g.fails("push", "unseen", notShown)
	g.fails("web", "unseen", notShown)
	g.api.merged["first"] = 1
	g.edit("main.tf", "max_price_kop_h = 9000 ", "max_price_kop_h = 15000 ")
	g.fails("push", "first", "its price cap is 15000 kopecks an hour, the reviewed one 9000")
	g.edit("main.tf", "max_price_kop_h = 15000 ", "max_price_kop_h = 9000 ")
	if err := g.service.Left("instances", 0); err != nil {
		t.Fatal(err)
	}
	g.must("push", 0, "first", "apply")
	server := onlyServer(t, g.service)
	if said := g.must("push", 0, "first", "apply"); !strings.Contains(said, "No changes.") {
		t.Errorf("a second apply changes something:\n%s", said)
	}

	// A night in which the money ran out. By hand it is put right, once another run gives the state back.
	stopped, reason := "stopped", "low_balance"
	if err := g.service.SetInstance(server.ID, simulator.InstancePatch{Status: &stopped, DesiredState: &stopped, StopReason: &reason}); err != nil {
		t.Fatal(err)
	}
	g.fails("schedule", "", "exit status 2")
	g.api.hold([]byte(`{"ID":"another-run"}`))
	g.fails("web", "first", "Error acquiring the state lock")
	g.lockTimeout = "1m"
	time.AfterFunc(2*time.Second, func() { g.api.hold(nil) })
	g.must("web", 0, "first", "apply")
	g.must("schedule", 0, "", "drift")
	if got := onlyServer(t, g.service); got.ID != server.ID || got.Status != "running" {
		t.Errorf("server %+v, want %s, running", got, server.ID)
	}

	// Somebody decides to apply what no merge request has shown.
	g.edit("main.tf", "size            = 1", "size            = 2")
	g.fails("web", "unseen", notShown)
	if printed, err := g.start("web", 0, "unseen", "apply-unreviewed"); err != nil || len(printed) != 1 {
		t.Fatalf("%v, %v", printed, err)
	}
	if err := g.service.Left("instances", 2); err != nil {
		t.Error(err)
	}
	g.nothingLeaked(g.api.everWritten(), developerToken, maintainerToken, botToken)
}

// Only what the guard has seen is applied, or what somebody starts by hand. A pipeline can start in many ways.
func TestCIGitLab_AppliesOnlyWhatTheGuardHasSeen(t *testing.T) {
	const guarded, byHand = "guarded", "by hand"
	for source, want := range map[string]map[string]string{
		"push": {"apply": guarded}, "web": {"apply": guarded, "apply-unreviewed": byHand},
		"api": {}, "trigger": {}, "pipeline": {}, "parent_pipeline": {}, "schedule": {}, "chat": {}, "external": {},
		"webide": {}, "merge_request_event": {}, "external_pull_request_event": {}, "ondemand_dast_scan": {},
		"security_orchestration_policy": {}, "": {},
	} {
		for _, branch := range []string{"main", "another", ""} {
			r := newGitLabRunner(t, &trial{cli: "terraform"}, example(ciGitLab), ".gitlab-ci.yml", nil)
			r.given = func(gitlabJob) map[string]string {
				return map[string]string{"CI_PIPELINE_SOURCE": source, "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main"}
			}
			applies := map[string]string{}
			for name := range r.file.Jobs {
				job := r.job(name)
				when, has := r.has(job.Rules, job)
				guard := slices.Index(job.Script, "sh ci/guard.sh costs.md reviewed.md")
				apply := slices.IndexFunc(job.Script, func(line string) bool { return strings.Contains(line, "$TF apply") })
				switch {
				case strings.HasPrefix(name, ".") || !has || apply < 0:
				case when == "manual":
					applies[name] = byHand
				case guard >= 0 && guard < apply:
					applies[name] = guarded
				default:
					applies[name] = "unguarded"
				}
			}
			if branch != "main" {
				want = map[string]string{}
			}
			if !maps.Equal(applies, want) {
				t.Errorf("a pipeline of %q on branch %q applies by %v, want %v", source, branch, applies, want)
			}
		}
	}
}
