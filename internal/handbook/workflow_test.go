package handbook_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// workflow is a file of GitHub Actions, with the fields that the examples and guides use.
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
	Permissions    map[string]string
	TimeoutMinutes int `yaml:"timeout-minutes"`
	Env            map[string]string
	Steps          []workflowStep
}

type workflowStep struct {
	Name, Uses, If, Run string
	Env                 map[string]string
	With                map[string]any
}

// pinned matches an action with the hash of a commit.
var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

// settingReference matches a reference to a secret or variable of the repository.
var settingReference = regexp.MustCompile(`^\$\{\{ (?:secrets|vars)\.(\w+) \}\}$`)

// workflow runs the steps of a workflow in a guide once.
func (g *guideRun) workflow(t *testing.T, n int, b snippet) string {
	t.Helper()
	var file workflow
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(b.text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	if len(file.Jobs) != 1 || file.On["schedule"] == nil || file.Concurrency == nil {
		t.Fatalf("line %d: want one job, a schedule and a concurrency group: %+v", b.line, file)
	}
	var text strings.Builder
	text.WriteString("(\nunset TF_CLI_CONFIG_FILE\n")
	text.WriteString(exports(file.Env))
	for _, job := range file.Jobs {
		for at, s := range job.Steps {
			if s.Run == "" {
				if !pinned.MatchString(s.Uses) {
					t.Errorf("line %d: action %q is not pinned to a commit", b.line, s.Uses)
				}
				continue
			}
			step := g.file(n, fmt.Sprintf("step%d", at))
			if err := os.WriteFile(step, []byte(withCLI(g.cli, s.Run)), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "(\n%sbash -e %q </dev/null\n)\n", exports(s.Env), step)
		}
	}
	fmt.Fprintf(&text, ") >%q 2>%q\n", g.file(n, "out"), g.file(n, "err"))
	return text.String()
}

// exports returns commands that export variables. Secrets and variables of the repository come from the environment.
func exports(variables map[string]string) string {
	var text strings.Builder
	for name, value := range variables {
		if setting := settingReference.FindStringSubmatch(value); setting != nil {
			value = "${" + setting[1] + ":?is not set}"
		}
		fmt.Fprintf(&text, "export %s=\"%s\"\n", name, value)
	}
	return text.String()
}
