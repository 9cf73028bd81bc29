package handbook_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// readmes are the first page in each language that it is written in.
var readmes = []string{"README.md", "README.ru.md"}

var (
	aLevel   = regexp.MustCompile(`(?m)^#+ `)
	aComment = regexp.MustCompile(`(?m)\s*#.*$`)
)

// skeleton is what a page has in any language: the levels of its headings, its links, its commands, its tables' rows.
type skeleton struct {
	headings, links, commands []string
	rows                      int
}

func skeletonOf(t *testing.T, page string) skeleton {
	t.Helper()
	var bones skeleton
	for _, b := range blocks(t, page) {
		bones.commands = append(bones.commands, b.language+" "+b.note+"\n"+aComment.ReplaceAllString(b.text, ""))
	}
	text := aFence.ReplaceAllString(page, "")
	bones.headings = aLevel.FindAllString(text, -1)
	for _, link := range aLink.FindAllStringSubmatch(text, -1) {
		// A heading's name is in the language of its page, and each page leads to the other.
		target, _, _ := strings.Cut(link[1], "#")
		if target != "" && !slices.Contains(readmes, target) {
			bones.links = append(bones.links, target)
		}
	}
	bones.rows = strings.Count(text, "\n|")
	return bones
}

// Whoever reads the Russian page misses nothing.
func TestReadmesSayTheSame(t *testing.T) {
	var pages []skeleton
	for _, name := range readmes {
		pages = append(pages, skeletonOf(t, textOf(t, filepath.Join(acctest.Root(), name))))
	}
	first, second := pages[0], pages[1]
	same(t, "headings", first.headings, second.headings)
	same(t, "links", first.links, second.links)
	same(t, "commands", first.commands, second.commands)
	if first.rows != second.rows || first.rows < 20 || len(first.commands) < 4 || len(first.links) < 40 {
		t.Errorf("%d and %d rows, %d snippets, %d links", first.rows, second.rows, len(first.commands), len(first.links))
	}
}

func same(t *testing.T, what string, first, second []string) {
	t.Helper()
	for n := range max(len(first), len(second)) {
		if n >= len(first) || n >= len(second) || first[n] != second[n] {
			t.Errorf("%s of %s and %s differ from the %d. on:\n%q\n%q", what, readmes[0], readmes[1], n+1, first[min(n, len(first)):], second[min(n, len(second)):])
			return
		}
	}
}
