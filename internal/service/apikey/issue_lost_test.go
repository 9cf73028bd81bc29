package apikey

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fakeService creates keys. It returns 500 to the first create requests after their processing, and lists keys with a
// delay.
type fakeService struct {
	t             *testing.T
	mu            sync.Mutex
	keys          map[string]time.Time // by id: the time from which a list contains the key
	issued        int
	lostResponses int           // number of creations that return 500
	listDelay     time.Duration // until a list contains a new key
	clockOffset   time.Duration // of this machine, ahead of the service
}

func (s *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", s.now().Format(http.TimeFormat))
	switch r.Method {
	case http.MethodGet:
		var listed []any
		for id, at := range s.keys {
			if !time.Now().Before(at) {
				listed = append(listed, s.key(id))
			}
		}
		s.respond(w, http.StatusOK, map[string]any{"data": append([]any{}, listed...), "next_cursor": nil})
	case http.MethodDelete:
		delete(s.keys, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		s.issued++
		id := fmt.Sprint("key", s.issued)
		s.keys[id] = time.Now().Add(s.listDelay)
		if s.issued <= s.lostResponses {
			s.respond(w, http.StatusInternalServerError,
				map[string]any{"error": map[string]any{"code": "internal", "message": "Oops."}})
			return
		}
		created := s.key(id)
		created["secret"] = "gpr_" + strings.Repeat("S", 40)
		s.respond(w, http.StatusCreated, created)
	}
}

func (s *fakeService) respond(w http.ResponseWriter, status int, body map[string]any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

func (s *fakeService) now() time.Time { return time.Now().UTC().Add(-s.clockOffset) }

func (s *fakeService) key(id string) map[string]any {
	return map[string]any{"id": id, "name": "job", "prefix": "gpr_SSSS", "scopes": []string{"user:read"}, "source": "api",
		"created_at": s.now()}
}

// Keys of lost responses are revoked, even if the list contains them with a delay.
func TestIssue_RevokesKeysOfLostResponses(t *testing.T) {
	testIssueAfterLostResponses(t, 0)
}

// A wrong local clock makes no difference, even before the first response.
func TestIssue_WrongLocalClock(t *testing.T) {
	testIssueAfterLostResponses(t, time.Hour)
	testIssueAfterLostResponses(t, -time.Hour)
}

func testIssueAfterLostResponses(t *testing.T, clockOffset time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service := &fakeService{t: t, keys: map[string]time.Time{}, lostResponses: 2,
			listDelay: rental.DefaultRequestTimeout / 2, clockOffset: clockOffset}
		client := newClient(t, service)
		meta := &tfkit.Meta{Client: client, Cleanup: new(tfkit.Cleanup)}
		issued, err := issue(t.Context(), meta, rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"}})
		service.mu.Lock()
		defer service.mu.Unlock()
		if err != nil || issued.ID != "key3" || issued.Secret == "" || service.issued != 3 || len(service.keys) != 1 {
			t.Errorf("got %s, %v after %d requests; keys: %v, want only the third one", issued.ID, err, service.issued,
				service.keys)
		}
	})
}

// newClient returns a client that calls the handler without a network.
func newClient(t *testing.T, handler http.Handler) *rental.Client {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: apiKey, Transport: transport{handler}, MaxRetries: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var apiKey = "test" + strings.Repeat("0", 40)

// transport sends requests to a handler. A handler that panics cuts the connection.
type transport struct{ http.Handler }

func (tr transport) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, io.ErrUnexpectedEOF
		}
	}()
	req = req.Clone(context.WithoutCancel(req.Context()))
	req.RemoteAddr = "127.0.0.1:1"
	if req.Body == nil {
		req.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	tr.ServeHTTP(recorder, req)
	return recorder.Result(), nil
}
