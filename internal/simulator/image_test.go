package simulator

import (
	"strings"
	"testing"
)

func TestTaggedImage(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for image, want := range map[string]bool{
		"a:1": true, "ubuntu:24.04": true, "ghcr.io/team/app:1.2_rc-3": true, "registry.example:5000/a/b:1": true,
		"Host/a:1": true, "x:1" + digest: true,
		"ubuntu": false, "registry.example:5000/a/b": false, "x" + digest: false, "x:1@sha256:a": false, "a:" +
			strings.Repeat("t", 129): false,
		"UPPER CASE:1": false, "a/B:1": false, "a b:1": false, " a:1": false, "a:1\n": false, "a:": false, ":1": false,
		"a:-1": false, "a//b:1": false, "a/:1": false, "": false,
	} {
		if got := taggedImage(image); got != want {
			t.Errorf("%q: %t, want %t", image, got, want)
		}
	}
}
