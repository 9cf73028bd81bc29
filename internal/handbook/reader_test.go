package handbook_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
	yaml "github.com/oasdiff/yaml3"
)

// reader runs the snippets of a page in order, as somebody does who reads it.
type reader struct {
	// cli replaces terraform in commands, unless it is empty.
	cli    string
	folder string
	env    []string
	// services maps the addresses of real services in the page to those of simulators.
	services map[string]string
	// fast adds a file to each root module that polls without pauses.
	fast bool
	// outputs is the folder of the output of the snippets.
	outputs string
	// addresses maps the addresses of simulators in the page to free ones.
	addresses map[string]string
	text      strings.Builder
	snippets  []snippet
}

// simulatorAddress matches the addresses of simulators in the pages.
var simulatorAddress = regexp.MustCompile(`127\.0\.0\.1:84\d\d`)

// withFreeAddresses replaces the addresses in a text by free ones.
func (r *reader) withFreeAddresses(t *testing.T, text string) string {
	t.Helper()
	for address, simulator := range r.services {
		text = strings.ReplaceAll(text, address, simulator)
	}
	return simulatorAddress.ReplaceAllStringFunc(text, func(chosen string) string {
		if r.addresses[chosen] == "" {
			var config net.ListenConfig
			listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			r.addresses[chosen] = listener.Addr().String()
		}
		return r.addresses[chosen]
	})
}

// begin is the begin of the script of a page. Its argument is the folder of the files for hidden commands.
const begin = `set -eu
HANDBOOK=%q
simulators=
trap 'test -z "$simulators" || kill $simulators; wait $simulators' EXIT
. "$HANDBOOK/guides.sh"
`

// follow saves the files of the snippets, runs their commands in one shell, and compares the output with the page.
func (r *reader) follow(t *testing.T, snippets []snippet) {
	t.Helper()
	needs(t, "bash", "curl")
	r.outputs, r.addresses = t.TempDir(), map[string]string{}
	fmt.Fprintf(&r.text, begin, inProject("internal", "handbook", "testdata"))
	for _, b := range snippets {
		if strings.Contains(b.text, "jq -r ") {
			needs(t, "jq")
		}
		b.text = r.withFreeAddresses(t, b.text)
		if b.language == "sh" && r.cli != "" {
			b.text = withCLI(r.cli, b.text)
		}
		r.add(t, b)
	}
	output, status := script{
		text: r.text.String(), folder: r.folder, env: r.env, shell: []string{"bash", "--noprofile", "--norc"},
	}.run(t)
	if status != 0 {
		t.Fatalf("exit status %d\n%s\n%s", status, output, r.failedSnippet(t))
	}
	for n, b := range r.snippets {
		switch b.language {
		case "json":
			r.compareJSON(t, n, b)
		case "text":
			r.compareText(t, n, b)
		}
	}
}

// add adds a snippet to the script.
func (r *reader) add(t *testing.T, b snippet) {
	t.Helper()
	n := len(r.snippets)
	to := fmt.Sprintf(">%q 2>%q", r.file(n, "out"), r.file(n, "err"))
	switch {
	case strings.HasPrefix(b.note, shownOnly):
		t.Logf("line %d is %s", b.line, b.note)
		return
	case b.language == "sh" && b.note == otherTerminal: // the simulator prints a line when it is ready
		fmt.Fprintf(&r.text, "(exec %s) %s &\nsimulators=\"$simulators $!\"\n", strings.TrimSuffix(b.text, "\n"), to)
		fmt.Fprintf(&r.text, "until test -s %q; do kill -0 $!; sleep 0.05; done\n", r.file(n, "out"))
	case b.language == "sh" && b.note == approvedInBrowser:
		fmt.Fprintf(&r.text, "{\n%s} %s &\napprove %q $!\n", b.text, to, r.file(n, "out"))
	case b.language == "sh" && b.note == mustFail:
		if strings.Count(b.text, "\n") != 1 {
			t.Errorf("line %d: a snippet that must fail has one command", b.line)
		}
		fmt.Fprintf(&r.text, "if {\n%s} %s; then echo 'It did not fail.'; exit 1; fi\n", b.text, to)
	case b.note == check, b.note == forReader:
		// An error before the last command of a list with && does not end a shell by itself.
		fmt.Fprintf(&r.text, "{\n%s} %s || exit\n", b.text, to)
	case b.language == "sh":
		fmt.Fprintf(&r.text, "{\n%s} %s\n", b.text, to)
	case b.language == "yaml":
		fmt.Fprintf(&r.text, "(\n%s) %s\n", r.workflow(t, b), to)
	case b.language == "json", b.language == "text":
	case b.language == "terraform":
		r.save(t, "main.tf", b)
	case b.language == "hcl":
		r.save(t, fileName(t, b), b)
	case b.language == "diff":
		r.change(t, fileName(t, b), b)
	default:
		t.Errorf("line %d: no test runs a snippet of %q", b.line, b.language)
	}
	r.snippets = append(r.snippets, b)
}

// fastPolling shortens the pauses of a test, and changes nothing else.
const fastPolling = `provider "gpurent" {
  poll_interval = "200ms"
}
`

// fileName returns the file name in the comment on the first line of a snippet.
func fileName(t *testing.T, b snippet) string {
	t.Helper()
	name, ok := strings.CutPrefix(strings.SplitN(b.text, "\n", 2)[0], "# ")
	if !ok || !filepath.IsLocal(name) {
		t.Fatalf("line %d: the first line is not a comment with the file name", b.line)
	}
	return name
}

// change changes a file as a diff shows: it replaces the lines with "-" and " " by those with "+" and " ".
func (r *reader) change(t *testing.T, name string, b snippet) {
	t.Helper()
	var before, after strings.Builder
	for line := range strings.Lines(b.text) {
		if line[0] == '-' || line[0] == ' ' {
			before.WriteString(line[1:])
		}
		if line[0] == '+' || line[0] == ' ' {
			after.WriteString(line[1:])
		}
	}
	n := len(r.snippets)
	write(t, before.String(), r.file(n, "before"))
	write(t, after.String(), r.file(n, "after"))
	fmt.Fprintf(&r.text, "replace %q %q %q\n", name, r.file(n, "before"), r.file(n, "after"))
}

// save saves a configuration, which must have the format of "terraform fmt".
func (r *reader) save(t *testing.T, name string, b snippet) {
	t.Helper()
	if formatted := string(hclwrite.Format([]byte(b.text))); formatted != b.text {
		t.Errorf("line %d: the standard format is:\n%s", b.line, formatted)
	}
	files := map[string]string{name: b.text}
	if folder := filepath.Dir(name); filepath.Base(name) == "main.tf" && !strings.HasPrefix(name, "modules/") {
		if r.fast {
			files[filepath.Join(folder, "test_override.tf")] = fastPolling
		}
	}
	for name, text := range files {
		fmt.Fprintf(&r.text, "mkdir -p %q\ncat >%q <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(name), name, text)
	}
}

// file is the file with the stdout ("out") or stderr ("err") of a snippet.
func (r *reader) file(n int, kind string) string {
	return filepath.Join(r.outputs, fmt.Sprintf("%03d.%s", n, kind))
}

// failedSnippet returns the last snippet that ran, with its output.
func (r *reader) failedSnippet(t *testing.T) string {
	t.Helper()
	for n := len(r.snippets) - 1; n >= 0; n-- {
		if _, err := os.Stat(r.file(n, "err")); err == nil {
			b := r.snippets[n]
			return fmt.Sprintf("line %d:\n%s%s%s", b.line, b.text, textOf(t, r.file(n, "out")), textOf(t, r.file(n, "err")))
		}
	}
	return "no snippet ran"
}

// workflow is a file of GitHub Actions, with the fields that the examples and guides use.
type workflow struct {
	Name, Concurrency any
	On                map[string]any
	Permissions, Env  map[string]string
	Defaults          any
	Jobs              map[string]struct {
		If, Environment, Needs string
		RunsOn                 string `yaml:"runs-on"`
		TimeoutMinutes         int    `yaml:"timeout-minutes"`
		Permissions, Outputs   map[string]string
		Env                    map[string]string
		Strategy               any
		Steps                  []workflowStep
	}
}

type workflowStep struct {
	ID, Name, Uses, If, Run string
	Env                     map[string]string
	With                    map[string]any
}

// parseWorkflow decodes a workflow, which must have no other fields.
func parseWorkflow(t *testing.T, text string) (file workflow) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return file
}

// settingReference matches a reference to a secret or variable of the repository.
var settingReference = regexp.MustCompile(`^\$\{\{ (secrets|vars)\.(\w+) \}\}$`)

// pinned matches an action with the hash of a commit.
var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

// workflow returns commands that run the steps of a workflow once.
func (r *reader) workflow(t *testing.T, b snippet) string {
	t.Helper()
	file := parseWorkflow(t, b.text)
	text := exports(file.Env)
	for _, job := range file.Jobs {
		text += exports(job.Env)
		for _, s := range job.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("line %d: action %q is not pinned to a commit", b.line, s.Uses)
			}
			if s.Run != "" {
				text += fmt.Sprintf("(\n%s%s\n) </dev/null\n", exports(s.Env), withCLI(r.cli, s.Run))
			}
		}
	}
	return text
}

// exports returns commands that export variables. Secrets and variables of the repository come from the environment.
func exports(variables map[string]string) (text string) {
	for name, value := range variables {
		if setting := settingReference.FindStringSubmatch(value); setting != nil {
			value = "${" + setting[2] + ":?is not set}"
		}
		text += fmt.Sprintf("export %s=\"%s\"\n", name, value)
	}
	return text
}
