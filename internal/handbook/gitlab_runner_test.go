package handbook_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// gitlabFile is a file of GitLab CI, as far as ours go. What is not listed here is refused.
type gitlabFile struct {
	Variables map[string]string
	Workflow  struct{ Rules []gitlabRule }
	Stages    []string
	Jobs      map[string]gitlabJob `yaml:",inline"`
}

// gitlabRule is a condition, and when a job runs that meets it: at once, or when somebody starts it ("manual").
type gitlabRule struct{ If, When string }

type gitlabJob struct {
	Extends       string
	Stage         string
	Image         any
	Environment   string
	ResourceGroup string `yaml:"resource_group"`
	Interruptible bool
	Timeout       string
	Rules         []gitlabRule
	Variables     map[string]string
	BeforeScript  []yaml.Node `yaml:"before_script"`
	Script        []string
	Artifacts     struct {
		Paths    []string
		ExpireIn string `yaml:"expire_in"`
	}
}

// gitlabRunner works through a pipeline, each job on a fresh checkout with the artifacts of the stages before it.
type gitlabRunner struct {
	t     *testing.T
	trial *trial
	file  gitlabFile
	// repository is what is checked out, project where.
	repository, project string
	// artifacts is where they are kept between jobs.
	artifacts string
	// standIns are the lines, as they stand in the file, that reach for the network, and what runs in their place; unused
	// those that were not met.
	standIns, unused map[string]string
	// given are the variables that are not in the file: those of GitLab and of the project, for a job.
	given   func(gitlabJob) map[string]string
	printed map[string]string
}

func newGitLabRunner(t *testing.T, tr *trial, repository, file string, standIns map[string]string) *gitlabRunner {
	t.Helper()
	r := &gitlabRunner{
		t: t, trial: tr, repository: repository, project: filepath.Join(t.TempDir(), "repository"), artifacts: t.TempDir(),
		standIns: standIns, unused: maps.Clone(standIns), printed: map[string]string{},
	}
	parseStrictly(t, filepath.Join(repository, file), &r.file)
	return r
}

// pipeline runs the jobs that have a place in it, stage by stage, until one fails. Of the jobs that somebody has to
// start, those named by hand are started, and then no others run.
func (r *gitlabRunner) pipeline(ctx context.Context, byHand ...string) error {
	r.t.Helper()
	for _, stage := range r.file.Stages {
		for _, name := range slices.Sorted(maps.Keys(r.file.Jobs)) {
			job := r.job(name)
			when, has := r.has(job.Rules, job)
			if strings.HasPrefix(name, ".") || job.Stage != stage || !has {
				continue
			}
			if starts := slices.Contains(byHand, name); (when == "manual") != starts || len(byHand) > 0 != starts {
				continue
			}
			if err := r.run(ctx, name, job); err != nil {
				return err
			}
		}
	}
	return nil
}

// job returns a job with what it inherits from those that it extends.
func (r *gitlabRunner) job(name string) gitlabJob {
	job := r.file.Jobs[name]
	if job.Extends == "" {
		return job
	}
	parent := r.job(job.Extends)
	job.Stage = cmp.Or(job.Stage, parent.Stage)
	job.Environment = cmp.Or(job.Environment, parent.Environment)
	if job.Rules == nil {
		job.Rules = parent.Rules
	}
	if job.BeforeScript == nil {
		job.BeforeScript = parent.BeforeScript
	}
	if job.Script == nil {
		job.Script = parent.Script
	}
	variables := maps.Clone(parent.Variables)
	if variables == nil {
		variables = map[string]string{}
	}
	maps.Copy(variables, job.Variables)
	job.Variables = variables
	return job
}

// has reports whether one of the rules is met, or there are none, and when the job runs.
func (r *gitlabRunner) has(rules []gitlabRule, job gitlabJob) (when string, met bool) {
	r.t.Helper()
	env := r.variables(job)
	for _, rule := range rules {
		met := true
		for term := range strings.SplitSeq(rule.If, " && ") {
			operands := strings.Fields(term)
			if len(operands) != 3 || operands[1] != "==" && operands[1] != "!=" {
				r.t.Fatalf("this test does not know the rule %q", rule.If)
			}
			value := func(operand string) string {
				if name, variable := strings.CutPrefix(operand, "$"); variable {
					return env[name]
				}
				return strings.Trim(operand, `"`)
			}
			met = met && (value(operands[0]) == value(operands[2])) == (operands[1] == "==")
		}
		if met {
			return rule.When, true
		}
	}
	return "", len(rules) == 0
}

// variables are those of a job. What is given wins over the file only where the file is silent.
func (r *gitlabRunner) variables(job gitlabJob) map[string]string {
	env := map[string]string{"CI_PROJECT_DIR": r.project}
	if r.given != nil {
		maps.Copy(env, r.given(job))
	}
	for _, scope := range []map[string]string{r.file.Variables, job.Variables} {
		for name, value := range scope {
			env[name] = value
		}
	}
	env["TF"] = r.trial.cli
	var expand func(string) string
	expand = func(name string) string { return os.Expand(env[name], expand) }
	for name := range env {
		env[name] = expand(name)
	}
	return env
}

// before is what a job runs first.
func (r *gitlabRunner) before(job gitlabJob) []string {
	r.t.Helper()
	var lines []string
	for _, node := range job.BeforeScript {
		var line string
		switch {
		case node.Tag == "!reference":
			var path []string
			if err := node.Decode(&path); err != nil || len(path) != 2 || path[1] != "before_script" {
				r.t.Fatalf("line %d: %v refers to something that this test does not know (%v)", node.Line, path, err)
			}
			lines = append(lines, r.before(r.job(path[0]))...)
			continue
		case node.Decode(&line) != nil:
			r.t.Fatalf("line %d of the file is no line of a script", node.Line)
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *gitlabRunner) run(ctx context.Context, name string, job gitlabJob) error {
	r.t.Helper()
	checkout(r.t, r.repository, r.project)
	r.copy(r.artifacts, r.project, ".")
	lines := append(r.before(job), job.Script...)
	for n, line := range lines {
		if stand, ok := r.standIns[line]; ok {
			lines[n] = stand
			delete(r.unused, line)
		}
	}
	printed, err := script{
		name: name, text: strings.Join(lines, "\n"), folder: r.project, shell: []string{"sh", "-e"}, env: r.trial.environ(r.variables(job)),
	}.runUntil(ctx, r.t)
	r.printed[name] = printed
	for _, path := range job.Artifacts.Paths {
		r.copy(r.project, r.artifacts, path)
	}
	return err
}

// copy copies a file or a folder between two trees, in which it has the same path.
func (r *gitlabRunner) copy(from, to, path string) {
	r.t.Helper()
	err := filepath.WalkDir(filepath.Join(from, path), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o700), os.WriteFile(target, content, info.Mode()))
	})
	if err != nil {
		r.t.Fatal(err)
	}
}
