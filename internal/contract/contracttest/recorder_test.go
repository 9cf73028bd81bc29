package contracttest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// serve starts a server with a checker and requests the profile.
func serve(t *testing.T, tb *fakeTB, handler http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	server := httptest.NewServer(New(tb).Wrap(handler))
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := server.Client().Do(request)
	if err == nil {
		t.Cleanup(func() {
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return response, err
}

func TestRecorder_RealServer(t *testing.T) {
	tb := &fakeTB{}
	response, err := serve(t, tb, handlerOf(200, user).ServeHTTP)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != user {
		t.Errorf("body %q, error %v", body, err)
	}
	if tb.messages() != "" {
		t.Errorf("reported:\n%s", tb.messages())
	}
}

func TestRecorder_CutResponse(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"panic before anything": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"panic amid the body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			if _, err := io.WriteString(w, `{"id":`); err != nil {
				panic(err)
			}
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"hijack": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			if err := conn.Close(); err != nil {
				panic(err)
			}
		},
		"hijack through a controller": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			if err := conn.Close(); err != nil {
				panic(err)
			}
		},
	}
	for name, handler := range tests {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{}
			response, err := serve(t, tb, handler)
			if err == nil {
				_, err = io.ReadAll(response.Body)
			}
			if err == nil {
				t.Error("the client got a whole response")
			}
			if tb.messages() != "" {
				t.Errorf("a response that was cut was reported:\n%s", tb.messages())
			}
		})
	}
}

func TestRecorder_PanicPassedOn(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("recovered %v", err)
		}
	}()
	handler := New(t).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	handler.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", ""))
}

func TestRecorder_Flush(t *testing.T) {
	arrived := make(chan struct{})
	tb := &fakeTB{}
	response, err := serve(t, tb, func(w http.ResponseWriter, r *http.Request) {
		handlerOf(200, user[:10]).ServeHTTP(w, r)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-arrived:
		case <-r.Context().Done():
			t.Error("the client did not get the first part")
		}
		if _, err := io.WriteString(w, user[10:]); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(response.Body)
	if _, err := reader.Peek(10); err != nil {
		t.Error(err)
	}
	close(arrived)
	if body, err := io.ReadAll(reader); err != nil || string(body) != user {
		t.Errorf("body %q, error %v", body, err)
	}
	if tb.messages() != "" {
		t.Errorf("reported:\n%s", tb.messages())
	}
}

func TestRecorder_InformationalStatus(t *testing.T) {
	tb := &fakeTB{}
	response, err := serve(t, tb, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		handlerOf(200, user).ServeHTTP(w, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 || tb.messages() != "" {
		t.Errorf("status %d, reported:\n%s", response.StatusCode, tb.messages())
	}
}

func TestRecorder_BodyNotAllowed(t *testing.T) {
	tb := &fakeTB{}
	server := httptest.NewServer(New(tb).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlerOf(204, "").ServeHTTP(w, r)
		if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
			t.Errorf("writing a body after 204: %v", err)
		}
	})))
	request, err := http.NewRequestWithContext(t.Context(), "DELETE", server.URL+"/api/v1/ssh-keys/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	server.Close()
	if !strings.Contains(tb.messages(), "want none") {
		t.Errorf("reports: %q", tb.messages())
	}
}

func TestRecorder_EmptyHandler(t *testing.T) {
	tb := &fakeTB{}
	New(tb).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).
		ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", ""))
	if tb.messages() == "" {
		t.Error("an empty response was not reported")
	}
}

func TestRecorder_ClientDisconnected(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	tb := &fakeTB{}
	handler := New(tb).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leave() }))
	handler.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", "").WithContext(ctx))
	if tb.messages() != "" {
		t.Errorf("a response without a client was reported:\n%s", tb.messages())
	}
}

func TestRecorder_IncompleteRequest(t *testing.T) {
	broken := errors.New("broken off")
	tb := &fakeTB{}
	var got error
	handler := New(tb).Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, got = io.ReadAll(r.Body)
	}))
	request := newRequest("POST", "/api/v1/instances", "")
	request.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"offer`), iotest.ErrReader(broken)))
	handler.ServeHTTP(httptest.NewRecorder(), request)
	if !errors.Is(got, broken) || tb.messages() != "" {
		t.Errorf("the handler saw %v, reported:\n%s", got, tb.messages())
	}
}
