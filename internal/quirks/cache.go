package quirks

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// cacheTime is how long responses of public operations may be cached.
const cacheTime = time.Minute

// cachedResponse is a successful response of the service at a time.
type cachedResponse struct {
	*httptest.ResponseRecorder
	at time.Time
}

// isCached reports whether cached-offers applies to the response.
func (res *response) isCached() bool {
	switch res.ID {
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
	if cached := res.cached[res.key]; res.now.Sub(cached.at) < cacheTime {
		return cached.ResponseRecorder
	}
	return nil
}

// cache keeps a successful response of the service for later requests.
func (res *response) cache(reply *httptest.ResponseRecorder) {
	if !res.isCached() || reply.Code != http.StatusOK {
		return
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	res.cached[res.key] = cachedResponse{reply, res.now}
}
