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

// workflow is what the rules look at in a file of GitHub Actions.
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
	Uses yaml.Node         `yaml:"uses"` // a node, for the comment behind it
	With map[string]string `yaml:"with"`
	Run  string            `yaml:"run"`
}

const goVersionFile = ".github/go-version"

var (
	pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	remark = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
)

func TestWorkflowsAreSafe(t *testing.T) {
	pins := map[string]string{}
	for _, file := range workflowFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range complaints(content) {
			t.Errorf("%s: %s", filepath.Base(file), complaint)
		}
		// Parts of one action that differ in version do not understand each other.
		for _, pin := range regexp.MustCompile(`uses: ([\w.-]+/[\w.-]+)\S*@(\S+)`).FindAllStringSubmatch(string(content), -1) {
			if other, found := pins[pin[1]]; found && other != pin[2] {
				t.Errorf("%s: %s is at %s here and at %s elsewhere", filepath.Base(file), pin[1], pin[2], other)
			}
			pins[pin[1]] = pin[2]
		}
	}
	if len(pins) < 5 {
		t.Fatalf("only %d actions were found: this test looks in the wrong place", len(pins))
	}
}

// A rule that never complains proves nothing: each is broken once.
func TestWorkflowRulesComplain(t *testing.T) {
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
	if found := complaints([]byte(good)); len(found) > 0 {
		t.Fatalf("a good workflow is complained of: %q", found)
	}
	for name, broken := range map[string][2]string{
		"no permissions":         {"permissions:\n  contents: read\n", ""},
		"all permissions":        {"permissions:\n  contents: read\n", "permissions: write-all\n"},
		"a top-level permission": {"contents: read", "contents: write"},
		"a dangerous trigger":    {"on: push", "on: [push, pull_request_target]"},
		"another one":            {"on: push", "on:\n  workflow_run:\n    workflows: [x]"},
		"no time-out":            {"    timeout-minutes: 5\n", ""},
		"a tag":                  {"checkout@0123456789012345678901234567890123456789", "checkout@v1"},
		"a short hash":           {"checkout@0123456789012345678901234567890123456789", "checkout@0123456"},
		"no version":             {" # v1.2.3\n        with:\n          persist", "\n        with:\n          persist"},
		"half a version":         {"# v1.2.3\n        with:\n          persist", "# v1\n        with:\n          persist"},
		"a container":            {"actions/setup-go@0123456789012345678901234567890123456789", "docker://alpine:3"},
		"a called branch":        {"./.github/workflows/other.yml", "o/r/.github/workflows/other.yml@main"},
		"credentials":            {"persist-credentials: false", "fetch-depth: 0"},
		"any Go":                 {"go-version-file: .github/go-version", "go-version: stable"},
		"an expression":          {`echo "$NAME"`, `echo "${{ github.head_ref }}"`},
		"a secret for all jobs":  {"on: push", "on: push\nenv:\n  KEY: ${{ secrets.KEY }}"},
		"a secret for all steps": {"    timeout-minutes: 5\n", "    timeout-minutes: 5\n    env:\n      KEY: ${{ secrets.KEY }}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, broken[0], broken[1], 1)
			if bad == good {
				t.Fatal("the example was not broken")
			}
			if found := complaints([]byte(bad)); len(found) == 0 {
				t.Errorf("nothing is said of\n%s", bad)
			}
		})
	}
}

// What .ci/run leaves out for its time limit must run in a workflow.
func TestWorkflowsRunWhatCIRunLeavesOut(t *testing.T) {
	for file, parts := range map[string][]string{
		".ci/run":                       {"in test lint docs-check demo sample; do"},
		".github/workflows/lint.yml":    {"[lint, docs-check, workflows-check, release-check, release-snapshot, reproducible, demo, coverage]"},
		".github/workflows/test.yml":    {"make unit", "make testacc"},
		".github/workflows/nightly.yml": {"schedule:", "make soak"},
		"GNUmakefile":                   {"\nsoak: race load guides quirks chaos crash fuzz ##", "-run RandomHistory -rapid.checks="},
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
	// Users copy the examples. The same rules hold there.
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

// complaints are the rules that a workflow breaks.
func complaints(content []byte) (found []string) {
	var flow workflow
	if err := yaml.Unmarshal(content, &flow); err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	// They run with our secrets on a stranger's change.
	for _, trigger := range words(&flow.On) {
		if slices.Contains([]string{"pull_request_target", "workflow_run", "issue_comment"}, trigger) {
			say("it runs on %s", trigger)
		}
	}
	// Without any, a workflow may do what the repository's settings say.
	if flow.Permissions.Kind != yaml.MappingNode {
		say("its permissions are not listed at the top")
	}
	for n := 1; n < len(flow.Permissions.Content); n += 2 {
		if value := flow.Permissions.Content[n].Value; value != "read" && value != "none" {
			say("permission %s: %s is for all jobs", flow.Permissions.Content[n-1].Value, value)
		}
	}
	if strings.Contains(strings.Join(words(&flow.Env), " "), "secrets.") {
		say("all jobs have a secret")
	}
	for name, job := range flow.Jobs {
		if strings.Contains(strings.Join(words(&job.Env), " "), "secrets.") {
			say("all steps of job %s have a secret, those of others included", name)
		}
		if job.Uses != "" {
			if !strings.HasPrefix(job.Uses, "./") {
				say("job %s calls a workflow of others: %s", name, job.Uses)
			}
			continue
		}
		if job.Timeout == 0 {
			say("job %s has no timeout-minutes", name)
		}
		for _, step := range job.Steps {
			for _, complaint := range ofStep(step) {
				say("job %s: %s", name, complaint)
			}
		}
	}
	return found
}

func ofStep(step step) (found []string) {
	if strings.Contains(step.Run, "${{") {
		found = append(found, "an expression in a script lets its value be run, hand it over in env: "+step.Run)
	}
	action := step.Uses.Value
	if action == "" || strings.HasPrefix(action, "./") {
		return found
	}
	if !pinned.MatchString(action) || !remark.MatchString(step.Uses.LineComment) {
		found = append(found, fmt.Sprintf("%s %s is not pinned as owner/name@COMMIT # vX.Y.Z", action, step.Uses.LineComment))
	}
	switch name, _, _ := strings.Cut(action, "@"); {
	case name == "actions/checkout" && step.With["persist-credentials"] != "false":
		found = append(found, "the checkout leaves its token to all that runs after it")
	case name == "actions/setup-go" && step.With["go-version-file"] != goVersionFile:
		found = append(found, "Go is not that of "+goVersionFile)
	}
	return found
}

// words are the scalars in a node's first two floors: the triggers, however they
// are written.
func words(node *yaml.Node) []string {
	found := []string{node.Value}
	for _, child := range node.Content {
		found = append(found, child.Value)
	}
	return found
}
