package handbook_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shellComment matches a comment at the end of a command.
var shellComment = regexp.MustCompile(`(?m)\s*#.*$`)

// The Russian README has the commands and the links of the English one, so that one test follows both.
func TestReadmes_HaveTheSameContent(t *testing.T) {
	type content struct{ Commands, Links []string }
	contentOf := func(name string) (found content) {
		page := textOf(t, inProject(name))
		for _, b := range parseSnippets(t, page) {
			found.Commands = append(found.Commands, b.note+"\n"+shellComment.ReplaceAllString(b.text, ""))
		}
		for _, link := range linkPattern.FindAllStringSubmatch(page, -1) {
			// Anchors depend on the language, and the pages link to each other.
			target, _, _ := strings.Cut(link[1], "#")
			if !slices.Contains([]string{"", "README.md", "README.ru.md"}, target) {
				found.Links = append(found.Links, target)
			}
		}
		return found
	}
	if difference := cmp.Diff(contentOf("README.md"), contentOf("README.ru.md")); difference != "" {
		t.Errorf("README.md (-) and README.ru.md (+) differ:\n%s", difference)
	}
}
