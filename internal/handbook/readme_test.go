package handbook_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// readmes are the READMEs in all languages.
var readmes = []string{"README.md", "README.ru.md"}

var (
	headingLevel   = regexp.MustCompile(`(?m)^#+ `)
	commentPattern = regexp.MustCompile(`(?m)\s*#.*$`)
)

// outline is the part of a page that does not depend on its language.
type outline struct {
	headings, links, commands []string
	rows                      int
}

func outlineOf(t *testing.T, page string) outline {
	t.Helper()
	var found outline
	for _, b := range parseSnippets(t, page) {
		found.commands = append(found.commands, b.language+" "+b.note+"\n"+commentPattern.ReplaceAllString(b.text, ""))
	}
	text := codeFence.ReplaceAllString(page, "")
	found.headings = headingLevel.FindAllString(text, -1)
	for _, link := range linkPattern.FindAllStringSubmatch(text, -1) {
		// Anchors depend on the language, and the pages link to each other.
		target, _, _ := strings.Cut(link[1], "#")
		if target != "" && !slices.Contains(readmes, target) {
			found.links = append(found.links, target)
		}
	}
	found.rows = strings.Count(text, "\n|")
	return found
}

// The Russian page has the headings, links, commands and tables of the English one.
func TestReadmes_HaveTheSameContent(t *testing.T) {
	var pages []outline
	for _, name := range readmes {
		pages = append(pages, outlineOf(t, textOf(t, filepath.Join(acctest.Root(), name))))
	}
	first, second := pages[0], pages[1]
	compareLists(t, "headings", first.headings, second.headings)
	compareLists(t, "links", first.links, second.links)
	compareLists(t, "commands", first.commands, second.commands)
	if first.rows != second.rows || first.rows < 10 || len(first.commands) < 4 || len(first.links) < 30 {
		t.Errorf("%d and %d rows, %d snippets, %d links", first.rows, second.rows, len(first.commands), len(first.links))
	}
}

func compareLists(t *testing.T, what string, first, second []string) {
	t.Helper()
	for n := range max(len(first), len(second)) {
		if n >= len(first) || n >= len(second) || first[n] != second[n] {
			t.Errorf(
				"%s of %s and %s differ from number %d on:\n%q\n%q",
				what,
				readmes[0],
				readmes[1],
				n+1,
				first[min(n, len(first)):],
				second[min(n, len(second)):],
			)
			return
		}
	}
}
