package simulator

import "github.com/distribution/reference"

// taggedImage reports whether a string is an image reference with a tag, with or without a digest.
func taggedImage(image string) bool {
	parsed, err := reference.Parse(image)
	_, tagged := parsed.(reference.Tagged)
	return err == nil && tagged
}
