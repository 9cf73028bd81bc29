package handbook_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The two pipelines have the same configuration and the same scripts, so that one test covers both.
func TestCI_ExamplesAgree(t *testing.T) {
	for _, name := range []string{"main.tf", "provider.tf", "ci/gpurent.sh", "ci/drift.sh"} {
		if textOf(t, inProject("examples/ci/github-actions", name)) != textOf(t, inProject("examples/ci/gitlab", name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// Both pipelines apply only the plan of the same run, after its limits, in a job with the protected environment. On
// GitLab, only a person starts this job, after a push to the default branch or by hand.
func TestCI_AppliesOnlyTheSavedPlan(t *testing.T) {
	const limits = `sh ci/gpurent.sh cost plan.json --max-added "$MAX_ADDED" --max-burn "$MAX_BURN"`
	const branch = " && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n      when: manual\n"
	const apply = "$TF apply -lock-timeout=5m saved.plan"
	for file, parts := range map[string][]string{
		"github-actions/.github/workflows/servers.yml": {"    needs: plan\n" +
			"    if: needs.plan.outputs.changes && github.event_name != 'pull_request'\n",
			"environment: production", "exec " + apply}, // a cancelled job signals its shell
		"gitlab/.gitlab-ci.yml": {"  needs: [plan]\n  rules:\n    - if: $CI_PIPELINE_SOURCE == \"push\"" + branch +
			"    - if: $CI_PIPELINE_SOURCE == \"web\"" + branch + "  environment: production\n", apply},
	} {
		text := textOf(t, inProject("examples/ci", file))
		at := regexp.MustCompile(`(?m)^ *apply:\n`).FindStringIndex(text)[1]
		job, _, _ := strings.Cut(text[at:], "\n\n")
		for _, part := range parts {
			if !strings.Contains(job, part) {
				t.Errorf("%s: the job apply has no %q", file, part)
			}
		}
		if strings.Count(text, "$TF apply") != 1 || !strings.Contains(text[:at], limits) {
			t.Errorf("%s has another apply, or does not check the limits before it", file)
		}
		if strings.Count(text, "environment: production") != 1 {
			t.Errorf("%s: another job has the key of the job apply", file)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "$TF init") && !strings.Contains(line, " -lockfile=readonly") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}

// GitLab runs the commands of GitHub's workflows.
func TestCI_GitLabRunsTheSameCommands(t *testing.T) {
	for _, name := range []string{"batch-job", "working-hours", "try-without-spending"} {
		gitlab := textOf(t, inProject("examples", name, "gitlab-ci.yml"))
		for _, step := range stepsOf(textOf(t, inProject("examples", name, "github-actions.yml"))) {
			for command := range strings.Lines(step.run) {
				command = strings.TrimPrefix(command, "exec ")
				ours := slices.ContainsFunc([]string{"$", "sh "}, func(p string) bool { return strings.HasPrefix(command, p) })
				if ours && !strings.Contains(gitlab, "- "+command) {
					t.Errorf("%s: GitLab does not run %s", name, command)
				}
			}
		}
	}
}

func TestCIScripts(t *testing.T) {
	needs(t, "bash", "jq")
	env := append(environ(t.TempDir()), "CI="+inProject("examples", "ci"))
	if output, status := run(t, textOf(t, "testdata", "scripts.sh"), t.TempDir(), env); status != 0 {
		t.Errorf("exit status %d:\n%s", status, output)
	}
}
