package rental

import "net/http"

// authLayer adds the API key to all but public operations. It also disables caches: the API allows templates to be
// cached for a minute, in which a new template would be missing from the list.
type authLayer struct {
	next   http.RoundTripper
	apiKey string
}

func (l authLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if l.apiKey == "" || callFrom(req.Context()).auth == authNone {
		return l.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+l.apiKey)
	req.Header.Set("Cache-Control", "no-cache")
	return l.next.RoundTrip(req)
}

// headerLayer adds the headers that are the same for all requests.
type headerLayer struct {
	next                http.RoundTripper
	language, userAgent string
}

func (l headerLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Language", l.language)
	req.Header.Set("User-Agent", l.userAgent)
	return l.next.RoundTrip(req)
}
