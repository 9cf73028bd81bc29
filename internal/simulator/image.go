package simulator

import (
	"regexp"
	"sync"
)

// imageWithTag matches [host[:port]/]path:tag with an optional digest. It is compiled on first use, because the
// provider does not need it.
var imageWithTag = sync.OnceValue(func() *regexp.Regexp {
	const path = `[a-z\d]+(?:[._-]+[a-z\d]+)*`
	return regexp.MustCompile(`^(?:[\w.-]+(?::\d+)?/)?` + path + `(?:/` + path +
		`)*:\w[\w.-]{0,127}(?:@sha256:[a-f\d]{64})?$`)
})

// taggedImage reports whether a string is an image reference with a tag.
func taggedImage(image string) bool { return imageWithTag().MatchString(image) }
