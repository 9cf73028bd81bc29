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
type block struct {
	line           int
	language, text string
	// note is the remark, unseen by readers, on the line above it.
	note string
}

// The remarks a snippet can bear. One that is only shown gives its reason after the colon.
const (
	otherTerminal = "other terminal"
	shownOnly     = "shown only:"
	mustFail      = "fails"
	// approvedInBrowser is that of a login: a person goes to its page meanwhile.
	approvedInBrowser = "approved in a browser"
	// fromVersion is that of what older CLIs cannot do, with the version after it.
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

// blocks finds the snippets of a guide.
func blocks(t *testing.T, guide string) []block {
	t.Helper()
	var found []block
	var open *block
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
			open = &block{line: n + 1, language: language}
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

// guideRun is a reader who does all that a guide says, in order.
type guideRun struct {
	// cli is what is written for terraform: a reader with OpenTofu writes tofu. "" leaves it.
	cli    string
	folder string
	env    []string
	// outputs is where the snippets print.
	outputs string
	// addresses take the place of those that the guide chooses: they may be in use here.
	addresses map[string]string
	// pipeline names the CLI's settings on a machine that runs a workflow.
	pipeline string
	// least is how many snippets there are, 10 by default; fewer, and the test looks in the wrong place.
	least int
	// before are snippets of another guide, which the reader follows first.
	before []block
	text   strings.Builder
	ran    []block
}

// guideAddress is where the guides have simulators listen.
var guideAddress = regexp.MustCompile(`127\.0\.0\.1:84\d\d`)

// elsewhere is the text with addresses that are free.
func (g *guideRun) elsewhere(t *testing.T, text string) string {
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

// follow does what the guide says: it saves files, runs commands in one shell, and holds the JSON that is shown against
// what the commands have answered.
func (g *guideRun) follow(t *testing.T, guide string) {
	t.Helper()
	needs(t, "bash", "curl")
	g.outputs, g.addresses = t.TempDir(), map[string]string{}
	g.text.WriteString("set -eu\n")
	for _, b := range append(g.before, blocks(t, guide)...) {
		b.text = g.elsewhere(t, b.text)
		if b.language == "sh" && g.cli != "" {
			b.text = typed(g.cli, b.text)
		}
		g.take(t, b)
	}
	_, err := script{
		name: "the guide", text: g.text.String(), folder: g.folder, shell: []string{"bash", "--noprofile", "--norc"}, env: g.env,
	}.run(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, g.lastWords(t))
	}
	for n, b := range g.ran {
		switch b.language {
		case "json":
			g.compare(t, n, b)
		case "text":
			g.said(t, n, b)
		}
	}
	if len(g.ran) < cmp.Or(g.least, 10) {
		t.Errorf("only %d snippets were run: this test looks in the wrong place", len(g.ran))
	}
}

// take adds a snippet to what the reader does.
func (g *guideRun) take(t *testing.T, b block) {
	t.Helper()
	n := len(g.ran)
	switch {
	case strings.HasPrefix(b.note, shownOnly):
		t.Logf("line %d is %s", b.line, b.note)
		return
	case strings.HasPrefix(b.note, fromVersion):
		if !g.has(t, strings.TrimPrefix(b.note, fromVersion)) {
			t.Logf("line %d is for newer CLIs: %s", b.line, b.note)
			return
		}
		b.note = ""
		g.take(t, b)
		return
	case b.language == "sh" && b.note == otherTerminal:
		g.start(t, n, b)
	case b.language == "sh" && b.note == approvedInBrowser:
		g.approve(n, b)
	case b.language == "sh" && b.note == mustFail:
		if strings.Count(b.text, "\n") != 1 {
			t.Errorf("line %d: of several commands that are to fail, only the last one counts", b.line)
		}
		fmt.Fprintf(&g.text, "if {\n%s} >%q 2>%q; then echo 'It did not fail.'; exit 1; fi\n", b.text, g.file(n, "out"), g.file(n, "err"))
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
			t.Fatalf("line %d: the first line of the file does not name it", b.line)
		}
		g.save(name, b.text)
	default:
		t.Errorf("line %d: a snippet of %q that nothing tests", b.line, b.language)
	}
	g.ran = append(g.ran, b)
}

func (g *guideRun) save(name, text string) {
	fmt.Fprintf(&g.text, "mkdir -p %q\ncat >%q <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(name), name, text)
}

func (g *guideRun) file(n int, kind string) string {
	return filepath.Join(g.outputs, fmt.Sprintf("%03d.%s", n, kind))
}

// start runs a simulator as long as the test lasts. It is ready when its first line is there.
func (g *guideRun) start(t *testing.T, n int, b block) {
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

// lastWords shows the snippet that failed.
func (g *guideRun) lastWords(t *testing.T) string {
	t.Helper()
	for n := len(g.ran) - 1; n >= 0; n-- {
		said, err := os.ReadFile(g.file(n, "err"))
		if err != nil {
			continue
		}
		out, err := os.ReadFile(g.file(n, "out"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("line %d:\n%s%s%s", g.ran[n].line, g.ran[n].text, out, said)
	}
	return "no snippet ran"
}
