package handbook_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// home is where the project is published: what lies below it is in this tree.
const home = "https://github.com/gpurent/terraform-provider-gpurent"

var (
	aLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	aHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anID     = regexp.MustCompile(`<a id="([^"]+)">`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	// inTree is how a link to a file of the project goes on after home.
	inTree = regexp.MustCompile(`^/(?:blob|tree|raw)/main(?:/|$)`)
	aFence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// outside are the hosts that pages may send a reader to. Nothing here can tell whether they still have what is looked
// for, so they are few, and none of ours.
var outside = []string{
	"cli.github.com", "developer.hashicorp.com", "docs.github.com", "docs.gitlab.com", "docs.ray.io", "docs.sigstore.dev", "go.dev", "keepachangelog.com",
	"opentofu.org", "reproducible-builds.org", "semver.org", "slsa.dev", "www.terraform.io", "github.com",
}

// toServices are the project's pages that no file of the tree is behind.
var toServices = []string{"/releases", "/security/advisories/new", "/issues", "/discussions", "/actions"}

// markdown returns the pages of the tree by their path, without their code blocks.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := fs.WalkDir(os.DirFS(acctest.Root()), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{".git", "bin", "dist", "testdata", "templates"}, file) || entry.Name() == ".terraform"):
			return fs.SkipDir
		case path.Ext(file) != ".md":
			return nil
		}
		content, err := os.ReadFile(filepath.Join(acctest.Root(), filepath.FromSlash(file)))
		pages[file] = aFence.ReplaceAllString(string(content), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// anchors are the places in a page that a link can lead to.
func anchors(page string) []string {
	var found []string
	for _, heading := range aHeading.FindAllStringSubmatch(page, -1) {
		text := aLink.ReplaceAllString(heading[1], "")
		found = append(found, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-"))
	}
	for _, id := range anID.FindAllStringSubmatch(page, -1) {
		found = append(found, id[1])
	}
	return found
}

// Every link of every page, between pages and into the tree, leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, links := markdown(t), 0
	for name, page := range pages {
		for _, link := range aLink.FindAllStringSubmatch(page, -1) {
			links++
			if wrong := deadLink(pages, name, link[1]); wrong != "" {
				t.Errorf("%s: %s %s", name, link[1], wrong)
			}
		}
	}
	if links < 200 || len(pages) < 40 {
		t.Errorf("only %d links in %d pages were found: this test looks in the wrong place", links, len(pages))
	}
}

func TestDeadLinksAreFound(t *testing.T) {
	pages := map[string]string{"docs/index.md": "# Home\n", "docs/guides/a.md": "# A `b` c\n"}
	for link, dead := range map[string]bool{
		"guides/a.md": false, "guides/a.md#a-b-c": false, "#home": false, home: false, home + "/blob/main/go.mod": false, home + "/releases": false,
		"https://go.dev/doc": false, "../go.mod": false,
		"guides/b.md": true, "guides/a.md#b": true, "#house": true, home + "/blob/main/none": true, home + "/tree/master/internal": true,
		"https://example.com/": true, "http://go.dev/": true, "../../outside.md": true,
	} {
		if wrong := deadLink(pages, "docs/index.md", link); (wrong != "") != dead {
			t.Errorf("%s: %q, want a complaint: %t", link, wrong, dead)
		}
	}
}

// deadLink says what is wrong with a link; "" means nothing.
func deadLink(pages map[string]string, from, link string) string {
	target, anchor, _ := strings.Cut(link, "#")
	if below, ours := strings.CutPrefix(target, home); ours {
		if below == "" || slices.Contains(toServices, below) {
			return ""
		}
		if !inTree.MatchString(below) {
			return "is no address of a file of the project"
		}
		target = strings.TrimSuffix(inTree.ReplaceAllString(below, ""), "/")
	} else if address, err := url.Parse(target); err != nil || address.IsAbs() {
		if err != nil || address.Scheme != "https" || !slices.Contains(outside, address.Host) {
			return "leads outside"
		}
		return ""
	} else if target == "" {
		target = from
	} else {
		target = path.Join(path.Dir(from), target)
	}
	if !filepath.IsLocal(filepath.FromSlash(target)) {
		return "leads out of the project"
	}
	page, isPage := pages[target]
	if _, err := os.Stat(filepath.Join(acctest.Root(), filepath.FromSlash(target))); err != nil && !isPage {
		return "does not exist"
	}
	if anchor != "" && path.Ext(target) == ".md" && !slices.Contains(anchors(page), anchor) {
		return "has no such heading"
	}
	return ""
}
