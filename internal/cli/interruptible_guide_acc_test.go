package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// What the guide says about interruptible servers, happens.
func TestAccInterruptibleGuide(t *testing.T) {
	followTrial(t, "interruptible-servers.md")
}

// followTrial does what a guide says that begins where the first steps of another one end: with a simulator that the
// provider has been pointed at.
func followTrial(t *testing.T, name string) {
	t.Helper()
	tr := newTrial(t)
	_, first, begins := strings.Cut(readGuide(t, "try-without-spending.md.tmpl"), "\n## 1. ")
	first, _, ends := strings.Cut(first, "\nSave this as `main.tf`:")
	if !begins || !ends {
		t.Fatal("the guide that this one builds on has no such steps any more")
	}
	installed := tr.installed(t)
	reader := guideRun{
		cli: tr.cli, folder: t.TempDir(), env: tr.environ(map[string]string{"PATH": installed["PATH"]}), pipeline: tr.mirror(t),
		before: blocks(t, first),
	}
	tr.follow(t, reader, name)
}

// followAlone does what a guide says that starts a simulator of its own.
func followAlone(t *testing.T, name string) {
	t.Helper()
	tr := newTrial(t)
	installed := tr.installed(t)
	tr.follow(t, guideRun{
		cli: tr.cli, folder: t.TempDir(),
		env: tr.environ(map[string]string{"PATH": installed["PATH"], "TF_CLI_CONFIG_FILE": installed["TF_CLI_CONFIG_FILE"]}),
	}, name)
}

// follow does what a guide says, and looks whether its configurations are in the standard format.
func (tr *trial) follow(t *testing.T, reader guideRun, name string) {
	t.Helper()
	reader.follow(t, readGuide(t, name))
	script{
		name: "the standard format", text: "$TF fmt -check -diff -recursive", folder: reader.folder, shell: []string{"sh", "-e"},
		env: tr.environ(tr.installed(t)),
	}.must(t)
}

// mirror returns settings with which init finds the provider on this machine.
func (tr *trial) mirror(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "mirror", tr.host, "gpurent", "gpurent", "0.1.0", runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tr.program, filepath.Join(folder, "terraform-provider-gpurent_v0.1.0")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(root, "mirror.tfrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(root, "mirror"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// scheduled is a workflow that the clock starts.
type scheduled struct {
	workflow    `yaml:",inline"`
	Concurrency string
}

// aSetting is a value that the repository keeps for its workflows.
var aSetting = regexp.MustCompile(`^\$\{\{ (?:secrets|vars)\.(\w+) \}\}$`)

// workflow runs the steps of a workflow as GitHub would, once: a machine with the CLI and the repository.
func (g *guideRun) workflow(t *testing.T, n int, b block) string {
	t.Helper()
	var file scheduled
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(b.text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	if len(file.Jobs) != 1 || file.On["schedule"] == nil || file.Concurrency == "" {
		t.Fatalf("line %d: this wants one job, a schedule, and one run at a time: %+v", b.line, file)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "(\nexport TF_CLI_CONFIG_FILE=%q\n", g.pipeline)
	for name, value := range file.Env {
		if setting := aSetting.FindStringSubmatch(value); setting != nil {
			value = "${" + setting[1] + ":?is not set}"
		}
		fmt.Fprintf(&text, "export %s=\"%s\"\n", name, value)
	}
	for _, job := range file.Jobs {
		for at, s := range job.Steps {
			if s.Run == "" {
				if !pinned.MatchString(s.Uses) {
					t.Errorf("line %d: action %q has no version", b.line, s.Uses)
				}
				continue
			}
			step := g.file(n, fmt.Sprintf("step%d", at))
			if err := os.WriteFile(step, []byte(strings.ReplaceAll(s.Run, "terraform ", g.cli+" ")), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "bash -e %q </dev/null\n", step)
		}
	}
	fmt.Fprintf(&text, ") >%q 2>%q\n", g.file(n, "out"), g.file(n, "err"))
	return text.String()
}

// said holds what a guide shows a program to print against what the command before it has printed. What stands for
// itself are the words: neither where the lines break nor the bars beside an error count, and "…" stands for anything.
func (g *guideRun) said(t *testing.T, n int, b block) {
	t.Helper()
	if n == 0 || g.ran[n-1].language != "sh" && g.ran[n-1].language != "yaml" {
		t.Fatalf("line %d: an answer without a command before it", b.line)
	}
	var printed []string
	for _, kind := range []string{"out", "err"} {
		content, err := os.ReadFile(g.file(n-1, kind))
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, wordsOf(string(content)))
	}
	rest := strings.Join(printed, " ")
	for part := range strings.SplitSeq(wordsOf(b.text), "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			t.Errorf("line %d: it does not say %q:\n%s", b.line, part, strings.Join(printed, "\n"))
			return
		}
		rest = after
	}
}

// wordsOf is a text on one line. Spaces that do not break are spaces.
func wordsOf(text string) string {
	var words []string
	for word := range strings.FieldsSeq(uncoloured.Replace(text)) {
		if word != "│" && word != "╷" && word != "╵" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
