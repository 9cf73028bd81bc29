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

// interceptor responds to a request instead of the simulator, or passes it on.
type interceptor func(w http.ResponseWriter, r *http.Request, api http.Handler)

// proxy is between the provider and the simulator. It passes all requests on until a test sets an interceptor.
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

// startWithProxy starts a simulator behind a proxy, and a provider that does not retry.
func startWithProxy(t *testing.T, arguments ...any) (*acctest.Env, *core, *proxy) {
	t.Helper()
	p := &proxy{}
	env := acctest.Start(t, acctest.WithWrap(p.wrap))
	config := map[string]any{"max_retries": int64(0)}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return env, newProvider(t, env, config), p
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances")
}

func isCreateOrGet(r *http.Request) bool { return isCreate(r) || isGet(r) }

// rewriteResponse changes the body of the responses to matching requests.
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
		_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client reports it
	}
}

// newRecorder returns a recorder for a response, with the headers that the simulator has set before.
func newRecorder(w http.ResponseWriter) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	maps.Copy(recorder.Header(), w.Header())
	return recorder
}

// writeRecorded sends the recorded response.
func writeRecorded(w http.ResponseWriter, recorder *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), recorder.Header())
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes()) //nolint:errcheck // the client reports it
}

// writeError responds with an error of the API.
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

// conflictTwice refuses the first two matching requests as if the status of the instance did not allow them.
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

// loseFirstResponse passes the first matching request on and loses the response.
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
