package internal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// workflow contains the parts of a GitHub Actions workflow that the rules check.
type workflow struct {
	On          yaml.Node `yaml:"on"`
	Permissions yaml.Node `yaml:"permissions"`
	Env         yaml.Node `yaml:"env"`
	Jobs        map[string]struct {
		Uses    string    `yaml:"uses"`
		Timeout int       `yaml:"timeout-minutes"`
		Env     yaml.Node `yaml:"env"`
		Steps   []step    `yaml:"steps"`
	} `yaml:"jobs"`
}

type step struct {
	Uses yaml.Node         `yaml:"uses"` // a node, because the rules check its comment
	With map[string]string `yaml:"with"`
	Run  string            `yaml:"run"`
}

const goVersionFile = ".github/go-version"

var (
	usedAction     = regexp.MustCompile(`uses: ([\w.-]+/[\w.-]+)\S*@(\S+)`)
	pinned         = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versionComment = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
)

func TestWorkflowsAreSafe(t *testing.T) {
	pins := map[string]string{}
	for _, file := range workflowFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range workflowProblems(content) {
			t.Errorf("%s: %s", filepath.Base(file), problem)
		}
		// Different versions of the parts of one action are not compatible.
		for _, pin := range usedAction.FindAllStringSubmatch(string(content), -1) {
			if other, found := pins[pin[1]]; found && other != pin[2] {
				t.Errorf("%s: %s is at %s here and at %s elsewhere", filepath.Base(file), pin[1], pin[2], other)
			}
			pins[pin[1]] = pin[2]
		}
	}
	if len(pins) < 5 {
		t.Fatalf("found only %d actions", len(pins))
	}
}

// Each rule is broken once.
func TestWorkflowProblems_EachRule(t *testing.T) {
	const good = `
on: push
permissions:
  contents: read
jobs:
  called:
    uses: ./.github/workflows/other.yml
  build:
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
        with:
          persist-credentials: false
      - uses: actions/setup-go@0123456789012345678901234567890123456789 # v1.2.3
        with:
          go-version-file: .github/go-version
      - run: echo "$NAME"
        env:
          NAME: ${{ github.ref_name }}
`
	if found := workflowProblems([]byte(good)); len(found) > 0 {
		t.Fatalf("a valid workflow has the problems %q", found)
	}
	for name, broken := range map[string][2]string{
		"no permissions":         {"permissions:\n  contents: read\n", ""},
		"all permissions":        {"permissions:\n  contents: read\n", "permissions: write-all\n"},
		"a top-level permission": {"contents: read", "contents: write"},
		"a dangerous trigger":    {"on: push", "on: [push, pull_request_target]"},
		"a second dangerous one": {"on: push", "on:\n  workflow_run:\n    workflows: [x]"},
		"no timeout":             {"    timeout-minutes: 5\n", ""},
		"a tag":                  {"checkout@0123456789012345678901234567890123456789", "checkout@v1"},
		"a short hash":           {"checkout@0123456789012345678901234567890123456789", "checkout@0123456"},
		"no version":             {" # v1.2.3\n        with:\n          persist", "\n        with:\n          persist"},
		"half a version":         {"# v1.2.3\n        with:\n          persist", "# v1\n        with:\n          persist"},
		"a container":            {"actions/setup-go@0123456789012345678901234567890123456789", "docker://alpine:3"},
		"a called branch":        {"./.github/workflows/other.yml", "o/r/.github/workflows/other.yml@main"},
		"credentials":            {"persist-credentials: false", "fetch-depth: 0"},
		"any version of Go":      {"go-version-file: .github/go-version", "go-version: stable"},
		"an expression":          {`echo "$NAME"`, `echo "${{ github.head_ref }}"`},
		"a secret for all jobs":  {"on: push", "on: push\nenv:\n  KEY: ${{ secrets.KEY }}"},
		"a secret for all steps": {
			"    timeout-minutes: 5\n", "    timeout-minutes: 5\n    env:\n      KEY: ${{ secrets.KEY }}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, broken[0], broken[1], 1)
			if bad == good {
				t.Fatal("the replacement did not change the workflow")
			}
			if found := workflowProblems([]byte(bad)); len(found) == 0 {
				t.Errorf("no problem was found in\n%s", bad)
			}
		})
	}
}

// The workflows run everything that .ci/run excludes because of its time limit.
func TestWorkflows_RunAllTargets(t *testing.T) {
	for file, parts := range map[string][]string{
		".ci/run": {"in test lint docs-check demo sample; do", "CLI=all"},
		".github/workflows/lint.yml": {
			"[lint, docs-check, workflows-check, release-check, release-snapshot, reproducible, demo, coverage]",
		},
		".github/workflows/test.yml":    {"make unit", "make testacc CLI="},
		".github/workflows/nightly.yml": {"schedule:", "make soak"},
		"GNUmakefile": {
			"\nsoak: race load guides quirks chaos crash fuzz ##", "-run RandomHistory -rapid.checks=",
		},
	} {
		content := read(t, file)
		for _, part := range parts {
			if !strings.Contains(content, part) {
				t.Errorf("%s does not contain %q", file, part)
			}
		}
	}
}

func workflowFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	// The rules also apply to the examples, because users copy them.
	for _, pattern := range []string{
		"../.github/workflows/*", "../examples/ci/*/.github/workflows/*", "../examples/*/github-actions.yml",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no workflows: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// workflowProblems returns the rules that a workflow breaks.
func workflowProblems(content []byte) (found []string) {
	var flow workflow
	if err := yaml.Unmarshal(content, &flow); err != nil {
		return []string{err.Error()}
	}
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	// These triggers run with the repository's secrets on changes of anyone.
	for _, trigger := range words(&flow.On) {
		if slices.Contains([]string{"pull_request_target", "workflow_run", "issue_comment"}, trigger) {
			add("it has the trigger %s", trigger)
		}
	}
	// Without permissions, a workflow has those in the settings of the repository.
	if flow.Permissions.Kind != yaml.MappingNode {
		add("it does not list its permissions at the top level")
	}
	for n := 1; n < len(flow.Permissions.Content); n += 2 {
		if value := flow.Permissions.Content[n].Value; value != "read" && value != "none" {
			add("permission %s: %s applies to all jobs", flow.Permissions.Content[n-1].Value, value)
		}
	}
	if strings.Contains(strings.Join(words(&flow.Env), " "), "secrets.") {
		add("all jobs have a secret")
	}
	for name, job := range flow.Jobs {
		if strings.Contains(strings.Join(words(&job.Env), " "), "secrets.") {
			add("all steps of job %s have a secret, including third-party actions", name)
		}
		if job.Uses != "" {
			if !strings.HasPrefix(job.Uses, "./") {
				add("job %s calls a workflow of another repository: %s", name, job.Uses)
			}
			continue
		}
		if job.Timeout == 0 {
			add("job %s has no timeout-minutes", name)
		}
		for _, step := range job.Steps {
			for _, problem := range stepProblems(step) {
				add("job %s: %s", name, problem)
			}
		}
	}
	return found
}

func stepProblems(step step) (found []string) {
	if strings.Contains(step.Run, "${{") {
		found = append(found, "an expression in a script can inject code, use env instead: "+step.Run)
	}
	action := step.Uses.Value
	if action == "" || strings.HasPrefix(action, "./") {
		return found
	}
	if !pinned.MatchString(action) || !versionComment.MatchString(step.Uses.LineComment) {
		found = append(found, fmt.Sprintf("%s %s is not pinned as owner/name@COMMIT # vX.Y.Z", action, step.Uses.LineComment))
	}
	switch name, _, _ := strings.Cut(action, "@"); {
	case name == "actions/checkout" && step.With["persist-credentials"] != "false":
		found = append(found, "the checkout leaves its token to later steps")
	case name == "actions/setup-go" && step.With["go-version-file"] != goVersionFile:
		found = append(found, "the version of Go is not the one in "+goVersionFile)
	}
	return found
}

// words returns the scalars in the first two levels of a node, for example the triggers in any notation.
func words(node *yaml.Node) []string {
	found := []string{node.Value}
	for _, child := range node.Content {
		found = append(found, child.Value)
	}
	return found
}
