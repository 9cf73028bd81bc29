package simulator

import (
	"regexp"
	"sync"
)

// imageWithTag is [host[:port]/]path:tag, and perhaps a digest. It is compiled on its first use: the plugin, which is
// the same program, starts without it.
var imageWithTag = sync.OnceValue(func() *regexp.Regexp {
	const path = `[a-z\d]+(?:[._-]+[a-z\d]+)*`
	return regexp.MustCompile(`^(?:[\w.-]+(?::\d+)?/)?` + path + `(?:/` + path + `)*:\w[\w.-]{0,127}(?:@sha256:[a-f\d]{64})?$`)
})

// taggedImage tells whether a string is an image reference with a tag.
func taggedImage(image string) bool { return imageWithTag().MatchString(image) }
