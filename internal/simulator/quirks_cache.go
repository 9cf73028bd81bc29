package simulator

import (
	"net/http"
	"time"
)

const (
	// cacheTime is how long responses of public operations may be cached.
	cacheTime = time.Minute
	// maxCached limits the number of cached responses.
	maxCached = 1000
)

// cachedReply is a response of the service at a time.
type cachedReply struct {
	reply
	at time.Time
}

// isCached reports whether cached-offers applies to the response.
func (res *quirkedResponse) isCached() bool {
	switch res.id {
	case "listGpus", "listOffers", "getOffer":
		return res.has(quirkCachedOffers)
	}
	return false
}

// cachedReply returns the response to an earlier request of the same operation, nil if there is none or it is too old.
func (res *quirkedResponse) cachedReply() *reply {
	if !res.isCached() {
		return nil
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	cached := res.cached[res.key]
	if cached == nil || res.now.Sub(cached.at) >= cacheTime {
		return nil
	}
	rep := cached.reply
	rep.header = rep.header.Clone()
	return &rep
}

// cacheReply keeps a successful response of the service for later requests.
func (res *quirkedResponse) cacheReply(rep *reply) {
	if !res.isCached() || rep.status != http.StatusOK {
		return
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	if len(res.cached) >= maxCached {
		clear(res.cached)
	}
	cached := &cachedReply{*rep, res.now}
	cached.header = rep.header.Clone()
	res.cached[res.key] = cached
}
