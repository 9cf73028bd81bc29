package instance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// responder answers a request in place of the service, or passes it on.
type interceptor func(w http.ResponseWriter, r *http.Request, api http.Handler)

// middlebox is between the provider and the service. It passes everything on until a test sets handle.
type proxy struct {
	mu        sync.Mutex
	intercept interceptor
}

func (p *proxy) set(intercept interceptor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.intercept = intercept
}

func (p *proxy) wrap(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		intercept := p.intercept
		p.mu.Unlock()
		if intercept == nil {
			api.ServeHTTP(w, r)
			return
		}
		intercept(w, r, api)
	})
}

// behindMiddlebox starts a service and a provider that does not retry by itself.
func startWithProxy(t *testing.T, arguments ...any) (*acctest.Env, *core, *proxy) {
	t.Helper()
	p := &proxy{}
	env := acctest.Start(t, acctest.WithWrap(p.wrap))
	config := map[string]any{"max_retries": int64(0)}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return env, newManyRuns(t, env, config), p
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances")
}

// rewrites changes the body of the answers to the requests that match.
func rewriteResponse(matches func(*http.Request) bool, change func(body map[string]any)) interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if !matches(r) {
			api.ServeHTTP(w, r)
			return
		}
		recorder := newRecorder(w)
		api.ServeHTTP(recorder, r)
		var body map[string]any
		if err := json.Unmarshal(recorder.Body.Bytes(), &body); err == nil && recorder.Code/100 == 2 {
			change(body)
			recorder.Body.Reset()
			_ = json.NewEncoder(recorder.Body).Encode(body) //nolint:errcheck // into memory
		}
		maps.Copy(w.Header(), recorder.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client tells
	}
}

// recorderFor records an answer, with the headers that are set before the service gets the request.
func newRecorder(w http.ResponseWriter) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	maps.Copy(recorder.Header(), w.Header())
	return recorder
}

// pass passes on what the service returned.
func writeRecorded(w http.ResponseWriter, recorder *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), recorder.Header())
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client tells
}

// fails answers with an error of the service.
func writeError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":"no"}}`, code)
}

func raisePrice(body map[string]any) {
	body["price"].(map[string]any)["running_kop_h"] = 990_016
}

func isGet(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/instances/")
}

// refusedAtFirst refuses two of these requests as if the status of the server did not allow them.
func conflictTwice(matches func(*http.Request) bool, intercept interceptor) interceptor {
	var refused atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if matches(r) && refused.Add(1) <= 2 {
			writeError(w, http.StatusConflict, "conflict")
			return
		}
		intercept(w, r, api)
	}
}

func isStop(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/stop") }

// losesFirst carries out the first of these requests and loses its answer.
func loseFirstResponse(matches func(*http.Request) bool, intercept interceptor) interceptor {
	var lost atomic.Bool
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if matches(r) && !lost.Swap(true) {
			api.ServeHTTP(newRecorder(w), r)
			panic(http.ErrAbortHandler)
		}
		intercept(w, r, api)
	}
}
