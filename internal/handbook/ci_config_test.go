package handbook_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// parseYAML decodes a file of the examples.
func parseYAML(t *testing.T, into any, path ...string) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(textOf(t, example(path...))), into); err != nil {
		t.Fatalf("%v: %v", path, err)
	}
}

func githubWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	var file workflow
	parseYAML(t, &file, ciGitHub, ".github", "workflows", name)
	return file
}

// The two examples have the same configuration and the same scripts, so that one set of tests covers both.
func TestCI_ExamplesAgree(t *testing.T) {
	for _, name := range []string{"main.tf", "provider.tf", "ci/gpurent.sh", "ci/apply.sh", "ci/drift.sh"} {
		if textOf(t, example(ciGitHub, name)) != textOf(t, example(ciGitLab, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// A secret is only in the steps that need it: other steps, and what they download, cannot read it. TestWorkflowsAreSafe
// checks that no job has a secret.
func TestCIGitHub_SecretsAreInTheStepsThatNeedThem(t *testing.T) {
	const state, rental = "STATE_KEY STATE_KEY_ID", "GPURENT_API_KEY STATE_KEY STATE_KEY_ID"
	for name, want := range map[string]map[string]string{
		"plan.yml":  {"Init": state, "Plan": rental},
		"apply.yml": {"Init": state, "Plan": rental, "Apply": rental},
		"drift.yml": {"Init": state, "Check": rental},
	} {
		got := map[string]string{}
		for _, job := range githubWorkflow(t, name).Jobs {
			for n, step := range job.Steps {
				var secrets []string
				for _, value := range step.Env {
					if secret := settingReference.FindStringSubmatch(value); secret != nil && strings.Contains(value, "secrets.") {
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

// Only the job that applies has the secrets of the environment, and each token can write only what its job writes.
func TestCIGitHub_JobsHaveTheirPermissions(t *testing.T) {
	type access struct {
		If, Environment string
		Permissions     map[string]string
	}
	got := map[string]access{}
	for _, name := range []string{"plan.yml", "apply.yml", "drift.yml"} {
		file := githubWorkflow(t, name)
		if !maps.Equal(file.Permissions, map[string]string{"contents": "read"}) {
			t.Errorf("%s: the jobs inherit the permissions %v", name, file.Permissions)
		}
		for id, job := range file.Jobs {
			got[id] = access{job.If, job.Environment, job.Permissions}
		}
	}
	want := map[string]access{
		"check": {},
		"plan": { // not for forks, which have no secrets
			If:          "github.event.pull_request.head.repo.full_name == github.repository",
			Permissions: map[string]string{"contents": "read", "pull-requests": "write"},
		},
		"apply": {Environment: "production", Permissions: map[string]string{"contents": "read", "pull-requests": "read"}},
		"drift": {Permissions: map[string]string{"contents": "read", "issues": "write"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the jobs are %+v, want %+v", got, want)
	}
}

// Only ci/apply.sh applies, and it compares the plan with its review. Only a person who starts a run can skip that.
func TestCIGitHub_AppliesOnlyWhatTheReviewShowed(t *testing.T) {
	file := githubWorkflow(t, "apply.yml")
	if events := slices.Sorted(maps.Keys(file.On)); !slices.Equal(events, []string{"push", "workflow_dispatch"}) {
		t.Errorf("the workflow applies on %v", events)
	}
	var steps []workflowStep
	for _, step := range file.Jobs["apply"].Steps {
		if strings.Contains(step.Run, "apply") || strings.Contains(step.Run, "reviewed") {
			steps = append(
				steps,
				workflowStep{If: step.If, Run: step.Run, Env: map[string]string{"REVIEWED": step.Env["REVIEWED"]}},
			)
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
	if !reflect.DeepEqual(steps, want) || len(file.Jobs) != 1 {
		t.Errorf("the steps that apply are %+v, want %+v", steps, want)
	}
	for _, name := range []string{"plan.yml", "drift.yml"} {
		if strings.Contains(textOf(t, example(ciGitHub, ".github/workflows", name)), "apply.sh") {
			t.Errorf("%s applies", name)
		}
	}
}

// gitlabJob is a job of GitLab CI, as far as the rules about applying need it.
type gitlabJob struct {
	Extends     string
	Stage       string
	Environment string
	Rules       []gitlabRule
	Script      []string
}

// gitlabRule is a condition. A job with When "manual" waits until a person starts it.
type gitlabRule struct{ If, When string }

// A pipeline can start in many ways: only a push and a person apply, and only a person without a review.
func TestCIGitLab_AppliesOnlyWhatTheReviewShowed(t *testing.T) {
	var file map[string]yaml.Node
	parseYAML(t, &file, ciGitLab, ".gitlab-ci.yml")
	applies := map[string]gitlabJob{}
	for name, node := range file {
		var job gitlabJob
		if node.Kind != yaml.MappingNode || node.Decode(&job) != nil {
			continue
		}
		if strings.Contains(strings.Join(job.Script, "\n"), "apply") {
			applies[name] = job
		}
	}
	const branch = ` && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH`
	push, web := `$CI_PIPELINE_SOURCE == "push"`+branch, `$CI_PIPELINE_SOURCE == "web"`+branch
	want := map[string]gitlabJob{
		"apply": {Extends: ".apply", Rules: []gitlabRule{{If: push}, {If: web}}, Script: []string{
			`sh ci/gitlab.sh reviewed "$CI_COMMIT_SHA" >reviewed.md`, "sh ci/apply.sh reviewed.md",
		}},
		"apply-unreviewed": {
			Extends: ".apply", Rules: []gitlabRule{{If: web, When: "manual"}}, Script: []string{"sh ci/apply.sh --unreviewed"},
		},
	}
	if !reflect.DeepEqual(applies, want) {
		t.Errorf("the jobs that apply are %+v, want %+v", applies, want)
	}
	var base gitlabJob
	node := file[".apply"]
	if err := node.Decode(&base); err != nil || base.Environment != "production" {
		t.Errorf("the jobs that apply have the variables of the environment %q (%v)", base.Environment, err)
	}
	for _, command := range []string{"$TF apply", "$TF destroy"} {
		if strings.Contains(textOf(t, example(ciGitLab, ".gitlab-ci.yml")), command) {
			t.Errorf("%s does not go through ci/apply.sh", command)
		}
	}
}

// The limit for what a plan adds fails the check only after the comment was written, so that people see the costs.
func TestCI_LimitFollowsTheComment(t *testing.T) {
	for file, comment := range map[string]string{
		ciGitHub + "/.github/workflows/plan.yml": "sh ci/github.sh comment",
		ciGitLab + "/.gitlab-ci.yml":             "sh ci/gitlab.sh note",
	} {
		_, after, found := strings.Cut(textOf(t, example(file)), comment)
		if !found || !strings.Contains(after, `sh ci/gpurent.sh cost plan.json --max-added "$MAX_ADDED"`) {
			t.Errorf("%s has no limit after the comment", file)
		}
	}
}

// Init installs no provider that the committed lock file does not have.
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
