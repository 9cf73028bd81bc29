package contracttest

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
)

// recorder passes a response on as it is written and keeps a copy of it.
type recorder struct {
	http.ResponseWriter
	status int         // 0: nothing written yet
	header http.Header // as it was when the status was written
	body   bytes.Buffer
	cut    bool // the client did not get the whole response
}

func (r *recorder) begin(status int) {
	if r.status == 0 {
		r.status, r.header = status, r.Header().Clone()
	}
}

// finish gives a handler that wrote nothing the status that net/http gives it.
func (r *recorder) finish() { r.begin(http.StatusOK) }

func (r *recorder) WriteHeader(status int) {
	if informational := status >= 100 && status < 200; !informational || status == http.StatusSwitchingProtocols {
		r.begin(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(p)
	if errors.Is(err, http.ErrBodyNotAllowed) {
		r.body.Write(p) // not sent, but the handler tried
		return n, err
	}
	r.body.Write(p[:n])
	r.cut = r.cut || err != nil
	return n, err
}

// Flush implements [http.Flusher] for handlers that assert it.
func (r *recorder) Flush() {
	if err := r.FlushError(); err != nil {
		r.cut = true
	}
}

// FlushError is what [http.ResponseController] calls.
func (r *recorder) FlushError() error {
	r.begin(http.StatusOK)
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker]. What is sent afterwards is not HTTP that
// can be judged.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.cut = true
	}
	return conn, rw, err
}

// Unwrap lets [http.ResponseController] reach the rest, such as deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
