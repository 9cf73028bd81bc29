package handbook_test

import (
	"regexp"
	"strings"
	"testing"
)

// mostCommands is how many commands stand between a reader and a first server.
const mostCommands = 5

var (
	hereDocument = regexp.MustCompile(`<<'?(\w+)'?`)
	quoted       = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	between      = regexp.MustCompile(`&&|\|\||[;|]`)
)

// commands are those that a reader has to run for a snippet, however they are strung together. The text of a document
// within is none, nor is what is quoted.
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

func TestCommandsAreCounted(t *testing.T) {
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

// A reader who has heard of the provider a minute ago gets to a running server with five commands at most, whichever
// terminal they are for and whether this test can run them.
func TestGettingStartedTakesFiveCommands(t *testing.T) {
	var typed []string
	for _, b := range blocks(t, readGuide(t, "getting-started.md")) {
		if b.language != "sh" {
			continue
		}
		typed = append(typed, commands(b.text)...)
		if strings.Contains(b.text, "terraform apply") {
			break
		}
	}
	if last := typed[len(typed)-1]; len(typed) > mostCommands || !strings.HasPrefix(last, "terraform apply") {
		t.Errorf("%d commands to the end of the apply, want %d at most: %q", len(typed), mostCommands, typed)
	}
}
