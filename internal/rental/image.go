package rental

import "github.com/distribution/reference"

// SameImage reports whether two references denote the same container image. For example, docker.io/library/ubuntu:24.04
// is ubuntu:24.04, and ubuntu is ubuntu:latest. If both have a digest, it compares the digests and not the tags; a
// digest of only one of them is ignored. References that cannot be parsed must be equal.
func SameImage(a, b string) bool {
	if a == b {
		return true
	}
	one, err := reference.ParseNormalizedNamed(a)
	if err != nil {
		return false
	}
	other, err := reference.ParseNormalizedNamed(b)
	if err != nil || one.Name() != other.Name() {
		return false
	}
	oneDigest, oneOK := one.(reference.Digested)
	otherDigest, otherOK := other.(reference.Digested)
	if oneOK && otherOK {
		return oneDigest.Digest() == otherDigest.Digest()
	}
	return imageTag(one) == imageTag(other)
}

// imageTag returns the tag of a reference: "latest" if it has neither tag nor digest, and empty if it only has a
// digest.
func imageTag(image reference.Named) string {
	if tagged, ok := reference.TagNameOnly(image).(reference.Tagged); ok {
		return tagged.Tag()
	}
	return ""
}
