package rental

import "github.com/distribution/reference"

// SameImage reports whether two references name the same container image: docker.io/library/ubuntu:24.04 is ubuntu:24.04, and ubuntu is
// ubuntu:latest. When both have a digest, the digest decides instead of the tag; a digest that only one of them has is ignored.
// References that cannot be parsed are the same only when they are equal.
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

// imageTag is "latest" for a reference with neither a tag nor a digest, and empty for one with a digest only.
func imageTag(image reference.Named) string {
	if tagged, ok := reference.TagNameOnly(image).(reference.Tagged); ok {
		return tagged.Tag()
	}
	return ""
}
