package handbook_test

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// projectURL is the address of the project. Pages below it are files of this tree.
const projectURL = "https://github.com/gpurent/terraform-provider-gpurent"

// imagesURL is the address of the pictures. Pages of a registry need absolute addresses.
const imagesURL = "https://raw.githubusercontent.com/gpurent/terraform-provider-gpurent/main/docs/images/"

var (
	linkPattern    = regexp.MustCompile(`(?:\]\(|src(?:set)?=")([^)\s"]+)[)"]`)
	headingPattern = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	codeFence      = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	// notInTree matches the pages of the project that are not files of the tree.
	notInTree = regexp.MustCompile(`^(?:|/releases|/security/advisories/new|/issues|/discussions|/actions)$`)
	// inTree matches the part of a link to a file of the tree that follows projectURL.
	inTree = regexp.MustCompile(`^/(?:blob|tree|raw)/main(?:/|$)`)
)

// allowedHosts are the hosts that pages may link to. This test cannot check those links, so the list is short.
var allowedHosts = []string{
	"cli.github.com", "developer.hashicorp.com", "docs.github.com", "docs.gitlab.com", "docs.ray.io", "docs.sigstore.dev",
	"github.com", "go.dev", "keepachangelog.com", "opentofu.org", "reproducible-builds.org", "semver.org", "slsa.dev",
	"www.terraform.io",
}

// hasAnchor reports whether a page has a heading or an id for an anchor.
func hasAnchor(page, anchor string) bool {
	for _, heading := range headingPattern.FindAllStringSubmatch(page, -1) {
		text := strings.ToLower(linkPattern.ReplaceAllString(heading[1], ""))
		if strings.ReplaceAll(notInAnchor.ReplaceAllString(text, ""), " ", "-") == anchor {
			return true
		}
	}
	return strings.Contains(page, `<a id="`+anchor+`">`)
}

// The target of every link between pages and into the tree exists.
func TestLinks_Resolve(t *testing.T) {
	for _, from := range filesIn(t, inProject(), ".md") {
		if strings.HasPrefix(from, "templates/") || strings.Contains(from, "/testdata/") {
			continue // docs has the pages of templates
		}
		page := codeFence.ReplaceAllString(textOf(t, inProject(from)), "")
		for _, link := range linkPattern.FindAllStringSubmatch(page, -1) {
			if wrong := brokenLink(t, from, link[1]); wrong != "" {
				t.Errorf("%s: %s %s", from, link[1], wrong)
			}
		}
	}
}

// brokenLink returns the reason why a link is broken, and "" if it is not.
func brokenLink(t *testing.T, from, link string) string {
	t.Helper()
	target, anchor, _ := strings.Cut(link, "#")
	target = strings.Replace(target, imagesURL, projectURL+"/raw/main/docs/images/", 1)
	if below, ours := strings.CutPrefix(target, projectURL); ours {
		if notInTree.MatchString(below) {
			return ""
		}
		if !inTree.MatchString(below) {
			return "is not a file of the project"
		}
		target = inTree.ReplaceAllString(below, "")
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
	file := inProject(filepath.FromSlash(target))
	if _, err := os.Stat(file); err != nil {
		return "does not exist"
	}
	if anchor != "" && path.Ext(target) == ".md" && !hasAnchor(codeFence.ReplaceAllString(textOf(t, file), ""), anchor) {
		return "has no such heading"
	}
	return ""
}
