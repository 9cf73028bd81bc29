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

// aSetting is a value that the repository keeps for its workflows.
var aSetting = regexp.MustCompile(`^\$\{\{ (?:secrets|vars)\.(\w+) \}\}$`)

// workflow runs the steps of a workflow as GitHub would, once: a machine with the CLI and the repository.
func (g *guideRun) workflow(t *testing.T, n int, b block) string {
	t.Helper()
	var file workflow
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(b.text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	if len(file.Jobs) != 1 || file.On["schedule"] == nil || file.Concurrency == nil {
		t.Fatalf("line %d: this wants one job, a schedule, and one run at a time: %+v", b.line, file)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "(\nexport TF_CLI_CONFIG_FILE=%q\n", g.pipeline)
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
			if err := os.WriteFile(step, []byte(typed(g.cli, s.Run)), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "(\n%sbash -e %q </dev/null\n)\n", exports(s.Env), step)
		}
	}
	fmt.Fprintf(&text, ") >%q 2>%q\n", g.file(n, "out"), g.file(n, "err"))
	return text.String()
}

// exports sets variables in a shell. The settings of the repository are those of the reader.
func exports(variables map[string]string) string {
	var text strings.Builder
	for name, value := range variables {
		if setting := aSetting.FindStringSubmatch(value); setting != nil {
			value = "${" + setting[1] + ":?is not set}"
		}
		fmt.Fprintf(&text, "export %s=\"%s\"\n", name, value)
	}
	return text.String()
}
