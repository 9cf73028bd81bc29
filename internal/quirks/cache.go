package quirks

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"time"
)

const (
	// cacheTime is how long responses of public operations may be cached.
	cacheTime = time.Minute
	// maxCached limits the number of cached responses.
	maxCached = 1000
)

// cachedResponse is a successful response of the service at a time.
type cachedResponse struct {
	header http.Header
	body   []byte
	at     time.Time
}

// isCached reports whether cached-offers applies to the response.
func (res *response) isCached() bool {
	switch res.id {
	case "listGpus", "listOffers", "getOffer":
		return res.has(cachedOffers)
	}
	return false
}

// fromCache returns the response to an earlier request of the same operation, nil if there is none or it is too old.
func (res *response) fromCache() *httptest.ResponseRecorder {
	if !res.isCached() {
		return nil
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	cached, found := res.cached[res.key]
	if !found || res.now.Sub(cached.at) >= cacheTime {
		return nil
	}
	reply := httptest.NewRecorder()
	maps.Copy(reply.Header(), cached.header)
	reply.Body.Write(cached.body)
	return reply
}

// cache keeps a successful response of the service for later requests.
func (res *response) cache(reply *httptest.ResponseRecorder) {
	if !res.isCached() || reply.Code != http.StatusOK {
		return
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	if len(res.cached) >= maxCached {
		clear(res.cached)
	}
	res.cached[res.key] = cachedResponse{reply.Header().Clone(), bytes.Clone(reply.Body.Bytes()), res.now}
}
