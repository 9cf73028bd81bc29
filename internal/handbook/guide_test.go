package handbook_test

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// snippet is a code block of a guide, or a hidden command.
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
	// hidden is the note of a command that readers do not see. The template has it on a separate line:
	// <!-- run COMMAND -->. It has the functions of testdata/guides.sh. docgen removes these lines.
	hidden = "run "
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
	above, indent := "", ""
	for n, line := range strings.Split(guide, "\n") {
		text := strings.TrimPrefix(line, indent)
		trimmed := strings.TrimLeft(line, " ")
		switch language, fence := strings.CutPrefix(trimmed, "```"); {
		case open != nil && text == "```":
			found, open, indent = append(found, *open), nil, ""
		case open != nil:
			open.text += text + "\n"
		case fence:
			open, indent = &snippet{line: n + 1, language: language}, strings.TrimSuffix(line, trimmed)
			if note, ok := htmlComment(above); ok {
				open.note = note
			}
		default:
			if note, ok := htmlComment(trimmed); ok && strings.HasPrefix(note, hidden) {
				found = append(found, snippet{n + 1, "sh", strings.TrimPrefix(note, hidden) + "\n", hidden})
			}
		}
		above = trimmed
	}
	if open != nil {
		t.Fatalf("line %d: the snippet does not end", open.line)
	}
	return found
}

// htmlComment returns the text of a line that is an HTML comment.
func htmlComment(line string) (text string, ok bool) {
	text, begins := strings.CutPrefix(line, "<!-- ")
	text, ends := strings.CutSuffix(text, " -->")
	return text, begins && ends
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
	// minSnippets is the least number of snippets, 10 by default.
	minSnippets int
	// services maps the addresses of real services in the guide to those of simulators.
	services map[string]string
	// fast adds a file to each root module that polls without pauses.
	fast     bool
	text     strings.Builder
	snippets []snippet
}

// guideAddress matches the addresses of simulators in the guides.
var guideAddress = regexp.MustCompile(`127\.0\.0\.1:84\d\d`)

// realServices are the addresses of real services in the guides.
var realServices = []string{"https://rent.example/api/v1", "https://test.rent.example/api/v1"}

// withFreeAddresses replaces the addresses in a text by free ones.
func (g *guideRun) withFreeAddresses(t *testing.T, text string) string {
	t.Helper()
	for address, simulator := range g.services {
		text = strings.ReplaceAll(text, address, simulator)
	}
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

// begin is the begin of the script of a guide. Its argument is the folder of the files for hidden commands.
const begin = `set -eu
HANDBOOK=%q
simulators=
trap 'test -z "$simulators" || kill $simulators; wait $simulators' EXIT
. "$HANDBOOK/guides.sh"
`

// follow runs a guide: it saves its files, runs its commands in one shell, and compares their output with the guide.
func (g *guideRun) follow(t *testing.T, guide string) {
	t.Helper()
	needs(t, "bash", "curl")
	g.outputs, g.addresses = t.TempDir(), map[string]string{}
	fmt.Fprintf(&g.text, begin, filepath.Join(acctest.Root(), "internal", "handbook", "testdata"))
	for _, b := range parseSnippets(t, guide) {
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
	case b.language == "sh" && b.note == otherTerminal:
		g.start(n, b)
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
	case b.note == hidden:
		// An error before the last command of a list with && does not end a shell by itself.
		fmt.Fprintf(&g.text, "{\n%s} >%q 2>%q || exit\n", b.text, g.file(n, "out"), g.file(n, "err"))
	case b.language == "sh":
		fmt.Fprintf(&g.text, "{\n%s} >%q 2>%q\n", b.text, g.file(n, "out"), g.file(n, "err"))
	case b.language == "yaml":
		g.text.WriteString(g.workflow(t, n, b))
	case b.language == "json", b.language == "text", b.language == "mermaid":
	case b.language == "terraform":
		checkFormat(t, b)
		g.save("main.tf", b.text)
	case b.language == "hcl":
		name, ok := strings.CutPrefix(strings.SplitN(b.text, "\n", 2)[0], "# ")
		if !ok || !filepath.IsLocal(name) {
			t.Fatalf("line %d: the first line is not a comment with the file name", b.line)
		}
		checkFormat(t, b)
		g.save(name, b.text)
	default:
		t.Errorf("line %d: no test runs a snippet of %q", b.line, b.language)
	}
	g.snippets = append(g.snippets, b)
}

const (
	// source is in each root module. Most snippets leave it out.
	source = `terraform {
  required_providers {
    gpurent = { source = "gpurent/gpurent" }
  }
}

`
	fastPolling = `provider "gpurent" {
  poll_interval = "200ms"
}
`
)

// checkFormat compares a configuration with what "terraform fmt" would write.
func checkFormat(t *testing.T, b snippet) {
	t.Helper()
	if formatted := string(hclwrite.Format([]byte(b.text))); formatted != b.text {
		t.Errorf("line %d: the standard format is:\n%s", b.line, formatted)
	}
}

func (g *guideRun) save(name, text string) {
	if g.fast && filepath.Base(name) == "main.tf" && !strings.HasPrefix(name, "modules/") {
		override := fastPolling
		if !strings.Contains(text, "required_providers") {
			override = source + override
		}
		g.save(filepath.Join(filepath.Dir(name), "test_override.tf"), override)
	}
	fmt.Fprintf(&g.text, "mkdir -p %q\ncat >%q <<'END OF FILE'\n%sEND OF FILE\n", filepath.Dir(name), name, text)
}

func (g *guideRun) file(n int, kind string) string {
	return filepath.Join(g.outputs, fmt.Sprintf("%03d.%s", n, kind))
}

// start runs a simulator until the end of the script. The simulator prints a line when it is ready.
func (g *guideRun) start(n int, b snippet) {
	fmt.Fprintf(&g.text, "(exec %s) >%[2]q 2>%[3]q &\nsimulators=\"$simulators $!\"\n"+
		"until test -s %[2]q; do kill -0 $! || { cat %[3]q >&2; exit 1; }; sleep 0.05; done\n",
		strings.TrimSuffix(b.text, "\n"), g.file(n, "out"), g.file(n, "err"))
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
