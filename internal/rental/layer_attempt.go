package rental

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// Bounds of a body in bytes. The largest real answer, a page of 200 offers, is about 200 KiB.
const (
	maxBody      = 8 << 20
	maxErrorBody = 64 << 10
)

// attemptLayer gives one attempt its time, reads its body whole, and finds out whether a failed request may have left.
type attemptLayer struct {
	next    http.RoundTripper
	timeout time.Duration
}

func (l attemptLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), l.timeout)
	defer cancel()
	var trace attemptTrace
	ctx = httptrace.WithClientTrace(ctx, trace.hooks())
	current := callOf(ctx)
	current.maybeSent = true
	resp, err := l.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		current.maybeSent = !trace.neverSent(err)
		return nil, l.explain(req.Context(), ctx, err)
	}
	if trace.written.Load() > 1 {
		current.answerLost() // net/http repeated the request on another connection
	}
	limit := maxBody
	if resp.StatusCode >= 300 {
		limit = maxErrorBody
	}
	body, err := readBody(resp.Body, limit)
	if err != nil {
		return nil, l.explain(req.Context(), ctx, err)
	}
	resp.Body = body
	return resp, nil
}

// explain tells the caller's own end from the end of the attempt's time, which must not look like the caller's deadline.
func (l attemptLayer) explain(caller, attempt context.Context, err error) error {
	switch {
	case caller.Err() != nil:
		return caller.Err()
	case attempt.Err() != nil:
		return attemptTimeout(l.timeout)
	}
	return err
}

// attemptTrace records what the transport does during one attempt. net/http repeats some requests itself: it sends them again when a
// reused connection breaks, and the error of the attempt is then that of the last connection only.
type attemptTrace struct {
	asked, connected atomic.Bool  // for a connection; got one
	written          atomic.Int32 // how often the headers were written
}

func (t *attemptTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { t.asked.Store(true) },
		GotConn:      func(httptrace.GotConnInfo) { t.connected.Store(true) },
		WroteHeaders: func() { t.written.Add(1) },
	}
}

// neverSent reports that a failed attempt has sent nothing. Only proof counts: no headers were written, and either the transport reports
// its connections and got none, or dialling failed.
func (t *attemptTrace) neverSent(err error) bool {
	return t.written.Load() == 0 && (t.asked.Load() && !t.connected.Load() || isDialError(err))
}

// attemptTimeout is the time that an attempt had.
type attemptTimeout time.Duration

func (t attemptTimeout) Error() string {
	return fmt.Sprintf("no complete answer within %s", time.Duration(t))
}

// Timeout makes it a time-out to those who ask errors for that.
func (t attemptTimeout) Timeout() bool { return true }

// bodyTooLarge is the limit in bytes that a body exceeds.
type bodyTooLarge int

func (limit bodyTooLarge) Error() string {
	return fmt.Sprintf("the answer is larger than %d KiB and was not read", int(limit)>>10)
}

// readBody reads and closes a body. One that is too large is not a failure of the network that would go away: it stays an answer.
func readBody(body io.ReadCloser, limit int) (*buffered, error) {
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if closeErr := body.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if len(data) > limit {
		return newBuffered(data[:limit], bodyTooLarge(limit)), nil
	}
	if err != nil {
		return nil, err
	}
	return newBuffered(data, nil), nil
}

// buffered is a body that was read to its end, for every layer above to look at.
type buffered struct {
	*bytes.Reader
	data []byte
	err  error // why data is only the beginning
}

func newBuffered(data []byte, err error) *buffered {
	return &buffered{Reader: bytes.NewReader(data), data: data, err: err}
}

// Close has nothing to do.
func (*buffered) Close() error { return nil }

var errNotBuffered = errors.New("the answer's body was not read")

func readBuffered(resp *http.Response) ([]byte, error) {
	body, ok := resp.Body.(*buffered)
	if !ok {
		return nil, errNotBuffered
	}
	return body.data, body.err
}

// peek is the body as far as it was read.
func peek(resp *http.Response) []byte {
	if body, ok := resp.Body.(*buffered); ok {
		return body.data
	}
	return nil
}
