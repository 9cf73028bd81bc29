package handbook_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// workflow is a file of GitHub Actions, as far as ours go. What is not listed here is refused, so that nothing in the
// file is quietly not tested.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Env         map[string]string
	Defaults    struct{ Run struct{ Shell string } }
	Jobs        map[string]workflowJob
}

type workflowJob struct {
	RunsOn         string `yaml:"runs-on"`
	TimeoutMinutes int    `yaml:"timeout-minutes"`
	Strategy       struct {
		FailFast bool `yaml:"fail-fast"`
		Matrix   map[string][]string
	}
	Env   map[string]string
	Steps []workflowStep
}

type workflowStep struct {
	Name, Uses, If, Run string
	With                map[string]any
}

// parseStrictly refuses what the type does not list.
func parseStrictly(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(acctest.Root(), "examples", exampleFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// fakeDownload stands in for the step that fetches a release.
const fakeDownload = `mkdir "$RUNNER_TEMP/gpurent"
cp "$BUILT" "$RUNNER_TEMP/gpurent/terraform-provider-gpurent_${GPURENT_VERSION}_linux_amd64.zip"
`

// archive makes the archive of a release from the program that was built from this tree.
func archive(t *testing.T, program, version string) string {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	header := &zip.FileHeader{Name: "terraform-provider-gpurent_v" + version, Method: zip.Store}
	header.SetMode(0o755)
	entry, err := writer.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(content)
	}
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "release.zip")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// pinned is an action with a version.
var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@v[0-9]+$`)

// runner is a machine of GitHub's, at work on one job.
type runner struct {
	t         *testing.T
	trial     *trial
	workspace string
	temp      string
	env       map[string]string
	shell     []string
	// replaced are the steps, by name, that run as something else here.
	replaced map[string]string
	printed  map[string]string
}

func newRunner(t *testing.T, tr *trial, file workflow, job workflowJob) *runner {
	if file.Defaults.Run.Shell != "bash" {
		t.Fatalf("the shell is %q, want bash", file.Defaults.Run.Shell)
	}
	r := &runner{
		t: t, trial: tr, workspace: filepath.Join(t.TempDir(), "repository"), temp: t.TempDir(), env: map[string]string{},
		shell:    []string{"bash", "--noprofile", "--norc", "-e", "-o", "pipefail"},
		replaced: map[string]string{"Download the provider": fakeDownload}, printed: map[string]string{},
	}
	checkout(t, r.workspace)
	for _, scope := range []map[string]string{file.Env, job.Env} {
		for name, value := range scope {
			r.env[name] = strings.ReplaceAll(value, "${{ matrix.cli }}", tr.cli)
		}
	}
	r.env["RUNNER_TEMP"], r.env["BUILT"] = r.temp, archive(t, tr.program, file.Env["GPURENT_VERSION"])
	r.env["GITHUB_ENV"], r.env["GITHUB_PATH"] = filepath.Join(r.temp, "env"), filepath.Join(r.temp, "path")
	for name, value := range r.env {
		if strings.Contains(value, "${{") {
			t.Fatalf("%s has an expression that this test does not know: %s", name, value)
		}
	}
	return r
}

// step runs a step and takes over what it leaves for the next ones.
func (r *runner) step(s workflowStep) {
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
	path := append(r.lines("GITHUB_PATH"), r.trial.bin, os.Getenv("PATH"))
	env["PATH"] = strings.Join(path, string(os.PathListSeparator))
	r.printed[s.Name] = script{name: s.Name, text: text, folder: r.workspace, shell: r.shell, env: r.trial.environ(env)}.must(r.t)
	for _, line := range r.lines("GITHUB_ENV") {
		name, value, _ := strings.Cut(line, "=")
		r.env[name] = value
	}
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

func testGitHubActions(t *testing.T, tr *trial) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the file is for GitHub's Linux machines with amd64")
	}
	needs(t, "bash", "unzip", "curl")
	var file workflow
	parseStrictly(t, "github-actions.yml", &file)
	job := file.Jobs["simulator"]
	if len(file.Jobs) != 1 || !slices.Contains(job.Strategy.Matrix["cli"], tr.cli) || len(job.Strategy.Matrix) != 1 {
		t.Fatalf("jobs %v: want one, with %s in its matrix", file.Jobs, tr.cli)
	}
	r := newRunner(t, tr, file, job)
	for _, s := range job.Steps {
		switch {
		case s.Run != "":
			r.step(s)
		case !pinned.MatchString(s.Uses):
			t.Errorf("action %q has no version", s.Uses)
		}
	}
	if len(r.replaced) > 0 {
		t.Errorf("no step is called %v: what fetches the release ran as it is", slices.Collect(maps.Keys(r.replaced)))
	}
	expect(t, r.printed, map[string]string{
		"Initialise":                        "The configuration is valid",
		"Plan":                              "Plan: 1 to add, 0 to change, 0 to destroy.",
		"Apply":                             "Resources: 1 added, 0 changed, 0 destroyed.",
		"A second plan finds nothing to do": "No changes.",
		"Destroy":                           "Resources: 1 destroyed.",
		"Test the module":                   "5 passed, 0 failed.",
		"Break the service, and see that the module survives": "It survived",
	})
}
