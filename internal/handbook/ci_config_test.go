package handbook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml "github.com/oasdiff/yaml3"
)

// The two examples have the same configuration and the same scripts, so that one set of tests covers both.
func TestCI_ExamplesAgree(t *testing.T) {
	for _, name := range []string{"main.tf", "provider.tf", "ci/gpurent.sh", "ci/drift.sh"} {
		if textOf(t, example(ciGitHub, name)) != textOf(t, example(ciGitLab, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// access is what a job of GitHub Actions may do, with the secrets of its steps, by name.
type access struct {
	On, If, Environment, Permissions string
	Secrets                          map[string]string
}

// Only the job that applies has the secrets of the environment, each token can write only what its job writes, and a
// secret is only in the steps that need it: other steps, and what they download, cannot read it. TestWorkflows_Safe
// checks that no workflow or job has a secret for all steps.
func TestCIGitHub_JobsHaveOnlyTheAccessThatTheyNeed(t *testing.T) {
	const state, rental = "STATE_KEY STATE_KEY_ID", "GPURENT_API_KEY STATE_KEY STATE_KEY_ID"
	got := map[string]access{}
	for _, name := range []string{"servers.yml", "drift.yml"} {
		file := parseWorkflow(t, textOf(t, example(ciGitHub, ".github", "workflows", name)))
		for id, job := range file.Jobs {
			secrets := map[string]string{}
			for _, step := range job.Steps {
				var names []string
				for _, value := range step.Env {
					if setting := settingReference.FindStringSubmatch(value); setting != nil && setting[1] == "secrets" {
						names = append(names, setting[2])
					}
				}
				if slices.Sort(names); names != nil {
					secrets[step.Name] = strings.Join(names, " ")
				}
			}
			got[id] = access{sorted(file.On), job.If, job.Environment, sorted(job.Permissions), secrets}
		}
	}
	const events, notPull = "pull_request, push, workflow_dispatch", "github.event_name != 'pull_request'"
	want := map[string]access{
		"check": {events, "github.event_name == 'pull_request'", "", "", map[string]string{}},
		"plan": { // not for forks, which have no secrets
			events, notPull + " || github.event.pull_request.head.repo.full_name == github.repository", "",
			"contents: read, pull-requests: write", map[string]string{"Init": state, "Plan": rental},
		},
		"apply": {
			events, "needs.plan.outputs.changes && " + notPull, "production", "",
			map[string]string{"Init": state, "Apply": rental},
		},
		"drift": {"schedule, workflow_dispatch", "", "", "", map[string]string{"Init": state, "Check": rental}},
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("the jobs should have (-) and have (+):\n%s", difference)
	}
}

// sorted returns the names of a map with their values, unless these are settings of an event.
func sorted[V any](values map[string]V) string {
	var all []string
	for name, value := range values {
		if text, ok := any(value).(string); ok {
			name += ": " + text
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// linesWith returns the lines of a file of the examples that contain a word outside of comments.
func linesWith(t *testing.T, word string, path ...string) (found []string) {
	t.Helper()
	for line := range strings.Lines(textOf(t, example(path...))) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "# ")
		if strings.Contains(line, word) {
			found = append(found, strings.TrimPrefix(line, "- "))
		}
	}
	return found
}

// Both pipelines apply only the plan of the same run, after the limits and with the environment, and a pull request
// applies nothing. Init installs no provider that the committed lock file does not have.
func TestCI_AppliesOnlyTheSavedPlan(t *testing.T) {
	const limits = `sh ci/gpurent.sh cost plan.json --max-added "$MAX_ADDED" --max-burn "$MAX_BURN"`
	const workflows = ciGitHub + "/.github/workflows/"
	for file, want := range map[string][]string{
		workflows + "servers.yml": {"run: exec $TF apply -lock-timeout=5m saved.plan"}, workflows + "drift.yml": nil,
		ciGitLab + "/.gitlab-ci.yml": {"$TF apply -lock-timeout=5m saved.plan"},
	} {
		if lines := linesWith(t, "$TF apply", file); !slices.Equal(lines, want) {
			t.Errorf("%s applies with %q, want %q", file, lines, want)
		}
		for _, line := range linesWith(t, "$TF init", file) {
			if !strings.Contains(line, " -lockfile=readonly") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
	file := parseWorkflow(t, textOf(t, example(workflows+"servers.yml")))
	var runs []string
	for _, step := range file.Jobs["plan"].Steps {
		runs = append(runs, step.Run)
	}
	comment, limit := slices.Index(runs, `sh ci/comment.sh "$PULL" costs.md`), slices.Index(runs, limits)
	if comment < 0 || limit < comment {
		t.Errorf("the limits do not follow the comment, which shows the costs: %q", runs)
	}
	if apply := file.Jobs["apply"]; apply.Needs != "plan" || apply.Environment != "production" {
		t.Errorf("the job is %+v", apply)
	}
}

// A pipeline of GitLab can start in many ways: only a push and a person lead to a job that applies, and only a person
// starts that job.
func TestCIGitLab_WaitsForAPerson(t *testing.T) {
	type rule struct{ If, When string }
	type job struct {
		Environment string
		Needs       []string
		Rules       []rule
	}
	var file struct{ Plan, Apply job }
	if err := yaml.Unmarshal([]byte(textOf(t, example(ciGitLab, ".gitlab-ci.yml"))), &file); err != nil {
		t.Fatal(err)
	}
	const branch = ` && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH`
	push, web := `$CI_PIPELINE_SOURCE == "push"`+branch, `$CI_PIPELINE_SOURCE == "web"`+branch
	want := file
	want.Plan = job{Rules: []rule{{If: push}, {If: web}}}
	want.Apply = job{
		Environment: "production", Needs: []string{"plan"},
		Rules: []rule{{If: push, When: "manual"}, {If: web, When: "manual"}},
	}
	if difference := cmp.Diff(want, file); difference != "" {
		t.Errorf("the jobs should be (-) and are (+):\n%s", difference)
	}
}
