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
	for _, name := range []string{"main.tf", "provider.tf", "ci/gpurent.sh", "ci/apply.sh", "ci/drift.sh"} {
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
	for _, name := range []string{"plan.yml", "apply.yml", "drift.yml"} {
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
	want := map[string]access{
		"check": {"pull_request", "", "", "", map[string]string{}},
		"plan": { // not for forks, which have no secrets
			"pull_request", "github.event.pull_request.head.repo.full_name == github.repository", "",
			"contents: read, pull-requests: write", map[string]string{"Init": state, "Plan": rental},
		},
		"apply": {
			"push, workflow_dispatch", "", "production", "contents: read, pull-requests: read",
			map[string]string{"Init": state, "Plan": rental, "Apply": rental},
		},
		"drift": {
			"schedule, workflow_dispatch", "", "", "contents: read, issues: write",
			map[string]string{"Init": state, "Check": rental},
		},
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

// Only ci/apply.sh applies, and it compares the plan with its review. Only a person who starts a run can skip that.
func TestCIGitHub_AppliesOnlyWhatTheReviewShowed(t *testing.T) {
	file := parseWorkflow(t, textOf(t, example(ciGitHub, ".github", "workflows", "apply.yml")))
	var steps []workflowStep
	for _, step := range file.Jobs["apply"].Steps {
		if strings.Contains(step.Run, "apply") || strings.Contains(step.Run, "reviewed") {
			step.Env = map[string]string{"REVIEWED": step.Env["REVIEWED"]}
			step.Name = ""
			steps = append(steps, step)
		}
	}
	want := []workflowStep{
		{
			If:  "inputs.unreviewed != true",
			Run: `sh ci/github.sh reviewed "$GITHUB_SHA" >reviewed.md`,
			Env: map[string]string{"REVIEWED": ""},
		},
		{Run: `exec sh ci/apply.sh "$REVIEWED"`, Env: map[string]string{
			"REVIEWED": "${{ inputs.unreviewed == true && '--unreviewed' || 'reviewed.md' }}",
		}},
	}
	if difference := cmp.Diff(want, steps); difference != "" {
		t.Errorf("the steps that apply should be (-) and are (+):\n%s", difference)
	}
	for _, name := range []string{"plan.yml", "drift.yml"} {
		if lines := linesWith(t, "apply", ciGitHub, ".github", "workflows", name); lines != nil {
			t.Errorf("%s applies: %q", name, lines)
		}
	}
}

// A pipeline can start in many ways: only a push and a person apply, and only a person without a review.
func TestCIGitLab_AppliesOnlyWhatTheReviewShowed(t *testing.T) {
	type rule struct{ If, When string }
	type job struct {
		Extends, Environment string
		Rules                []rule
		Script               []string
	}
	var file struct {
		Base       job `yaml:".apply"`
		Apply      job
		Unreviewed job `yaml:"apply-unreviewed"`
	}
	if err := yaml.Unmarshal([]byte(textOf(t, example(ciGitLab, ".gitlab-ci.yml"))), &file); err != nil {
		t.Fatal(err)
	}
	const branch = ` && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH`
	push, web := `$CI_PIPELINE_SOURCE == "push"`+branch, `$CI_PIPELINE_SOURCE == "web"`+branch
	want := file
	want.Base.Environment = "production"
	want.Apply = job{Extends: ".apply", Rules: []rule{{If: push}, {If: web}}, Script: []string{
		`sh ci/gitlab.sh reviewed "$CI_COMMIT_SHA" >reviewed.md`, "sh ci/apply.sh reviewed.md",
	}}
	want.Unreviewed = job{
		Extends: ".apply", Rules: []rule{{If: web, When: "manual"}}, Script: []string{"sh ci/apply.sh --unreviewed"},
	}
	if difference := cmp.Diff(want, file); difference != "" {
		t.Errorf("the jobs that apply should be (-) and are (+):\n%s", difference)
	}
	for word, want := range map[string][]string{
		"ci/apply.sh": {"sh ci/apply.sh reviewed.md", "sh ci/apply.sh --unreviewed"}, "$TF apply": nil, "$TF destroy": nil,
	} {
		if lines := linesWith(t, word, ciGitLab, ".gitlab-ci.yml"); !slices.Equal(lines, want) {
			t.Errorf("the lines with %s are %q, want %q", word, lines, want)
		}
	}
}

// The limit for what a plan adds fails the check only after the comment was written, so that people see the costs. Init
// installs no provider that the committed lock file does not have.
func TestCI_LimitFollowsTheCommentAndInitChangesNoLockFile(t *testing.T) {
	const workflows = ciGitHub + "/.github/workflows/"
	for file, comment := range map[string]string{
		workflows + "plan.yml": "sh ci/github.sh comment", ciGitLab + "/.gitlab-ci.yml": "sh ci/gitlab.sh note",
		workflows + "apply.yml": "", workflows + "drift.yml": "",
	} {
		_, after, found := strings.Cut(textOf(t, example(file)), comment)
		if comment != "" && (!found || !strings.Contains(after, `sh ci/gpurent.sh cost plan.json --max-added "$MAX_ADDED"`)) {
			t.Errorf("%s has no limit after the comment", file)
		}
		for _, line := range linesWith(t, "$TF init", file) {
			if !strings.Contains(line, " -lockfile=readonly") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}
