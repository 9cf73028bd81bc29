package rental

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

var quiet = log.New(io.Discard, "", 0)

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

func TestBodyLimits(t *testing.T) {
	huge := func(status, size int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			// The client closes the connection before the end, so an error is expected.
			if _, err := io.WriteString(w, `{"id":"`+strings.Repeat("x", size)+`"}`); err != nil {
				return
			}
		}
	}
	t.Run("too large", func(t *testing.T) {
		_, err := newServerClient(t, huge(200, maxBody)).GetMe(t.Context())
		if e := asError(t, err); e.Status != 200 || !strings.Contains(e.Message, "8192 KiB") || e.Attempts != 1 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("large", func(t *testing.T) {
		user, err := newServerClient(t, huge(200, maxBody-100)).GetMe(t.Context())
		if err != nil || len(user.ID) != maxBody-100 {
			t.Errorf("got %d characters, %v", len(user.ID), err)
		}
	})
	t.Run("too large error body", func(t *testing.T) {
		_, err := newServerClient(t, huge(404, maxErrorBody)).GetMe(t.Context())
		if e := asError(t, err); e.Status != 404 || !strings.Contains(e.Message, "64 KiB") || IsNotFound(err) {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("too large response to a create", func(t *testing.T) {
		_, err := newServerClient(t, huge(201, maxBody)).CreateTemplate(t.Context(), TemplateCreate{})
		if !IsOutcomeUnknown(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirects(t *testing.T) {
	var leaked, writeStatus atomic.Int32 // leaked: requests to another origin
	otherOrigin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(otherOrigin.Close)
	client := newServerClient(t, func(w http.ResponseWriter, r *http.Request) {
		target := "/api/v1/balance"
		if r.Method == http.MethodGet {
			target = otherOrigin.URL + "/x"
		}
		http.Redirect(w, r, target, int(writeStatus.Load()))
	})
	writeStatus.Store(http.StatusTemporaryRedirect)
	_, err := client.GetInstance(t.Context(), "i")
	if e := asError(t, err); e.Status != http.StatusTemporaryRedirect || !strings.Contains(e.Message, otherOrigin.URL) {
		t.Errorf("redirect to another origin: %+v", e)
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		writeStatus.Store(int32(status))
		for name, do := range retryCalls(t) {
			if name == "get" || name == "list" {
				continue
			}
			if e := asError(t, do(t.Context(), client)); e.Status != status ||
				IsOutcomeUnknown(e) != (idempotencyOf(name) != idempotent) {
				t.Errorf("%s, %d: %+v", name, status, e)
			}
		}
	}
	if leaked.Load() != 0 {
		t.Errorf("%d requests to another origin", leaked.Load())
	}
}

func TestRedirect_InvalidLocation(t *testing.T) {
	client, s := scriptedClient(t, reply{status: 307, header: "Location: http://[bad"})
	_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
	if err == nil || s.attempts() != 1 {
		t.Errorf("%d attempts, %v", s.attempts(), err)
	}
}

// The transport pings idle HTTP/2 connections, because a connection that breaks silently would fail every call, and keeps
// one for each call of a large apply.
func TestHTTPTransport_Settings(t *testing.T) {
	transport := defaultTransport(t, testURL)
	if transport.HTTP2.SendPingTimeout != pingTimeout || transport.HTTP2.PingTimeout != pingTimeout ||
		transport.MaxIdleConnsPerHost < 50 || transport.MaxResponseHeaderBytes != maxHeader {
		t.Errorf("got %+v", transport)
	}
}
