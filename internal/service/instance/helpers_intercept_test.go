package instance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// proxy is between the provider and the simulator. It passes requests on, except those that a rule intercepts: the one
// way of these tests to do what the faults of the simulator cannot do.
type proxy struct {
	mu    sync.Mutex
	rules []rule
}

// rule intercepts the requests that match. The first rule wins.
type rule struct {
	matches func(*http.Request) bool
	do      interceptor
	times   int // the number of requests; 0 for all
}

// interceptor responds to a request in place of the simulator, or passes it on.
type interceptor func(w http.ResponseWriter, r *http.Request, api http.Handler)

// set replaces the rules.
func (p *proxy) set(rules ...rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = rules
}

// option puts the proxy in front of a simulator.
func (p *proxy) option() acctest.Option { return acctest.WithWrap(p.wrap) }

func (p *proxy) wrap(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if do := p.find(r); do != nil {
			do(w, r, api)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func (p *proxy) find(r *http.Request) interceptor {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.rules {
		rule := &p.rules[i]
		if rule.times < 0 || !rule.matches(r) {
			continue
		}
		if rule.times == 1 {
			rule.times = -1 // used up
		} else if rule.times > 1 {
			rule.times--
		}
		return rule.do
	}
	return nil
}

// request matches requests by their method and the end of their path, a regular expression.
func request(method, path string) func(*http.Request) bool {
	pattern := regexp.MustCompile(path + "$")
	return func(r *http.Request) bool { return r.Method == method && pattern.MatchString(r.URL.Path) }
}

var (
	isCreate = request("POST", "/instances")
	isStart  = request("POST", "/start")
	isStop   = request("POST", "/stop")
	isGet    = request("GET", "/instances/[^/]+")
	isList   = request("GET", "/instances")
	isOffers = request("GET", "/offers")
	isOffer  = request("GET", "/offers/[^/]+")
)

// respond returns a fixed response.
func respond(status int, body string) interceptor {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// refuse returns an error of the API.
func refuse(status int, code string) interceptor {
	return respond(status, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code))
}

// after passes the request on, once do has returned.
func after(do func(r *http.Request)) interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		do(r)
		api.ServeHTTP(w, r)
	}
}

// loseResponse passes the request on and cuts the connection.
func loseResponse(w http.ResponseWriter, r *http.Request, api http.Handler) {
	record(w, r, api)
	panic(http.ErrAbortHandler)
}

// rewrite changes the body of a successful response.
func rewrite(change func(body map[string]any)) interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		recorded := record(w, r, api)
		var body map[string]any
		if err := json.Unmarshal(recorded.Body.Bytes(), &body); err == nil && recorded.Code/100 == 2 {
			change(body)
			recorded.Body.Reset()
			_ = json.NewEncoder(recorded.Body).Encode(body) //nolint:errcheck // into memory
		}
		maps.Copy(w.Header(), recorded.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes()) //nolint:errcheck // the client reports it
	}
}

// record passes a request on and returns the response.
func record(w http.ResponseWriter, r *http.Request, api http.Handler) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	maps.Copy(recorder.Header(), w.Header())
	api.ServeHTTP(recorder, r)
	return recorder
}

// setField changes a field of a response.
func setField(name string, value any) interceptor {
	return rewrite(func(body map[string]any) { body[name] = value })
}

// raisePrice makes an instance cost 9 900,16 ₽ per hour.
var raisePrice = rewrite(func(body map[string]any) { body["price"].(map[string]any)["running_kop_h"] = 990_016 })
