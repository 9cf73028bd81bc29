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

// Maximum sizes of a body in bytes. The largest real response, a page of 200 offers, has about 200 KiB.
const (
	maxBody      = 8 << 20
	maxErrorBody = 64 << 10
)

// writeGrace is how long a write that was sent may continue after an interruption of its caller: its answer shows what
// the API created. It is short, because a CI service that cancels a job sends a second signal after a few seconds, 7.5
// on GitHub Actions, which ends the CLI before it saves anything.
const writeGrace = 6 * time.Second

// attemptLayer applies the request timeout to one attempt, reads the whole body, and records whether a failed attempt
// may have sent the request.
type attemptLayer struct {
	next    http.RoundTripper
	timeout time.Duration
}

func (l attemptLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	ctx, cancel := l.attemptContext(req)
	defer cancel()
	var trace attemptTrace
	ctx = httptrace.WithClientTrace(ctx, trace.hooks())
	call := callFrom(req.Context())
	call.attempt++
	call.maybeSent = true
	resp, err := l.next.RoundTrip(req.WithContext(ctx)) //nolint:contextcheck // a write outlives its caller
	if err != nil {
		call.maybeSent = !trace.neverSent()
		return nil, l.contextError(req.Context(), ctx, err)
	}
	if trace.headersWritten.Load() > 1 {
		call.responseLost() // net/http repeated the request on another connection
	}
	limit := maxBody
	if resp.StatusCode >= 300 {
		limit = maxErrorBody
	}
	body, err := readBody(resp.Body, limit)
	if err != nil {
		return nil, l.contextError(req.Context(), ctx, err)
	}
	resp.Body = body
	return resp, nil
}

// attemptContext returns the context of one attempt. The end of the caller's context ends a GET at once. A write goes
// on, for its timeout after a deadline and for writeGrace after an interruption.
func (l attemptLayer) attemptContext(req *http.Request) (attempt context.Context, stop func()) {
	caller := req.Context()
	if req.Method == http.MethodGet {
		return context.WithTimeout(caller, l.timeout)
	}
	attempt, cancel := context.WithTimeout(context.WithoutCancel(caller), l.timeout)
	release := context.AfterFunc(caller, func() {
		if errors.Is(context.Cause(caller), context.Canceled) {
			time.AfterFunc(writeGrace, cancel)
		}
	})
	return attempt, func() { release(); cancel() }
}

// contextError returns why the caller's context ended, or errNoAnswer if only the attempt's context ended. A
// context.DeadlineExceeded would look like the caller's deadline.
func (l attemptLayer) contextError(caller, attempt context.Context, err error) error {
	switch {
	case caller.Err() != nil:
		return context.Cause(caller)
	case attempt.Err() != nil:
		return errNoAnswer(l.timeout)
	}
	return err
}

// attemptTrace records the connections of one attempt. When a reused connection breaks, net/http can send the request
// again, and the error is then that of the last connection only.
type attemptTrace struct {
	connecting, connected atomic.Bool
	headersWritten        atomic.Int32
}

func (t *attemptTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { t.connecting.Store(true) },
		GotConn:      func(httptrace.GotConnInfo) { t.connected.Store(true) },
		WroteHeaders: func() { t.headersWritten.Add(1) },
	}
}

// neverSent reports that a failed attempt has certainly sent nothing: there was no connection, and it wrote no headers.
func (t *attemptTrace) neverSent() bool {
	return t.headersWritten.Load() == 0 && t.connecting.Load() && !t.connected.Load()
}

// errNoAnswer is the error of an attempt that exceeds its timeout.
func errNoAnswer(timeout time.Duration) error {
	return fmt.Errorf("no complete response within %s", timeout)
}

// readBody reads and closes a body. A body that is too large is not an error here, because a retry would return the
// same: the error is in the result.
func readBody(body io.ReadCloser, limit int) (*buffered, error) {
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	_ = body.Close() // all that is needed was read
	if len(data) > limit {
		tooLarge := fmt.Errorf("the response is larger than %d KiB and was not read", limit>>10)
		return newBuffered(data[:limit], tooLarge), nil
	}
	if err != nil {
		return nil, err
	}
	return newBuffered(data, nil), nil
}

// buffered is a body in memory. Layers can read it without consuming it.
type buffered struct {
	io.ReadCloser
	data []byte
	err  error // why data is incomplete; nil if it is complete
}

func newBuffered(data []byte, err error) *buffered {
	return &buffered{io.NopCloser(bytes.NewReader(data)), data, err}
}

// bodyOf returns the body of a response that attemptLayer has read.
func bodyOf(resp *http.Response) *buffered { return resp.Body.(*buffered) }
