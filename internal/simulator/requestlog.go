package simulator

import (
	"sync/atomic"
	"time"
)

// Request is one API request as the simulator saw it.
type Request struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	// Path is relative to the base URL, escaped as it was sent, such as /instances/ins_1.
	Path  string `json:"path"`
	Query string `json:"query"`
	// Status is what was answered; 0 means that a fault cut the connection.
	Status int `json:"status"`
	// KeyID is the id of the active key that the request bore, or "".
	KeyID string `json:"key_id"`
}

// maxRequests bounds the log; the oldest requests go first.
const maxRequests = 10_000

// requestLog holds the newest requests in the order in which they came in. The simulator's lock guards it.
type requestLog struct {
	entries []*loggedRequest
}

// loggedRequest is a request whose outcome follows, without the lock.
type loggedRequest struct {
	Request
	status atomic.Int64
}

// open notes a request that has come in; its status follows.
func (l *requestLog) open(r Request) *loggedRequest {
	if len(l.entries) >= maxRequests {
		l.entries = append(l.entries[:0], l.entries[maxRequests/10:]...)
	}
	entry := &loggedRequest{Request: r}
	l.entries = append(l.entries, entry)
	return entry
}

func (l *requestLog) list() []Request {
	requests := make([]Request, 0, len(l.entries))
	for _, r := range l.entries {
		r.Status = int(r.status.Load())
		requests = append(requests, r.Request)
	}
	return requests
}
