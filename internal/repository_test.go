package internal_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
	"golang.org/x/mod/zip"
)

// repositoryFile is a file of the repository as golang.org/x/mod/zip reads it.
type repositoryFile string

func (f repositoryFile) Path() string                 { return string(f) }
func (f repositoryFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.local()) }
func (f repositoryFile) Open() (io.ReadCloser, error) { return os.Open(f.local()) }
func (f repositoryFile) local() string                { return filepath.Join("..", filepath.FromSlash(string(f))) }

// "go install MODULE@VERSION" downloads the module as a zip, and Windows users check the repository out. One bad file
// name, or two names that differ only in case, make both fail.
func TestRepository_FileNames(t *testing.T) {
	command := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "-z")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if file := repositoryFile(name); exists(file) {
			files = append(files, file)
		}
	}
	checked, err := zip.CheckFiles(files)
	if err == nil {
		err = checked.Err()
	}
	if err != nil || len(checked.Valid) < 500 {
		t.Errorf("the module zip has %d files: %v", len(checked.Valid), err)
	}
}

// exists returns false for a file that was deleted but not yet committed.
func exists(file repositoryFile) bool {
	_, err := file.Lstat()
	return err == nil
}

// Every claim in SECURITY.md names at least one test that exists, or a target of make.
func TestSecurity_ClaimsHaveTests(t *testing.T) {
	page := read(t, "SECURITY.md")
	claims := regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(page, -1)
	rows := regexp.MustCompile(`(?m)^\| [A-Z][0-9]+ `).FindAllString(page, -1)
	if len(rows) != len(claims) || len(claims) < 30 {
		t.Fatalf("%d claims in %d numbered rows: a row is malformed, or a table is missing", len(claims), len(rows))
	}
	cited := regexp.MustCompile("^`(?:make ([a-z-]+)|(\\w+)\\.((?:Test|Fuzz)\\w+))`$")
	makefile := read(t, "GNUmakefile")
	for _, claim := range claims {
		for name := range strings.SplitSeq(claim[2], ", ") {
			match := cited.FindStringSubmatch(name)
			switch {
			case match == nil:
				t.Errorf("%s: %s is neither a test nor a target of make", claim[1], name)
			case match[1] != "" && !strings.Contains(makefile, "\n"+match[1]+":"),
				match[1] == "" && !hasTest(t, match[2], match[3]):
				t.Errorf("%s: %s does not exist", claim[1], name)
			}
		}
	}
}

// With -run, -bench and -skip, go test succeeds if no test has the name.
func TestMakefile_TestsExist(t *testing.T) {
	name := regexp.MustCompile(`\b((?:Test|Fuzz|Benchmark)[A-Z]\w+)[^\w\[]`)
	names := name.FindAllStringSubmatch(read(t, "GNUmakefile"), -1)
	for _, match := range names {
		if !hasTest(t, "*", match[1]) {
			t.Errorf("there is no test %s", match[1])
		}
	}
	if len(names) < 10 {
		t.Errorf("only %d names were read: %q", len(names), names)
	}
}

// The linker ignores a variable that does not exist, so that the makefile must set the variable of a release.
func TestMakefile_SetsVersion(t *testing.T) {
	variable := regexp.MustCompile(`-X (\S+)=`)
	release := variable.FindStringSubmatch(read(t, ".goreleaser.yml"))
	if build := variable.FindStringSubmatch(read(t, "GNUmakefile")); !slices.Equal(build, release) {
		t.Errorf("the makefile sets %q, a release %q", build, release)
	}
}

// hasTest reports whether a package, named by its folder, has the test.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	for _, pattern := range []string{folder, "*/" + folder, "*/*/" + folder} {
		if folder == "internal" {
			pattern = "."
		}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pattern), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.Contains(read(t, path.Join("internal", filepath.ToSlash(file))), "\nfunc "+name+"(") {
				return true
			}
		}
	}
	return false
}

// workflow contains the parts of a GitHub Actions workflow that the rules check.
type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Uses    string            `yaml:"uses"`
		Timeout int               `yaml:"timeout-minutes"`
		Env     map[string]string `yaml:"env"`
		Steps   []struct {
			Uses yaml.Node         `yaml:"uses"` // a node, because the rules check its comment
			With map[string]string `yaml:"with"`
			Run  string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// The rules also apply to the workflows of the examples, because users copy them. actionlint checks the rest.
func TestWorkflows_Safe(t *testing.T) {
	for _, pattern := range []string{
		".github/workflows/*", "examples/ci/*/.github/workflows/*", "examples/*/github-actions.yml",
	} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no workflows: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range workflowProblems(t, content) {
				t.Errorf("%s: %s", filepath.Base(file), problem)
			}
		}
	}
}

func TestWorkflowProblems(t *testing.T) {
	found := workflowProblems(t, []byte(`
on: [push, pull_request_target]
permissions: {contents: write}
jobs:
  called:
    uses: owner/repo/.github/workflows/other.yml@main
  build:
    env: {KEY: "${{ secrets.KEY }}"}
    steps:
      - uses: actions/checkout@v1
      - uses: actions/setup-go@0123456789012345678901234567890123456789
        with: {go-version: stable}
      - run: echo "${{ github.head_ref }}"
`))
	const want = 9
	if len(found) != want {
		t.Errorf("%d problems, want %d:\n%s", len(found), want, strings.Join(found, "\n"))
	}
}

// workflowProblems returns the rules that a workflow breaks.
func workflowProblems(t *testing.T, content []byte) (found []string) {
	t.Helper()
	var flow workflow
	if err := yaml.Unmarshal(content, &flow); err != nil {
		t.Fatal(err)
	}
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, trigger := range append(flow.On.Content, &flow.On) {
		if slices.Contains([]string{"pull_request_target", "workflow_run", "issue_comment"}, trigger.Value) {
			add("%s runs with the repository's secrets on changes of anyone", trigger.Value)
		}
	}
	// Without permissions, a workflow has those in the settings of the repository.
	if flow.Permissions["contents"] != "read" || len(flow.Permissions) > 1 {
		add("all jobs have the permissions %v, want contents: read", flow.Permissions)
	}
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for name, job := range flow.Jobs {
		if job.Uses != "" {
			if !strings.HasPrefix(job.Uses, "./") {
				add("job %s calls a workflow of another repository: %s", name, job.Uses)
			}
			continue
		}
		if job.Timeout == 0 {
			add("job %s has no timeout-minutes", name)
		}
		for key, value := range job.Env {
			if strings.Contains(value, "secrets.") {
				add("job %s gives the secret %s to all of its steps", name, key)
			}
		}
		for _, step := range job.Steps {
			action := step.Uses.Value
			if strings.Contains(step.Run, "${{") {
				add("job %s: an expression in a script can inject code, use env: %s", name, step.Run)
			}
			if used := action + " " + step.Uses.LineComment; action != "" && !pinned.MatchString(used) {
				add("job %s: %q is not pinned as owner/name@COMMIT # vX.Y.Z", name, used)
			}
			if strings.HasPrefix(action, "actions/checkout@") && step.With["persist-credentials"] != "false" {
				add("job %s: the checkout leaves its token to later steps", name)
			}
		}
	}
	return found
}
