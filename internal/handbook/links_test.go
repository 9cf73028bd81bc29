package handbook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

var (
	aLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	aHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the places in a page that a link can lead to.
func anchors(page string) []string {
	var found []string
	for _, heading := range aHeading.FindAllStringSubmatch(page, -1) {
		found = append(found, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-"))
	}
	return found
}

// Links between the pages, and into the project, lead somewhere.
func TestGuideLinksLeadSomewhere(t *testing.T) {
	const home = "https://github.com/gpurent/terraform-provider-gpurent/"
	templates, err := filepath.Glob(filepath.Join(acctest.Root(), "templates", "guides", "*"))
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, template := range templates {
		name := filepath.Base(template)
		page := readGuide(t, name)
		for _, link := range aLink.FindAllStringSubmatch(page, -1) {
			links++
			target, anchor, _ := strings.Cut(link[1], "#")
			switch inside, ours := strings.CutPrefix(target, home); {
			case ours:
				_, path, _ := strings.Cut(inside, "/main/")
				if _, err := os.Stat(filepath.Join(acctest.Root(), path)); err != nil {
					t.Errorf("%s: %s: %v", name, link[1], err)
				}
				continue
			case strings.HasPrefix(target, "https://"):
				t.Errorf("%s: %s leads outside", name, link[1])
				continue
			case target != "":
				file := filepath.Join(acctest.Root(), "docs", "guides", target)
				content, err := os.ReadFile(file)
				if err != nil {
					t.Errorf("%s: %s: %v", name, link[1], err)
					continue
				}
				if anchor != "" && !slices.Contains(anchors(string(content)), anchor) {
					t.Errorf("%s: %s has no such heading", name, link[1])
				}
				continue
			}
			if !slices.Contains(anchors(page), anchor) {
				t.Errorf("%s: %s has no such heading", name, link[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links were found: this test looks in the wrong place", links)
	}
}
