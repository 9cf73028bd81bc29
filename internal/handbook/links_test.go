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

// projectURL is the address of the project. Pages below it are files of this tree.
const projectURL = "https://github.com/gpurent/terraform-provider-gpurent"

// imagesURL is the address of the pictures. Pages of a registry need absolute addresses.
const imagesURL = "https://raw.githubusercontent.com/gpurent/terraform-provider-gpurent/main/docs/images/"

var (
	linkPattern    = regexp.MustCompile(`(?:\]\(|src(?:set)?=")([^)\s"]+)[)"]`)
	headingPattern = regexp.MustCompile(`(?m)^#+ (.+)$`)
	idPattern      = regexp.MustCompile(`<a id="([^"]+)">`)
	notInAnchor    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	// treePrefix matches the part of a link to a file of the project that follows projectURL.
	treePrefix = regexp.MustCompile(`^/(?:blob|tree|raw)/main(?:/|$)`)
	codeFence  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// allowedHosts are the hosts that pages may link to. This test cannot check those links, so the list is short.
var allowedHosts = []string{
	"cli.github.com",
	"developer.hashicorp.com",
	"docs.github.com",
	"docs.gitlab.com",
	"docs.ray.io",
	"docs.sigstore.dev",
	"go.dev",
	"keepachangelog.com",
	"opentofu.org",
	"reproducible-builds.org",
	"semver.org",
	"slsa.dev",
	"www.terraform.io",
	"github.com",
}

// projectPages are the pages of the project that are not files of the tree.
var projectPages = []string{"/releases", "/security/advisories/new", "/issues", "/discussions", "/actions"}

// markdown returns the pages of the tree by their path, without their code blocks.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", ".github/*.md", "internal/*.md", "docs/*.md", "docs/*/*.md", "examples/*.md",
		"examples/*/*.md", "examples/*/*/*.md"} {
		found, err := fs.Glob(os.DirFS(acctest.Root()), pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages %s: %v", pattern, err)
		}
		for _, name := range found {
			pages[name] = codeFence.ReplaceAllString(textOf(t, inProject(name)), "")
		}
	}
	return pages
}

// anchors returns the anchors of a page.
func anchors(page string) []string {
	var found []string
	for _, heading := range headingPattern.FindAllStringSubmatch(page, -1) {
		text := linkPattern.ReplaceAllString(heading[1], "")
		found = append(found, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-"))
	}
	for _, id := range idPattern.FindAllStringSubmatch(page, -1) {
		found = append(found, id[1])
	}
	return found
}

// The target of every link between pages and into the tree exists.
func TestLinks_Resolve(t *testing.T) {
	pages := markdown(t)
	for name, page := range pages {
		for _, link := range linkPattern.FindAllStringSubmatch(page, -1) {
			if wrong := brokenLink(pages, name, link[1]); wrong != "" {
				t.Errorf("%s: %s %s", name, link[1], wrong)
			}
		}
	}
}

// brokenLink returns the reason why a link is broken, and "" if it is not.
func brokenLink(pages map[string]string, from, link string) string {
	target, anchor, _ := strings.Cut(link, "#")
	target = strings.Replace(target, imagesURL, projectURL+"/raw/main/docs/images/", 1)
	if below, ours := strings.CutPrefix(target, projectURL); ours {
		if below == "" || slices.Contains(projectPages, below) {
			return ""
		}
		if file, isWorkflow := strings.CutPrefix(below, "/actions/workflows/"); isWorkflow {
			below = "/blob/main/.github/workflows/" + strings.TrimSuffix(file, "/badge.svg")
		}
		if !treePrefix.MatchString(below) {
			return "is not a file of the project"
		}
		target = strings.TrimSuffix(treePrefix.ReplaceAllString(below, ""), "/")
	} else if address, err := url.Parse(target); err != nil || address.IsAbs() {
		if err != nil || address.Scheme != "https" || !slices.Contains(allowedHosts, address.Host) {
			return "leads to a host that is not in allowedHosts"
		}
		return ""
	} else if target == "" {
		target = from
	} else {
		target = path.Join(path.Dir(from), target)
	}
	if !filepath.IsLocal(filepath.FromSlash(target)) {
		return "is outside the project"
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
