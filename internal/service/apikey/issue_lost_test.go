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

// keyService issues keys, answers the first requests for one with an error after the work, and lists keys late.
type keyService struct {
	t      *testing.T
	mu     sync.Mutex
	keys   map[string]time.Time // by id: when a listing contains it
	issued int
	fails  int // how many of the first creations are answered with 500
	lag    time.Duration
	behind time.Duration // of the service's clock
}

func (s *keyService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		s.answer(w, http.StatusOK, map[string]any{"data": append([]any{}, listed...), "next_cursor": nil})
	case http.MethodDelete:
		delete(s.keys, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		s.issued++
		id := fmt.Sprint("key", s.issued)
		s.keys[id] = time.Now().Add(s.lag)
		if s.issued <= s.fails {
			s.answer(w, http.StatusInternalServerError, map[string]any{"error": map[string]any{"code": "internal", "message": "Oops."}})
			return
		}
		made := s.key(id)
		made["secret"] = "gpr_" + strings.Repeat("S", 40)
		s.answer(w, http.StatusCreated, made)
	}
}

func (s *keyService) answer(w http.ResponseWriter, status int, body map[string]any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

func (s *keyService) now() time.Time { return time.Now().UTC().Add(-s.behind) }

func (s *keyService) key(id string) map[string]any {
	return map[string]any{"id": id, "name": "job", "prefix": "gpr_SSSS", "scopes": []string{"user:read"}, "source": "api", "created_at": s.now()}
}

// Two creations that failed after the work, and that the listing shows late, leave no live key behind.
func TestIssueAfterFailuresLeavesOneKey(t *testing.T) {
	issueAfterFailures(t, 0)
}

// So do they when this machine's clock is wrong, also in a process that has had no answer before.
func TestIssueAfterFailures_WrongClock(t *testing.T) {
	issueAfterFailures(t, time.Hour)
	issueAfterFailures(t, -time.Hour)
}

func issueAfterFailures(t *testing.T, behind time.Duration) {
	t.Helper()
	const requestTimeout = 300 * time.Millisecond
	service := &keyService{t: t, keys: map[string]time.Time{}, fails: 2, lag: requestTimeout / 2, behind: behind}
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
		t.Errorf("got %s, %v after %d requests; live keys: %v, want the third alone", issued.ID, err, service.issued, service.keys)
	}
}
