package handbook_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// workflow is a file of GitHub Actions, as far as ours go. What is not listed here is refused, so that nothing in the
// file is quietly not tested.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency any
	Env         map[string]string
	Defaults    struct{ Run struct{ Shell string } }
	Jobs        map[string]workflowJob
}

type workflowJob struct {
	If             string
	RunsOn         string `yaml:"runs-on"`
	Environment    string
	TimeoutMinutes int `yaml:"timeout-minutes"`
	Permissions    map[string]string
	Strategy       struct {
		FailFast bool `yaml:"fail-fast"`
		Matrix   map[string][]string
	}
	Env   map[string]string
	Steps []workflowStep
}

type workflowStep struct {
	Name, Uses, If, Run string
	Env                 map[string]string
	With                map[string]any
}

// parseStrictly refuses what the type does not list.
func parseStrictly(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// pinned matches an action with the hash of a commit.
var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

// anExpression is what GitHub replaces before a line is run.
var anExpression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// runner is a machine of GitHub's, at work on one job.
type runner struct {
	t         *testing.T
	trial     *trial
	workspace string
	temp      string
	env       map[string]string
	// known is what expressions stand for, by name. Others are refused.
	known map[string]string
	shell []string
	// replaced are the steps, by name, that run as something else here.
	replaced map[string]string
	// prepare changes the environment of each step; nil does not.
	prepare func(env map[string]string)
	printed map[string]string
}

// newRunner makes one with a checkout of the repository.
func newRunner(t *testing.T, tr *trial, repository string, known map[string]string, file workflow, job workflowJob) *runner {
	t.Helper()
	if file.Defaults.Run.Shell != "bash" {
		t.Fatalf("the shell is %q, want bash", file.Defaults.Run.Shell)
	}
	r := &runner{
		t: t, trial: tr, workspace: filepath.Join(t.TempDir(), "repository"), temp: t.TempDir(), env: map[string]string{}, known: known,
		shell: []string{"bash", "--noprofile", "--norc", "-e", "-o", "pipefail"}, replaced: map[string]string{}, printed: map[string]string{},
	}
	checkout(t, repository, r.workspace)
	r.env["RUNNER_TEMP"] = r.temp
	for name, file := range map[string]string{"GITHUB_ENV": "env", "GITHUB_PATH": "path", "GITHUB_STEP_SUMMARY": "summary"} {
		r.env[name] = filepath.Join(r.temp, file)
	}
	maps.Copy(r.env, r.expanded(file.Env))
	maps.Copy(r.env, r.expanded(job.Env))
	return r
}

// expanded are variables with their expressions replaced.
func (r *runner) expanded(variables map[string]string) map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for name, value := range variables {
		all[name] = anExpression.ReplaceAllStringFunc(value, func(found string) string { return r.value(anExpression.FindStringSubmatch(found)[1]) })
	}
	return all
}

func (r *runner) value(expression string) string {
	r.t.Helper()
	value, ok := r.known[expression]
	if !ok {
		r.t.Fatalf("this test does not know the expression %q", expression)
	}
	return value
}

// holds reports whether a condition is met: a comparison of two values, or none.
func (r *runner) holds(condition string) bool {
	r.t.Helper()
	if condition == "" {
		return true
	}
	words := strings.Fields(condition)
	if len(words) != 3 || words[1] != "==" && words[1] != "!=" {
		r.t.Fatalf("this test does not know the condition %q", condition)
	}
	right := words[2]
	if text, quoted := strings.CutPrefix(right, "'"); quoted {
		right = strings.TrimSuffix(text, "'")
	} else if right != "true" {
		right = r.value(right)
	}
	return (r.value(words[0]) == right) == (words[1] == "==")
}

// run takes the job's steps until one fails.
func (r *runner) run(ctx context.Context, job workflowJob) error {
	r.t.Helper()
	for _, s := range job.Steps {
		switch {
		case s.Run == "":
			if !pinned.MatchString(s.Uses) {
				r.t.Errorf("action %q is not pinned to a commit", s.Uses)
			}
		case r.holds(s.If):
			if err := r.step(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// step runs a step and takes over what it leaves for the next ones.
func (r *runner) step(ctx context.Context, s workflowStep) error {
	r.t.Helper()
	text := s.Run
	if stand, ok := r.replaced[s.Name]; ok {
		text = stand
		delete(r.replaced, s.Name)
	}
	if strings.Contains(text, "${{") {
		r.t.Fatalf("%s: an expression in a script is a way in for whoever names a branch: give it as env", s.Name)
	}
	env := maps.Clone(r.env)
	maps.Copy(env, r.expanded(s.Env))
	if r.prepare != nil {
		r.prepare(env)
	}
	path := append(r.lines("GITHUB_PATH"), r.trial.bin, os.Getenv("PATH"))
	env["PATH"] = strings.Join(path, string(os.PathListSeparator))
	printed, err := script{name: s.Name, text: text, folder: r.workspace, shell: r.shell, env: r.trial.environ(env)}.runUntil(ctx, r.t)
	r.printed[s.Name] = printed
	for _, line := range r.lines("GITHUB_ENV") {
		name, value, _ := strings.Cut(line, "=")
		r.env[name] = value
	}
	return err
}

// lines are what steps have written to one of the runner's files; the last one for PATH comes first.
func (r *runner) lines(file string) []string {
	r.t.Helper()
	content, err := os.ReadFile(r.env[file])
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	lines := strings.Fields(string(content))
	slices.Reverse(lines)
	return lines
}
