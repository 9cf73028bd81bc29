package simulator

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// cacheTime is how long responses of public operations may be cached.
const cacheTime = time.Minute

// cachedReply is a response of the service at a time.
type cachedReply struct {
	reply
	at time.Time
}

// isCached reports whether cached-offers applies to the response.
func (res *quirkedResponse) isCached() bool {
	return res.has(quirkCachedOffers) && slices.Contains([]string{"listGpus", "listOffers", "getOffer"}, res.route.id)
}

// cachedReply returns the response to an earlier request of the same operation, nil if there is none or it is too old.
func (res *quirkedResponse) cachedReply() *reply {
	if !res.isCached() {
		return nil
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	cached, ok := res.cached[res.key]
	if !ok || res.now.Sub(cached.at) >= cacheTime {
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
	maps.DeleteFunc(res.cached, func(_ string, old cachedReply) bool { return res.now.Sub(old.at) >= cacheTime })
	cached := cachedReply{*rep, res.now}
	cached.header = rep.header.Clone()
	res.cached[res.key] = cached
}
