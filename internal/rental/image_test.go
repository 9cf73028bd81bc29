package rental

import (
	"strings"
	"testing"
)

func TestSameImage(t *testing.T) {
	digest, otherDigest := "@sha256:"+strings.Repeat("a", 64), "@sha256:"+strings.Repeat("b", 64)
	tests := []struct {
		a, b string
		same bool
	}{
		{"ubuntu:24.04", "docker.io/library/ubuntu:24.04", true},
		{"ubuntu:24.04", "index.docker.io/ubuntu:24.04", true},
		{"team/app:1", "docker.io/team/app:1", true},
		{"ubuntu", "ubuntu:latest", true},
		{"ubuntu:24.04", "docker.io/library/ubuntu:24.04" + digest, true},
		{"ubuntu" + digest, "ubuntu:24.04" + digest, true},
		{"Not An Image", "Not An Image", true},
		{"ubuntu:24.04", "ubuntu:22.04", false},
		{"ubuntu:24.04", "ghcr.io/library/ubuntu:24.04", false},
		{"ubuntu:24.04", "debian:24.04", false},
		{"ubuntu:24.04" + digest, "ubuntu:24.04" + otherDigest, false},
		{"ubuntu" + digest, "ubuntu:24.04", false},
		{"ubuntu:24.04", "Not An Image", false},
		{"ubuntu:24.04", "", false},
	}
	for _, test := range tests {
		if SameImage(test.a, test.b) != test.same || SameImage(test.b, test.a) != test.same {
			t.Errorf("%q and %q: want same %t", test.a, test.b, test.same)
		}
	}
}
