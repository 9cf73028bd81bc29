package simtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Proxy is middleware in front of the simulator, for what its faults cannot do. It passes requests on, except those
// that a rule intercepts. The zero value has no rules.
type Proxy struct{ rules atomic.Pointer[[]Rule] }

// Rule intercepts the requests that match. Match.Do returns a rule.
type Rule struct {
	matches Match
	do      Interceptor
}

// Match reports whether a rule applies to a request.
type Match func(*http.Request) bool

// Interceptor responds to a request in place of the API, or passes it on to the API.
type Interceptor func(w http.ResponseWriter, r *http.Request, api http.Handler)

// Option puts the proxy in front of a simulator, outside of the contract check.
func (p *Proxy) Option() func(*simulator.Config) {
	return func(c *simulator.Config) {
		inner := c.Wrap
		c.Wrap = func(api http.Handler) http.Handler { return p.Wrap(inner(api)) }
	}
}

// Set replaces the rules. The first rule that matches a request intercepts it.
func (p *Proxy) Set(rules ...Rule) { p.rules.Store(&rules) }

// Wrap puts the proxy in front of a handler.
func (p *Proxy) Wrap(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.find(r)(w, r, api) })
}

func (p *Proxy) find(r *http.Request) Interceptor {
	if rules := p.rules.Load(); rules != nil {
		for _, rule := range *rules {
			if rule.matches(r) {
				return rule.do
			}
		}
	}
	return Pass
}

// Request matches a method and a path below the base URL, which is a regular expression for the whole path. Without a
// method, it matches all methods.
func Request(method, path string) Match {
	pattern := regexp.MustCompile("^/api/v1(?:" + path + ")$")
	return func(r *http.Request) bool {
		return (method == "" || r.Method == method) && pattern.MatchString(r.URL.Path)
	}
}

// AnyRequest matches all requests.
var AnyRequest Match = func(*http.Request) bool { return true }

// Once matches only the first request that m matches.
func (m Match) Once() Match {
	var done atomic.Bool
	return func(r *http.Request) bool { return m(r) && done.CompareAndSwap(false, true) }
}

// Do returns a rule for the requests that match.
func (m Match) Do(do Interceptor) Rule { return Rule{m, do} }

// Pass passes a request on.
func Pass(w http.ResponseWriter, r *http.Request, api http.Handler) { api.ServeHTTP(w, r) }

// Before calls a function and passes the request on.
func Before(call func(*http.Request)) Interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		call(r)
		api.ServeHTTP(w, r)
	}
}

// After passes the request on and calls a function before the client gets the response.
func After(call func(*http.Request)) Interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		response := Record(w, r, api)
		call(r)
		Send(w, response)
	}
}

// Respond returns a fixed response in place of the API.
func Respond(status int, body string) Interceptor {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// Refuse returns an error with a code that the API does not have for the status. See Fail for the others.
func Refuse(status int, code string) Interceptor {
	return Respond(status, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code))
}

// LoseResponse passes the request on and closes the connection without a response.
func LoseResponse(w http.ResponseWriter, r *http.Request, api http.Handler) {
	Record(w, r, api)
	panic(http.ErrAbortHandler)
}

// Rewrite changes the body of a successful response. Numbers are float64.
func Rewrite(change func(body map[string]any)) Interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		response := Record(w, r, api)
		var body map[string]any
		if err := json.Unmarshal(response.Body.Bytes(), &body); err == nil && response.Code/100 == 2 {
			change(body)
			response.Header().Del("Content-Length")
			response.Body.Reset()
			_ = json.NewEncoder(response.Body).Encode(body) //nolint:errcheck // into memory
		}
		Send(w, response)
	}
}

// RewriteItems changes each item of a successful response with a list, or the object of any other one.
func RewriteItems(change func(item map[string]any)) Interceptor {
	return Rewrite(func(body map[string]any) {
		list, isList := body["data"].([]any)
		if !isList {
			list = []any{body}
		}
		for _, item := range list {
			change(item.(map[string]any))
		}
	})
}

// SetField changes a field of a successful response.
func SetField(name string, value any) Interceptor {
	return Rewrite(func(body map[string]any) { body[name] = value })
}

// Record passes a request on and returns the response.
func Record(w http.ResponseWriter, r *http.Request, api http.Handler) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	maps.Copy(recorder.Header(), w.Header())
	api.ServeHTTP(recorder, r)
	return recorder
}

// Send sends a recorded response. If the client is gone, it closes the connection.
func Send(w http.ResponseWriter, response *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	if _, err := w.Write(response.Body.Bytes()); err != nil && response.Body.Len() > 0 {
		panic(http.ErrAbortHandler)
	}
}
