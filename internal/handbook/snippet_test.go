package handbook_test

import (
	"regexp"
	"strings"
)

// snippet is a code block of a page, or a hidden command.
type snippet struct {
	line           int
	language, text string
	// note is the HTML comment on the line above a code block, or "run" or "check" for a hidden command.
	note string
}

// The notes of snippets. shownOnly has a reason after the colon.
const (
	otherTerminal     = "other terminal"
	shownOnly         = "shown only:"
	mustFail          = "fails"
	approvedInBrowser = "approved in a browser"
)

// snippetPattern matches a hidden command, with the groups 1 and 2, or a code block, with its note, indentation,
// language and text.
var snippetPattern = regexp.MustCompile(
	"(?m)^ *<!-- (run|check) (.*) -->$|(?:<!-- (.*) -->\n)?^( *)```(\\w*)\n((?s:.*?))^ *```$")

// parseSnippets returns the snippets of a page.
func parseSnippets(page string) (found []snippet) {
	for _, at := range snippetPattern.FindAllStringSubmatchIndex(page, -1) {
		group := func(n int) string { return page[max(0, at[2*n]):max(0, at[2*n+1])] }
		line := 1 + strings.Count(page[:at[0]], "\n")
		if hidden := group(2); hidden != "" {
			found = append(found, snippet{line, "sh", hidden + "\n", group(1)})
			continue
		}
		text := strings.ReplaceAll("\n"+group(6), "\n"+group(4), "\n")[1:]
		found = append(found, snippet{line, group(5), text, group(3)})
	}
	return found
}

// step is a step of a job of GitHub Actions with commands.
type step struct{ name, run string }

// stepsOf returns the steps of a workflow. A command is on the line of run, or in the indented block below it.
func stepsOf(workflow string) (steps []step) {
	name, block := "", -1
	for line := range strings.Lines(workflow) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if block >= 0 && indent > block {
			steps[len(steps)-1].run += line[block+2:]
			continue
		}
		block = -1
		text = strings.TrimPrefix(text, "- ")
		if value, ok := strings.CutPrefix(text, "name: "); ok {
			name = strings.TrimSpace(value)
		}
		if value, ok := strings.CutPrefix(text, "run: "); ok {
			steps = append(steps, step{name, strings.TrimSuffix(value, "|\n")})
			if value == "|\n" {
				block = indent
			}
		}
	}
	return steps
}
