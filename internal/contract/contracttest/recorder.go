package contracttest

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"net/http"
)

// recorder passes a response on and keeps a copy.
type recorder struct {
	http.ResponseWriter
	status     int         // 0: nothing written yet
	header     http.Header // a copy at the time of WriteHeader
	body       bytes.Buffer
	incomplete bool // the client did not receive the whole response
}

func (r *recorder) begin(status int) {
	if r.status == 0 {
		r.status, r.header = status, r.Header().Clone()
	}
}

// finish sets the status of a handler that wrote nothing, as net/http does.
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
		r.body.Write(p) // not sent, but the handler wrote it
		return n, err
	}
	r.body.Write(p[:n])
	r.incomplete = r.incomplete || err != nil
	return n, err
}

// Flush implements [http.Flusher].
func (r *recorder) Flush() {
	if err := r.FlushError(); err != nil {
		r.incomplete = true
	}
}

// FlushError is called by [http.ResponseController].
func (r *recorder) FlushError() error {
	r.begin(http.StatusOK)
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker]. What the handler sends afterwards is not validated.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.incomplete = true
	}
	return conn, rw, err
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
