package handbook_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// gitlabFile is a file of GitLab CI, as far as ours goes. What is not listed here is refused.
type gitlabFile struct {
	Variables map[string]string
	Stages    []string
	Jobs      map[string]gitlabJob `yaml:",inline"`
}

type gitlabJob struct {
	Extends      string
	Stage        string
	Image        any
	BeforeScript []yaml.Node `yaml:"before_script"`
	Script       []string
	Artifacts    struct {
		Paths    []string
		ExpireIn string `yaml:"expire_in"`
	}
}

// standIns are the lines, as they stand in the file, that reach for the network, and what runs in their place.
func standIns() map[string]string {
	return map[string]string{
		`go install "github.com/gpurent/terraform-provider-gpurent@v$GPURENT_VERSION"`: `mkdir -p "$GOBIN" && cp "$BUILT" "$GOBIN/terraform-provider-gpurent"`,
		`apk add --no-cache curl`: `command -v curl`,
	}
}

// gitlabRunner works through a pipeline, each job on a fresh checkout with the artifacts of the stages before it.
type gitlabRunner struct {
	t       *testing.T
	trial   *trial
	file    gitlabFile
	project string
	// artifacts is where they are kept between jobs.
	artifacts string
	unused    map[string]string
	printed   map[string]string
}

// before is what a job runs first: its own lines, or those of the job that it extends.
func (r *gitlabRunner) before(job gitlabJob) []string {
	r.t.Helper()
	nodes := job.BeforeScript
	if nodes == nil && job.Extends != "" {
		nodes = r.file.Jobs[job.Extends].BeforeScript
	}
	var lines []string
	for _, node := range nodes {
		var line string
		switch {
		case node.Tag == "!reference":
			var path []string
			if err := node.Decode(&path); err != nil || len(path) != 2 || path[1] != "before_script" {
				r.t.Fatalf("line %d: %v refers to something that this test does not know (%v)", node.Line, path, err)
			}
			lines = append(lines, r.before(r.file.Jobs[path[0]])...)
			continue
		case node.Decode(&line) != nil:
			r.t.Fatalf("line %d of the file is no line of a script", node.Line)
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *gitlabRunner) run(name string, job gitlabJob) {
	r.t.Helper()
	checkout(r.t, r.project)
	r.copy(r.artifacts, r.project, ".")
	env := maps.Clone(r.file.Variables)
	maps.Copy(env, map[string]string{"TF": r.trial.cli, "PROVIDER_HOST": r.trial.host, "CI_PROJECT_DIR": r.project, "BUILT": r.trial.program})
	lines := append(r.before(job), job.Script...)
	for n, line := range lines {
		if stand, ok := standIns()[line]; ok {
			lines[n] = stand
			delete(r.unused, line)
		}
	}
	r.printed[name] = script{
		name: name, text: strings.Join(lines, "\n"), folder: r.project, shell: []string{"sh", "-e"}, env: r.trial.environ(env),
	}.must(r.t)
	for _, path := range job.Artifacts.Paths {
		r.copy(r.project, r.artifacts, path)
	}
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

func testGitLabCI(t *testing.T, tr *trial) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the file is for Linux machines with amd64")
	}
	needs(t, "curl")
	r := &gitlabRunner{
		t: t, trial: tr, project: filepath.Join(t.TempDir(), "repository"), artifacts: t.TempDir(), unused: standIns(), printed: map[string]string{},
	}
	parseStrictly(t, "gitlab-ci.yml", &r.file)
	for _, stage := range r.file.Stages {
		for _, name := range slices.Sorted(maps.Keys(r.file.Jobs)) {
			if job := r.file.Jobs[name]; job.Stage == stage {
				r.run(name, job)
			}
		}
	}
	for line := range r.unused {
		t.Errorf("no job has the line %q: what fetches something ran as it is", line)
	}
	expect(t, r.printed, map[string]string{
		"module":  "5 passed, 0 failed.",
		"trouble": "It survived",
		"plan":    "Plan: 1 to add, 0 to change, 0 to destroy.",
		"apply":   "Resources: 1 destroyed.",
	})
	if planned, applied := accountKey(t, r.artifacts), accountKey(t, r.project); planned == "" || planned != applied {
		t.Errorf("it was planned for the account of key %q and applied to that of %q", planned, applied)
	}
	expect(t, r.printed, map[string]string{"module": "The configuration is valid", "apply": "No changes."})
	for name, job := range r.file.Jobs {
		if _, ran := r.printed[name]; !ran && !strings.HasPrefix(name, ".") {
			t.Errorf("job %s, of stage %q, never runs", name, job.Stage)
		}
	}
}

// accountKey tells services apart: each has an API key of its own, which its state file holds.
func accountKey(t *testing.T, folder string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "service.json"))
	if err != nil {
		t.Fatal(err)
	}
	var service struct{ APIKey string }
	if err := json.Unmarshal(content, &service); err != nil {
		t.Fatal(err)
	}
	return service.APIKey
}
