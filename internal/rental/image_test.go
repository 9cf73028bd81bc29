package rental

import (
	"strings"
	"testing"
)

func TestSameImage(t *testing.T) {
	digest, otherDigest := "@sha256:"+strings.Repeat("a", 64), "@sha256:"+strings.Repeat("b", 64)
	for pair, same := range map[[2]string]bool{
		{"ubuntu:24.04", "docker.io/library/ubuntu:24.04"}:          true,
		{"ubuntu:24.04", "index.docker.io/ubuntu:24.04"}:            true,
		{"team/app:1", "docker.io/team/app:1"}:                      true,
		{"ubuntu", "ubuntu:latest"}:                                 true,
		{"ubuntu:24.04", "docker.io/library/ubuntu:24.04" + digest}: true,
		{"ubuntu" + digest, "ubuntu:24.04" + digest}:                true,
		{"Not An Image", "Not An Image"}:                            true,
		{"ubuntu:24.04", "ubuntu:22.04"}:                            false,
		{"ubuntu:24.04", "ghcr.io/library/ubuntu:24.04"}:            false,
		{"ubuntu:24.04", "debian:24.04"}:                            false,
		{"ubuntu:24.04" + digest, "ubuntu:24.04" + otherDigest}:     false,
		{"ubuntu" + digest, "ubuntu:24.04"}:                         false,
		{"ubuntu:24.04", "Not An Image"}:                            false,
		{"ubuntu:24.04", ""}:                                        false,
	} {
		if a, b := pair[0], pair[1]; SameImage(a, b) != same || SameImage(b, a) != same {
			t.Errorf("%q and %q: want same %t", a, b, same)
		}
	}
}
