package apikey

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
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
	const requestTimeout = 300 * time.Millisecond
	service := &fakeService{t: t, keys: map[string]time.Time{}, lostResponses: 2, listDelay: requestTimeout / 2,
		clockOffset: clockOffset}
	server := httptest.NewServer(service)
	defer server.Close()
	client, err := rental.New(rental.Config{
		BaseURL: server.URL + "/api/v1", APIKey: "test" + strings.Repeat("0", 40), RequestTimeout: requestTimeout,
		Backoff: backoff.Exponential{Factor: 1}, // no pauses
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	meta := &tfkit.Meta{Client: client, Cleanup: new(tfkit.Cleanup)}
	issued, err := issue(t.Context(), meta, rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read"}})
	service.mu.Lock()
	defer service.mu.Unlock()
	if err != nil || issued.ID != "key3" || issued.Secret == "" || service.issued != 3 || len(service.keys) != 1 {
		t.Errorf("got %s, %v after %d requests; keys: %v, want only the third one", issued.ID, err, service.issued,
			service.keys)
	}
}
