package rental

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Now is the service's time, to the second, as far as its answers told; before the first answer, this machine's. Use it to judge
// the service's own moments, such as APIKey.ExpiresAt, on a machine whose clock is wrong.
func (c *Client) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// serviceClock is how far the service's clock is ahead of ours, in nanoseconds. Its zero value trusts ours.
type serviceClock struct{ atomic.Int64 }

// observe learns from the Date header of a fresh answer; one out of a cache would tell an old time.
func (s *serviceClock) observe(header http.Header) {
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		s.Store(int64(time.Until(date)))
	}
}
