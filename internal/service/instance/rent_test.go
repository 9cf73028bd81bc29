package instance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// answers are what a service does with one request to rent after the other; the
// last goes for all later ones.
type answers []func(http.ResponseWriter)

func (a answers) handler() http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		a[min(int(asked.Add(1)), len(a))-1](w)
	}
}

const attemptTime = 300 * time.Millisecond

func refuses(status int, code string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": code}}) //nolint:errcheck // the client tells
	}
}

func replays(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Idempotent-Replayed", "true")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "ins_1", "status": "running", "type": "on_demand"}) //nolint:errcheck // the client tells
}

func tooLate(http.ResponseWriter) { time.Sleep(4 * attemptTime) }

func cuts(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// Until the outcome is known the same request is repeated; a refusal settles it, unless a request that was given up may
// still be carried out.
func TestSettle(t *testing.T) {
	poor, unavailable, unauthorized := refuses(402, rental.CodeInsufficientFunds), refuses(503, rental.CodeProviderUnavailable), refuses(401, rental.CodeUnauthorized)
	for name, test := range map[string]struct {
		service answers
		want    string // the id, the code of the refusal, or "unknown"
	}{
		"refused":                            {answers{poor}, rental.CodeInsufficientFunds},
		"cut, then refused":                  {answers{cuts, poor}, rental.CodeInsufficientFunds},
		"cut again and again, then there":    {answers{cuts, cuts, unavailable, cuts, replays}, "ins_1"},
		"too late, refused, but there":       {answers{tooLate, poor, replays}, "ins_1"},
		"too late, cut, refused, but there":  {answers{tooLate, cuts, poor, replays}, "ins_1"},
		"too late, refused for good":         {answers{tooLate, poor, poor}, rental.CodeInsufficientFunds},
		"cut, then the key is revoked":       {answers{cuts, unauthorized}, "unknown"},
		"the key is revoked from the start":  {answers{unauthorized}, rental.CodeUnauthorized},
		"never an answer until the deadline": {answers{cuts}, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.service.handler())
			defer server.Close()
			client, err := rental.New(rental.Config{
				BaseURL: server.URL + "/api/v1", APIKey: "test" + strings.Repeat("0", 40), MaxRetries: -1, RequestTimeout: attemptTime,
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 8*attemptTime)
			defer cancel()
			c := &creation{client: client, interval: time.Millisecond, keys: newKeySeries("k")}
			inst, _, err := c.settle(ctx, rental.InstanceCreate{})
			got := inst.ID
			if err != nil {
				got = codeOf(err)
			}
			if got != test.want {
				t.Errorf("%s (%v), want %s", got, err, test.want)
			}
		})
	}
}

func codeOf(err error) string {
	if _, unknown := errors.AsType[*unknownOutcome](err); unknown {
		return "unknown"
	}
	if e, ok := errors.AsType[*rental.Error](err); ok {
		return e.Code
	}
	return err.Error()
}
