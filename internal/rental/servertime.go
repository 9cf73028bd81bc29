package rental

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Now returns the API's time, to the second, and the local time before the first response. Compare times of the API,
// such as APIKey.ExpiresAt, with it, because the local clock may be wrong.
func (c *Client) Now() time.Time { return time.Now().Add(time.Duration(c.clock.offset.Load())) }

// LagLeft returns how long the API may not find an object that was created at a time, if it lags by up to lag. Zero or
// less means that a 404 is certain, as it is for the zero time and for a time of another service's clock.
func (c *Client) LagLeft(createdAt time.Time, lag time.Duration) time.Duration {
	return lag - c.Now().Sub(createdAt).Abs()
}

// serverClock is the difference between the API's clock and the local one. Its zero value is no difference.
type serverClock struct{ offset atomic.Int64 } // nanoseconds; positive if the API's clock is ahead

// observe updates the clock from the Date header of a response, which must not come from a cache.
func (s *serverClock) observe(header http.Header) {
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		s.offset.Store(int64(time.Until(date)))
	}
}
