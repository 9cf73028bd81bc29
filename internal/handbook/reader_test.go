package handbook_test

import (
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

// reader runs the snippets of a page in one shell, in order, as somebody does who reads it.
type reader struct {
	t *testing.T
	// cli replaces terraform in commands, unless it is empty.
	cli    string
	folder string
	env    []string
	// fast adds a file to each root module that polls without long pauses.
	fast bool
	// replaced maps the addresses of services and simulators in the page to those of this test.
	replaced map[string]string
	// outputs is a folder with the stdout ("out") and stderr ("err") of each snippet.
	outputs  string
	script   strings.Builder
	snippets []snippet
}

// simulatorAddress matches the addresses of simulators in the pages.
var simulatorAddress = regexp.MustCompile(`127\.0\.0\.1:84\d\d`)

// cliCommand matches the name of the CLI in a command. "terraform {" begins a block.
var cliCommand = regexp.MustCompile(`\bterraform ([^{])`)

// replace replaces the addresses in a text, those of the page's simulators by free ones.
func (r *reader) replace(text string) string {
	r.t.Helper()
	for _, chosen := range simulatorAddress.FindAllString(text, -1) {
		if r.replaced[chosen] == "" {
			var config net.ListenConfig
			listener, err := config.Listen(r.t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				r.t.Fatal(err)
			}
			defer listener.Close()
			r.replaced[chosen] = listener.Addr().String()
		}
	}
	for from, to := range r.replaced {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// follow runs the snippets, and compares the output with what the page shows.
func (r *reader) follow(snippets []snippet) {
	r.t.Helper()
	r.outputs = r.t.TempDir()
	if r.replaced == nil {
		r.replaced = map[string]string{}
	}
	r.script.WriteString("simulators=\ntrap 'test -z \"$simulators\" || kill $simulators; wait $simulators' EXIT\n")
	for _, s := range snippets {
		s.text = r.replace(s.text)
		if s.language == "sh" && r.cli != "" {
			s.text = cliCommand.ReplaceAllString(s.text, r.cli+" $1")
		}
		if strings.HasPrefix(s.note, shownOnly) {
			r.t.Logf("line %d is %s", s.line, s.note)
			continue
		}
		r.add(s)
		r.snippets = append(r.snippets, s)
	}
	output, status := run(r.t, r.script.String(), r.folder, r.env)
	if status != 0 {
		r.t.Fatalf("exit status %d\n%s\n%s", status, output, r.failed())
	}
	for n, s := range r.snippets {
		if s.language == "text" || s.language == "json" {
			r.compare(n, s)
		}
	}
}

// add adds a snippet to the script.
func (r *reader) add(s snippet) {
	r.t.Helper()
	n := len(r.snippets)
	to := fmt.Sprintf(">%q 2>%q", r.file(n, "out"), r.file(n, "err"))
	switch s.language + " " + s.note {
	case "sh " + otherTerminal: // the simulator prints a line when it is ready
		fmt.Fprintf(&r.script, "(exec %s) %s &\nsimulators=\"$simulators $!\"\n", strings.TrimSuffix(s.text, "\n"), to)
		fmt.Fprintf(&r.script, "until test -s %q; do kill -0 $!; sleep 0.05; done\n", r.file(n, "out"))
	case "sh " + approvedInBrowser:
		fmt.Fprintf(&r.script, "{\n%s} %s &\napprove %q $!\n", s.text, to, r.file(n, "out"))
	case "sh " + mustFail:
		fmt.Fprintf(&r.script, "if {\n%s} %s; then echo 'It did not fail.'; exit 1; fi\n", s.text, to)
	case "sh run", "sh check": // an error before the last command of a list with && does not end a shell by itself
		fmt.Fprintf(&r.script, "{\n%s} %s || exit\n", s.text, to)
	case "sh ":
		fmt.Fprintf(&r.script, "{\n%s} %s\n", s.text, to)
	case "yaml ":
		for _, step := range stepsOf(s.text) {
			fmt.Fprintf(&r.script, "{\n%s} %s\n", cliCommand.ReplaceAllString(step.run, r.cli+" $1"), to)
		}
	case "hcl ", "terraform ":
		r.save(s)
	case "diff ":
		r.change(s)
	case "text ", "json ":
	default:
		r.t.Errorf("line %d: no test runs a snippet of %q with the note %q", s.line, s.language, s.note)
	}
}

// fileName returns the file name in the comment on the first line of a snippet.
func (r *reader) fileName(s snippet) string {
	name, ok := strings.CutPrefix(strings.SplitN(s.text, "\n", 2)[0], "# ")
	if !ok || !filepath.IsLocal(name) {
		r.t.Fatalf("line %d: the first line is not a comment with the file name", s.line)
	}
	return name
}

// save saves a configuration, which must have the format of "terraform fmt".
func (r *reader) save(s snippet) {
	r.t.Helper()
	if formatted := string(hclwrite.Format([]byte(s.text))); formatted != s.text {
		r.t.Errorf("line %d: the standard format is:\n%s", s.line, formatted)
	}
	name := "main.tf" // of the index page
	if s.language == "hcl" {
		name = r.fileName(s)
	}
	const file = "mkdir -p %q\ncat >%q <<'END OF FILE'\n%sEND OF FILE\n"
	fmt.Fprintf(&r.script, file, filepath.Dir(name), name, s.text)
	if r.fast && filepath.Base(name) == "main.tf" && !strings.HasPrefix(name, "modules/") {
		const polling = "provider \"gpurent\" {\n  poll_interval = \"200ms\"\n}\n"
		fmt.Fprintf(&r.script, file, filepath.Dir(name), filepath.Join(filepath.Dir(name), "test_override.tf"), polling)
	}
}

// change changes a file as a diff shows: it replaces the lines with "-" and " " by those with "+" and " ".
func (r *reader) change(s snippet) {
	r.t.Helper()
	var before, after string
	for line := range strings.Lines(s.text) {
		if line[0] == '-' || line[0] == ' ' {
			before += line[1:]
		}
		if line[0] == '+' || line[0] == ' ' {
			after += line[1:]
		}
	}
	n := len(r.snippets)
	fmt.Fprintf(&r.script, "replace %q %q %q\n", r.fileName(s), write(r.t, before, r.file(n, "before")),
		write(r.t, after, r.file(n, "after")))
}

// file returns the name of a file of a snippet.
func (r *reader) file(n int, kind string) string {
	return filepath.Join(r.outputs, fmt.Sprintf("%03d.%s", n, kind))
}

// failed returns the last snippet that ran, with its output.
func (r *reader) failed() string {
	for n := len(r.snippets) - 1; n >= 0; n-- {
		if _, err := os.Stat(r.file(n, "err")); err == nil {
			s := r.snippets[n]
			return fmt.Sprintf("line %d:\n%s%s%s", s.line, s.text, textOf(r.t, r.file(n, "out")), textOf(r.t, r.file(n, "err")))
		}
	}
	return "no snippet ran"
}

// stripColors removes the colors from the output of a CLI.
var stripColors = regexp.MustCompile("\x1b\\[[0-9]*m")

// fieldName matches the name of a field of JSON.
var fieldName = regexp.MustCompile(`"\w+": `)

// compare expects what a page shows in the output of the preceding command: a text except for line breaks and the bars
// beside an error, where "…" matches any text, or the fields of JSON, whose values differ.
func (r *reader) compare(n int, s snippet) {
	r.t.Helper()
	output := textOf(r.t, r.file(n-1, "out")) + " " + textOf(r.t, r.file(n-1, "err"))
	if s.language == "json" {
		for _, field := range fieldName.FindAllString(s.text, -1) {
			if !strings.Contains(strings.ReplaceAll(output, `":`, `": `), field) {
				r.t.Errorf("line %d: the command does not print %s:\n%s", s.line, field, output)
			}
		}
		return
	}
	rest := acctest.WithoutFrame(stripColors.ReplaceAllString(output, ""))
	for part := range strings.SplitSeq(acctest.WithoutFrame(s.text), "…") {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			r.t.Errorf("line %d: the output has no %q after:\n%s", s.line, part, rest)
			return
		}
		rest = after
	}
}
