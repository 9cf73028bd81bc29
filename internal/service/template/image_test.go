package template

import (
	"strings"
	"testing"

	"github.com/distribution/reference"
)

// TestImageForm holds the form to the library of the registry's authors, whose
// patterns take longer to compile than everything else that starts.
func TestImageForm(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for _, image := range []string{
		"ubuntu", "ubuntu:24.04", "a/b:1", "ghcr.io/team/app:1.2_rc-3", "registry.example:5000/a/b", "registry.example:5000/a/b:1", "localhost/x:1", "[::1]:5000/x:1",
		"UPPER/x:1", "A.B/c:1", "a/B:1", "UPPER CASE:1", "a b:1", " a:1", "a:1 ", "a:1\n", "a:", ":1", "a//b:1", "/a:1", "a/:1", "a-/b:1", "a--b/c__d.e:1", "a..b:1", "a___b:1",
		"a_b.c/d:1", "a:-1", "a:.1", "a:_1", "a:1:2", "a:" + strings.Repeat("t", 128), "a:" + strings.Repeat("t", 129), "x@sha256:" + digest, "x:1@sha256:" + digest,
		"x:1@sha256:" + digest[1:], "x:1@sha512:" + digest + digest, "x:1@md5:" + digest[:32], "http://a/b:1", "я:1", "",
	} {
		named, err := reference.ParseNormalizedNamed(image)
		_, wantTag := named.(reference.Tagged)
		found := imageForm().FindStringSubmatch(image)
		if (found != nil) != (err == nil) {
			t.Errorf("%q: %q, but the library says %v", image, found, err)
		}
		if tagged := found != nil && found[1] != ""; err == nil && tagged != wantTag {
			t.Errorf("%q: tagged %t, want %t", image, tagged, wantTag)
		}
	}
}
