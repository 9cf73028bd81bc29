package simulator

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Request is an API request in the request log.
type Request struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	// Path is relative to the base URL and escaped as it was sent, for example /instances/ins_1.
	Path  string `json:"path"`
	Query string `json:"query"`
	// Status is the status of the response; 0 if the connection was cut.
	Status int `json:"status"`
	// KeyID is the id of the active key of the request, or "".
	KeyID string `json:"key_id"`
}

// maxRequests limits the log. The oldest requests are removed first.
const maxRequests = 10_000

// requestLog holds the newest requests in the order of arrival. The simulator's lock guards it.
type requestLog struct {
	entries []*loggedRequest
}

// loggedRequest is a request whose status is set later, without the lock.
type loggedRequest struct {
	Request
	status atomic.Int64
}

// statusLogger sets the status of a request in the log.
type statusLogger struct {
	http.ResponseWriter
	logged *loggedRequest
}

func (w statusLogger) WriteHeader(status int) {
	w.logged.status.Store(int64(status))
	w.ResponseWriter.WriteHeader(status)
}

// add logs a request.
func (l *requestLog) add(r Request) *loggedRequest {
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
