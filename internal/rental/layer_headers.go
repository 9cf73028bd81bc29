package rental

import "net/http"

// authorizeLayer adds the key to all but public operations. What a key sees must be as new as its last write: the service lets templates
// be kept for a minute, and a template that was just made would look as if it were gone.
type authorizeLayer struct {
	next   http.RoundTripper
	apiKey string
}

func (l authorizeLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if l.apiKey == "" || callOf(req.Context()).access == public {
		return l.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+l.apiKey)
	req.Header.Set("Cache-Control", "no-cache")
	return l.next.RoundTrip(req)
}

// identifyLayer says who asks, and in which language messages are wanted.
type identifyLayer struct {
	next                http.RoundTripper
	language, userAgent string
}

func (l identifyLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Language", l.language)
	req.Header.Set("User-Agent", l.userAgent)
	return l.next.RoundTrip(req)
}
