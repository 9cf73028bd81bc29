package simulator

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestHandlerPanic_IsInternalError causes a panic in a handler. No request is known to.
func TestHandlerPanic_IsInternalError(t *testing.T) {
	var log bytes.Buffer
	s, err := New(Config{Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
	if err != nil {
		t.Fatal(err)
	}
	s.engine.Ledger = append(s.engine.Ledger, nil)
	req := httptest.NewRequestWithContext(t.Context(), "GET", basePath+"/transactions", nil)
	req.Header.Set("Authorization", "Bearer "+s.config.APIKey)
	for range 2 { // the second request proves that no lock is held
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, req)
		var got errorView
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		id := rec.Header().Get("X-Request-Id")
		if rec.Code != 500 || got.Error.Code != codeInternal || got.Error.Details["request_id"] != id {
			t.Errorf("status %d: %s", rec.Code, rec.Body)
		}
		if !bytes.Contains(log.Bytes(), []byte(id)) {
			t.Error("the log does not name the request")
		}
	}
}
