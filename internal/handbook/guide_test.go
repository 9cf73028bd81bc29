package handbook_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// block is a snippet of a guide.
type snippet struct {
	line           int
	language, text string
	// note is the text of the HTML comment on the line above the snippet.
	note string
}

// The notes of snippets. shownOnly has a reason after the colon.
const (
	otherTerminal = "other terminal"
	shownOnly     = "shown only:"
	mustFail      = "fails"
	// approvedInBrowser marks a login, which the test approves while the command waits.
	approvedInBrowser = "approved in a browser"
	// fromVersion marks what older CLIs do not support, with the version after it.
	fromVersion = "from "
)

// readGuide returns the text of a guide's template.
func readGuide(t *testing.T, name string) string {
	t.Helper()
	return textOf(t, filepath.Join(acctest.Root(), "templates", "guides", name))
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// parseSnippets returns the snippets of a guide.
func parseSnippets(t *testing.T, guide string) []snippet {
	t.Helper()
	var found []snippet
	var open *snippet
	above := ""
	for n, line := range strings.Split(guide, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && line == "```":
			found, open = append(found, *open), nil
		case open != nil:
			open.text += line + "\n"
		case fence:
			note, _ := strings.CutPrefix(above, "<!-- ")
			note, noted := strings.CutSuffix(note, " -->")
			open = &snippet{line: n + 1, language: language}
			if noted {
				open.note = note
			}
		}
		above = line
	}
	if open != nil {
		t.Fatalf("line %d: the snippet does not end", open.line)
	}
	return found
}

// guideRun runs all snippets of a guide in order.
type guideRun struct {
	// cli replaces terraform in commands, unless it is empty.
	cli    string
	folder string
	env    []string
	// outputs is the folder of the output of the snippets.
	outputs string
	// addresses maps the addresses in the guide to free ones.
	addresses map[string]string
	// cliConfig is the CLI configuration file for the steps of a workflow.
	cliConfig string
	// minSnippets is the least number of snippets, 10 by default.
	minSnippets int
	// before are snippets of another guide that run first.
	before   []snippet
	text     strings.Builder
	snippets []snippet
}

// guideAddress matches the addresses of simulators in the guides.
var guideAddress = regexp.MustCompile(`127\.0\.0\.1:84\d\d`)

// withFreeAddresses replaces the addresses in a text by free ones.
func (g *guideRun) withFreeAddresses(t *testing.T, text string) string {
	t.Helper()
	return guideAddress.ReplaceAllStringFunc(text, func(chosen string) string {
		if g.addresses[chosen] == "" {
			g.addresses[chosen] = freeAddress(t)
		}
		return g.addresses[chosen]
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// follow runs a guide: it saves its files, runs its commands in one shell, and compares their output with the guide.
func (g *guideRun) follow(t *testing.T, guide string) {
	t.Helper()
	needs(t, "bash", "curl")
	g.outputs, g.addresses = t.TempDir(), map[string]string{}
	g.text.WriteString("set -eu\n")
	for _, b := range append(g.before, parseSnippets(t, guide)...) {
		b.text = g.withFreeAddresses(t, b.text)
		if b.language == "sh" && g.cli != "" {
			b.text = withCLI(g.cli, b.text)
		}
		g.add(t, b)
	}
	_, err := script{
		name:   "the guide",
		text:   g.text.String(),
		folder: g.folder,
		shell:  []string{"bash", "--noprofile", "--norc"},
		env:    g.env,
	}.run(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, g.failedSnippet(t))
	}
	for n, b := range g.snippets {
		switch b.language {
		case "json":
			g.compareJSON(t, n, b)
		case "text":
			g.compareText(t, n, b)
		}
	}
	if len(g.snippets) < cmp.Or(g.minSnippets, 10) {
		t.Errorf("only %d snippets were run", len(g.snippets))
	}
}

// add adds a snippet to the script of the guide.
func (g *guideRun) add(t *testing.T, b snippet) {
	t.Helper()
	n := len(g.snippets)
	switch {
	case strings.HasPrefix(b.note, shownOnly):
		t.Logf("line %d is %s", b.line, b.note)
		return
	case strings.HasPrefix(b.note, fromVersion):
		if !g.cliHas(t, strings.TrimPrefix(b.note, fromVersion)) {
			t.Logf("line %d needs a newer CLI: %s", b.line, b.note)
			return
		}
		b.note = ""
		g.add(t, b)
		return
	case b.language == "sh" && b.note == otherTerminal:
		g.start(t, n, b)
	case b.language == "sh" && b.note == approvedInBrowser:
		g.approve(n, b)
	case b.language == "sh" && b.note == mustFail:
		if strings.Count(b.text, "\n") != 1 {
			t.Errorf("line %d: a snippet that must fail has one command", b.line)
		}
		fmt.Fprintf(
			&g.text,
			"if {\n%s} >%q 2>%q; then echo 'It did not fail.'; exit 1; fi\n",
			b.text,
			g.file(n, "out"),
			g.file(n, "err"),
		)
	case b.language == "sh":
		fmt.Fprintf(&g.text, "{\n%s} >%q 2>%q\n", b.text, g.file(n, "out"), g.file(n, "err"))
	case b.language == "yaml":
		g.text.WriteString(g.workflow(t, n, b))
	case b.language == "json", b.language == "text":
	case b.language == "terraform":
		g.save("main.tf", b.text)
	case b.language == "hcl":
		name, ok := strings.CutPrefix(strings.SplitN(b.text, "\n", 2)[0], "# ")
		if !ok || !filepath.IsLocal(name) {
			t.Fatalf("line %d: the first line is not a comment with the file name", b.line)
		}
		g.save(name, b.text)
	default:
		t.Errorf("line %d: no test runs a snippet of %q", b.line, b.language)
	}
	g.snippets = append(g.snippets, b)
}

func (g *guideRun) save(name, text string) {
	fmt.Fprintf(&g.text, "mkdir -p %q\ncat >%q <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(name), name, text)
}

func (g *guideRun) file(n int, kind string) string {
	return filepath.Join(g.outputs, fmt.Sprintf("%03d.%s", n, kind))
}

// start runs a simulator until the end of the test. The simulator prints a line when it is ready.
func (g *guideRun) start(t *testing.T, n int, b snippet) {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", "exec "+b.text)
	command.Dir, command.Env = g.folder, g.env
	var log bytes.Buffer
	command.Stderr = &log
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var line json.RawMessage
	if err := json.NewDecoder(stdout).Decode(&line); err != nil {
		t.Fatalf("line %d: %v\n%s", b.line, errors.Join(err, command.Wait()), &log)
	}
	if err := os.WriteFile(g.file(n, "out"), line, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(command.Process.Signal(os.Interrupt), command.Wait()); err != nil {
			t.Errorf("line %d: %v\n%s", b.line, err, &log)
		}
	})
}

// failedSnippet returns the snippet that failed, with its output.
func (g *guideRun) failedSnippet(t *testing.T) string {
	t.Helper()
	for n := len(g.snippets) - 1; n >= 0; n-- {
		stderr, err := os.ReadFile(g.file(n, "err"))
		if err != nil {
			continue
		}
		stdout, err := os.ReadFile(g.file(n, "out"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("line %d:\n%s%s%s", g.snippets[n].line, g.snippets[n].text, stdout, stderr)
	}
	return "no snippet ran"
}
