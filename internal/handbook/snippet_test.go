package handbook_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// snippet is a code block of a page, or a hidden command.
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
	// check is the note of a command that readers do not see, and that only reads: <!-- check COMMAND --> on a separate
	// line of a template. It has the functions of testdata/guides.sh. docgen removes these lines.
	check = "check "
	// forReader is the note of a command that readers do not see, and that does what they do elsewhere, with the reason:
	// <!-- run COMMAND # REASON -->.
	forReader = "run "
)

// checkPattern matches commands that only read.
var checkPattern = regexp.MustCompile(
	`^(! )?(expect\w*|no_changes|shows '[^']*' (-chdir=\S+ )?(plan|show)|grep|test)\b`)

// parseHidden returns the hidden command of a line, or false.
func parseHidden(t *testing.T, n int, line string) (snippet, bool) {
	t.Helper()
	comment := htmlComment(line)
	if command, ok := strings.CutPrefix(comment, forReader); ok {
		if !strings.Contains(command, " # ") {
			t.Errorf("line %d: a command that readers do not see, and that does not only read, needs a reason", n)
		}
		return snippet{n, "sh", command + "\n", forReader}, true
	}
	command, ok := strings.CutPrefix(comment, check)
	for part := range strings.SplitSeq(command, " && ") {
		if ok && !checkPattern.MatchString(part) {
			t.Errorf("line %d: a check that readers do not see may only read: %s", n, part)
		}
	}
	return snippet{n, "sh", command + "\n", check}, ok
}

// parseSnippets returns the snippets of a page.
func parseSnippets(t *testing.T, page string) []snippet {
	t.Helper()
	var found []snippet
	var open *snippet
	above, indent := "", ""
	for n, line := range strings.Split(page, "\n") {
		text := strings.TrimPrefix(line, indent)
		trimmed := strings.TrimLeft(line, " ")
		switch language, fence := strings.CutPrefix(trimmed, "```"); {
		case open != nil && text == "```":
			found, open, indent = append(found, *open), nil, ""
		case open != nil:
			open.text += text + "\n"
		case fence:
			open, indent = &snippet{line: n + 1, language: language, note: htmlComment(above)}, strings.TrimSuffix(line, trimmed)
		default:
			if command, ok := parseHidden(t, n+1, trimmed); ok {
				found = append(found, command)
			}
		}
		above = trimmed
	}
	if open != nil {
		t.Fatalf("line %d: the snippet does not end", open.line)
	}
	return found
}

// htmlComment returns the text of a line that is an HTML comment, and "" for any other line.
func htmlComment(line string) string {
	text, begins := strings.CutPrefix(line, "<!-- ")
	text, ends := strings.CutSuffix(text, " -->")
	if !begins || !ends {
		return ""
	}
	return text
}

// readGuide returns the text of a guide's template.
func readGuide(t *testing.T, name string) string {
	t.Helper()
	return textOf(t, inProject("templates", "guides", name))
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// inProject returns the path of a file or folder of this tree.
func inProject(path ...string) string {
	return filepath.Join(append([]string{acctest.Root()}, path...)...)
}

// example returns the path of a file or folder of the examples.
func example(path ...string) string { return inProject(append([]string{"examples"}, path...)...) }

// filesIn returns the files below a folder whose names have the suffix.
func filesIn(t *testing.T, folder, end string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == ".terraform" { // of a reader who has run an example here
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, end) {
			found = append(found, file)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files *%s in %s: %v", len(found), end, folder, err)
	}
	return found
}
