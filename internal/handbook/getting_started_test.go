package handbook_test

import (
	"regexp"
	"strings"
	"testing"
)

// maxCommands is the number of commands to a first server.
const maxCommands = 5

var (
	hereDocument = regexp.MustCompile(`<<'?(\w+)'?`)
	quoted       = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	between      = regexp.MustCompile(`&&|\|\||[;|]`)
)

// commands returns the commands of a shell snippet. It skips the text of here-documents and quoted text.
func commands(snippet string) []string {
	var found []string
	end := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(snippet, "\\\n", " "), "\n") {
		if end != "" {
			if line == end {
				end = ""
			}
			continue
		}
		if document := hereDocument.FindStringSubmatch(line); document != nil {
			end = document[1]
		}
		for _, part := range between.Split(quoted.ReplaceAllString(line, "…"), -1) {
			if part = strings.TrimSpace(part); part != "" && !strings.HasPrefix(part, "#") {
				found = append(found, part)
			}
		}
	}
	return found
}

func TestCommands_Count(t *testing.T) {
	for snippet, want := range map[string]int{
		"terraform apply\n":                          1,
		"a && b; c | d\n":                            4,
		"a --x \\\n  --y\n# why\n\nb\n":              2,
		"cat >f <<EOF\nx = \"$(y; z)\"\na\nEOF\nb\n": 2,
		"cat >f <<'END' && b\nx\nEND\n":              2,
		"a \"$(b; c)\" 'd; e'\n":                     1,
		"one=1 two=2 a >b 2>&1\n":                    1,
		"for x in 1 2\ndo\n  a\ndone\n":              4,
	} {
		if got := commands(snippet); len(got) != want {
			t.Errorf("%d commands in %q, want %d: %q", len(got), snippet, want, got)
		}
	}
}

// A new user gets a running server with at most five commands, in whichever terminal they run.
func TestGettingStarted_TakesFiveCommands(t *testing.T) {
	var typed []string
	for _, b := range parseSnippets(t, readGuide(t, "getting-started.md")) {
		if b.language != "sh" {
			continue
		}
		typed = append(typed, commands(b.text)...)
		if strings.Contains(b.text, "terraform apply") {
			break
		}
	}
	if last := typed[len(typed)-1]; len(typed) > maxCommands || !strings.HasPrefix(last, "terraform apply") {
		t.Errorf("%d commands to the end of the apply, want %d at most: %q", len(typed), maxCommands, typed)
	}
}
