package contracttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeTB records reports.
type fakeTB struct {
	testing.TB
	mu       sync.Mutex
	reports  []string
	cleanups []func()
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

func (f *fakeTB) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports = append(f.reports, fmt.Sprintf(format, args...))
}

func (f *fakeTB) messages() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.reports, "\n")
}

// runCleanups runs the cleanups as at the end of a test.
func (f *fakeTB) runCleanups() {
	for _, cleanup := range f.cleanups {
		cleanup()
	}
}

const (
	key      = "abcdAAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD"
	user     = `{"id":"u1","email":null,"name":"Ada","created_at":"2026-01-02T03:04:05.678Z"}`
	notFound = `{"error":{"code":"not_found","message":"no"}}`
	instance = `{"id":"i/1","name":null,"status":"running","type":"on_demand",` +
		`"gpu":{"slug":"s","name":"S","count":1,"vram_gb":null},` +
		`"price":{"running_kop_h":1,"stopped_kop_h":1,"traffic_kop_gb":0},"ssh":null,` +
		`"urls":[{"label":"l","url":null}],"stop_reason":null}`
	newInstance = `{"offer_id":"o","template":"t","disk_gb":10,"env":{},"onstart":null}`
)

func forbidden(reason string) string {
	return fmt.Sprintf(`{"error":{"code":"forbidden","message":"no","details":{"reason":%q}}}`, reason)
}

// handlerOf returns a handler with one response. It sets the headers of all responses and then the given pairs of names
// and values; an empty value removes a header.
func handlerOf(status int, body string, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("X-RateLimit-Limit", "120")
		h.Set("X-RateLimit-Remaining", "119")
		h.Set("X-RateLimit-Reset", "60")
		for i := 0; i < len(headers); i += 2 {
			if h.Set(headers[i], headers[i+1]); headers[i+1] == "" {
				h.Del(headers[i])
			}
		}
		if status == http.StatusNoContent {
			h.Del("Content-Type")
		}
		w.WriteHeader(status)
		if _, err := io.WriteString(w, body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(err)
		}
	})
}

// newRequest returns a request with a key. Headers are as for handlerOf.
func newRequest(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return r
}

func TestWrap_ValidTraffic(t *testing.T) {
	tests := map[string]struct {
		request *http.Request
		handler http.Handler
	}{
		"read":       {newRequest("GET", "/api/v1/me", ""), handlerOf(200, user)},
		"any host":   {newRequest("GET", "https://rent.example:8443/api/v1/me", ""), handlerOf(200, user)},
		"escaped id": {newRequest("GET", "/api/v1/instances/i%2F1%20%25", ""), handlerOf(200, instance)},
		"create": {newRequest("POST", "/api/v1/instances", newInstance, "Idempotency-Key", "k"),
			handlerOf(201, instance)},
		"replay": {newRequest("POST", "/api/v1/instances", newInstance, "Idempotency-Key", "k"),
			handlerOf(200, instance, "Idempotent-Replayed", "true")},
		"clear a name": {newRequest("PATCH", "/api/v1/instances/1", `{"name":null}`), handlerOf(200, instance)},
		"delete":       {newRequest("DELETE", "/api/v1/ssh-keys/1", ""), handlerOf(204, "")},
		"error":        {newRequest("GET", "/api/v1/instances/1", ""), handlerOf(404, notFound)},
		"reason": {newRequest("POST", "/api/v1/instances", newInstance, "Idempotency-Key", "k"),
			handlerOf(403, forbidden("email_not_verified"))},
		"without a key": {newRequest("GET", "/api/v1/me", "", "Authorization", ""),
			handlerOf(401, `{"error":{"code":"unauthorized","message":"no"}}`)},
		"public": {
			newRequest("GET", "/api/v1/offers?gpu=a,b&num_gpus=1,8&verified=true&min_reliability=0.9&limit=200", "",
				"Authorization", ""),
			handlerOf(200, `{"data":[],"next_cursor":null}`, "Cache-Control", "public, max-age=60",
				"Access-Control-Allow-Origin", "*"),
		},
		"device login without a body": {
			newRequest("POST", "/api/v1/auth/device", "", "Authorization", ""),
			handlerOf(200,
				`{"device_code":"d","user_code":"u","verification_uri":"v",`+
					`"verification_uri_complete":"c","expires_in":600,"interval":5}`),
		},
		"retry later": {
			newRequest("GET", "/api/v1/me", ""),
			handlerOf(429, `{"error":{"code":"rate_limited","message":"no"}}`, "Retry-After", "3"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{}
			New(tb).Wrap(test.handler).ServeHTTP(httptest.NewRecorder(), test.request)
			if tb.messages() != "" {
				t.Errorf("a good exchange was reported:\n%s", tb.messages())
			}
		})
	}
}

func TestWrap_Violations(t *testing.T) {
	me := func() *http.Request { return newRequest("GET", "/api/v1/me", "") }
	create := func(body string, headers ...string) *http.Request {
		return newRequest("POST", "/api/v1/instances", body, append([]string{"Idempotency-Key", "k"}, headers...)...)
	}
	created := handlerOf(201, instance)
	page := handlerOf(200, `{"data":[],"next_cursor":null}`, "Cache-Control", "max-age=60",
		"Access-Control-Allow-Origin",
		"*")
	change := func(body, from, to string) string {
		if !strings.Contains(body, from) {
			t.Fatalf("%s has no %s", body, from)
		}
		return strings.Replace(body, from, to, 1)
	}
	tests := map[string]struct {
		request *http.Request
		handler http.Handler
		want    []string
	}{
		"unknown response field": {me(), handlerOf(200, change(user, `"id"`, `"karma":1,"id"`)),
			[]string{"getMe", "response", "karma"}},
		"unknown nested field": {newRequest("GET", "/api/v1/instances/1", ""),
			handlerOf(200, change(instance, `"label"`, `"x":1,"label"`)), []string{"getInstance", `"x"`, "/urls/0"}},
		"missing field": {me(), handlerOf(200, change(user, `"id":"u1",`, ``)),
			[]string{"getMe", `"id"`, "missing"}},
		"wrong type":              {me(), handlerOf(200, change(user, `"u1"`, `1`)), []string{"getMe", "/id"}},
		"null where not nullable": {me(), handlerOf(200, change(user, `"Ada"`, `null`)), []string{"getMe", "/name"}},
		"wrong enum": {newRequest("GET", "/api/v1/instances/1", ""),
			handlerOf(200, change(instance, `"running"`, `"runing"`)), []string{"getInstance", "/status"}},
		"unknown known value": {newRequest("GET", "/api/v1/instances/1", ""),
			handlerOf(200, change(instance, `"stop_reason":null`, `"stop_reason":"usr"`)), []string{"/stop_reason"}},
		"not a time": {me(), handlerOf(200, change(user, `2026-01-02T`, `2026-02-30T`)),
			[]string{"/created_at", "RFC 3339"}},
		"not UTC": {me(), handlerOf(200, change(user, `5.678Z`, `5+03:00`)),
			[]string{"/created_at", "UTC"}},
		"int64 overflow": {newRequest("GET", "/api/v1/instances/1", ""),
			handlerOf(200, change(instance, `"running_kop_h":1`, `"running_kop_h":1e30`)), []string{"/running_kop_h"}},
		"unknown reason": {create(newInstance), handlerOf(403, forbidden("phone_not_verified")),
			[]string{"/error/details/reason"}},
		"undocumented status": {me(), handlerOf(418, `{}`), []string{"getMe", "418"}},
		"redirect":            {me(), handlerOf(301, ``), []string{"getMe", "301"}},
		"status of others":    {me(), handlerOf(404, notFound), []string{"getMe", "404"}},
		"code of another status": {newRequest("GET", "/api/v1/instances/1", ""),
			handlerOf(404, change(notFound, "not_found", "conflict")), []string{"/error/code"}},
		"wrong content type": {me(), handlerOf(200, user, "Content-Type", "text/html"),
			[]string{"getMe", "text/html"}},
		"no content type": {me(), handlerOf(200, user, "Content-Type", ""), []string{"getMe", "Content-Type"}},
		"missing header": {me(), handlerOf(200, user, "X-RateLimit-Limit", ""),
			[]string{"getMe", "X-RateLimit-Limit"}},
		"cached private response": {me(), handlerOf(200, user, "Cache-Control", "max-age=60"),
			[]string{"getMe", "Cache-Control"}},
		"no Retry-After": {me(), handlerOf(429, `{"error":{"code":"rate_limited","message":"no"}}`),
			[]string{"Retry-After"}},
		"replay without its mark": {create(newInstance), handlerOf(200, instance), []string{"Idempotent-Replayed"}},
		"no body":                 {me(), handlerOf(200, ""), []string{"getMe", "response"}},
		"two bodies":              {me(), handlerOf(200, user+user), []string{"getMe", "one JSON value"}},
		"body of 204": {newRequest("DELETE", "/api/v1/ssh-keys/1", ""), handlerOf(204, "x"),
			[]string{"deleteSshKey", "want none"}},
		"served without a key": {newRequest("GET", "/api/v1/me", "", "Authorization", ""), handlerOf(200, user),
			[]string{"getMe", "without a key"}},
		"unknown operation": {newRequest("GET", "/api/v1/topup", ""), handlerOf(404, notFound),
			[]string{"no operation", "GET /api/v1/topup"}},
		"trailing slash": {newRequest("GET", "/api/v1/me/", ""), handlerOf(200, user),
			[]string{"no operation"}},
		"outside the base address": {newRequest("GET", "/me", ""), handlerOf(200, user), []string{"no operation"}},
		"wrong method": {newRequest("PUT", "/api/v1/me", "{}"), handlerOf(404, notFound),
			[]string{"no operation", "method"}},
		"no idempotency key": {newRequest("POST", "/api/v1/instances", newInstance), created,
			[]string{"createInstance", "request", "Idempotency-Key"}},
		"unknown request field": {create(change(newInstance, `"env"`, `"x":1,"env"`)), created,
			[]string{"request", `"x"`}},
		"out of bounds": {create(change(newInstance, `10`, `9`)), created, []string{"request", "/disk_gb"}},
		"env is not supported": {create(change(newInstance, `"env":{}`, `"env":{"A":"b"}`)), created,
			[]string{"request", "/env"}},
		"request is not JSON":    {create("{"), created, []string{"request"}},
		"request without a body": {create(""), created, []string{"request", "body"}},
		"request is form data": {create(newInstance, "Content-Type", "text/plain"), created,
			[]string{"request", "text/plain"}},
		"trailing data": {create(newInstance + "{}"), created, []string{"request", "one JSON value"}},
		"body where none belongs": {newRequest("POST", "/api/v1/instances/1/stop", "{}"), handlerOf(200, instance),
			[]string{"stopInstance", "request", "body"}},
		"query out of bounds": {newRequest("GET", "/api/v1/offers?limit=201", ""), page,
			[]string{"listOffers", "request", "limit"}},
		"unknown query parameter": {newRequest("GET", "/api/v1/offers?offset=1", ""), page,
			[]string{"listOffers", "offset"}},
		"doubled query parameter": {newRequest("GET", "/api/v1/offers?gpu=a&gpu=b", ""), page,
			[]string{"listOffers", "gpu", "2 times"}},
		"lenient boolean": {newRequest("GET", "/api/v1/offers?verified=1", ""), page,
			[]string{"listOffers", "verified"}},
		"malformed query": {newRequest("GET", "/api/v1/offers?gpu=%zz", ""), page, []string{"listOffers", "query"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{}
			New(tb).Wrap(test.handler).ServeHTTP(httptest.NewRecorder(), test.request)
			if len(tb.reports) != 1 {
				t.Fatalf("%d reports, want 1:\n%s", len(tb.reports), tb.messages())
			}
			for _, want := range test.want {
				if !strings.Contains(tb.messages(), want) {
					t.Errorf("the report does not say %q:\n%s", want, tb.messages())
				}
			}
		})
	}
}

func TestAllowInvalidRequests(t *testing.T) {
	invalid := `{"error":{"code":"validation_error","message":"no",` +
		`"details":{"issues":[{"field":"disk_gb","message":"no"}]}}}`
	bad := func() *http.Request { return newRequest("POST", "/api/v1/instances", "{}", "Idempotency-Key", "k") }
	tests := map[string]struct {
		request *http.Request
		handler http.Handler
		want    string // "" for no report
	}{
		"refused":                    {bad(), handlerOf(422, invalid), ""},
		"refused for another reason": {bad(), handlerOf(401, `{"error":{"code":"unauthorized","message":"no"}}`), ""},
		"accepted":                   {bad(), handlerOf(201, instance), "want 4xx"},
		"failed": {bad(), handlerOf(500, `{"error":{"code":"internal","message":"no"}}`),
			"want 4xx"},
		"refused in a wrong form": {bad(), handlerOf(422, strings.Replace(invalid, "disk_gb", `x","y":"`, 1)),
			`"y"`},
		"undocumented refusal": {bad(), handlerOf(400, invalid), "400"},
		"unknown path":         {newRequest("GET", "/api/v1/topup", ""), handlerOf(404, notFound), ""},
		"unknown path served":  {newRequest("GET", "/api/v1/topup", ""), handlerOf(200, notFound), "want 4xx"},
		"unknown path, plain text": {newRequest("GET", "/api/v1/topup", ""),
			handlerOf(404, "no", "Content-Type", "text/plain"),
			"text/plain"},
		"unknown path, own code": {newRequest("GET", "/api/v1/topup", ""),
			handlerOf(404, strings.Replace(notFound, "not_found", "nope", 1)), "/error/code"},
		"unknown path, own field": {newRequest("GET", "/api/v1/topup", ""),
			handlerOf(404, strings.Replace(notFound, `"code"`, `"hint":1,"code"`, 1)), "hint"},
		"ignored body field": {
			newRequest("PATCH", "/api/v1/instances/1", `{"name":"n","x":1}`), handlerOf(200, instance), "",
		},
		"ignored query parameter": {newRequest("GET", "/api/v1/transactions?x=1", ""),
			handlerOf(200, `{"data":[],"next_cursor":null}`), ""},
		"good request":               {newRequest("GET", "/api/v1/me", ""), handlerOf(200, user), ""},
		"good request, bad response": {newRequest("GET", "/api/v1/me", ""), handlerOf(200, "{}"), "missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{}
			New(tb, AllowInvalidRequests()).Wrap(test.handler).ServeHTTP(httptest.NewRecorder(), test.request)
			if test.want == "" && tb.messages() != "" {
				t.Errorf("reported:\n%s", tb.messages())
			}
			if test.want != "" && (len(tb.reports) == 0 || !strings.Contains(tb.messages(), test.want)) {
				t.Errorf("reports do not say %q:\n%s", test.want, tb.messages())
			}
		})
	}
}

func TestWrap_UncheckedRequests(t *testing.T) {
	for name, request := range map[string]*http.Request{
		"the contract itself": httptest.NewRequest("GET", "/api/v1/openapi.json", nil),
		"a CORS preflight": newRequest("OPTIONS", "/api/v1/offers", "", "Authorization", "", "Origin",
			"https://a.example",
			"Access-Control-Request-Method", "GET"),
	} {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{}
			w := httptest.NewRecorder()
			New(tb).Wrap(handlerOf(200, "anything", "Content-Type", "text/plain")).ServeHTTP(w, request)
			if tb.messages() != "" || w.Body.String() != "anything" {
				t.Errorf("body %q, reports:\n%s", w.Body, tb.messages())
			}
		})
	}
}

func TestReports_HaveNoKey(t *testing.T) {
	tb := &fakeTB{}
	echo := handlerOf(200, strings.Repeat(" ", excerptSize-30)+`{"id":"`+key+`"}`)
	New(tb).Wrap(echo).ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", ""))
	if tb.messages() == "" || strings.Contains(tb.messages(), key[:8]) {
		t.Errorf("want a report without the key:\n%s", tb.messages())
	}
}

func TestReports_AreShort(t *testing.T) {
	tb := &fakeTB{}
	long := handlerOf(200, `{"id":"`+strings.Repeat("я", 1000)+`"}`)
	New(tb).Wrap(long).ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", ""))
	if n := len(tb.messages()); n == 0 || n > 1000 {
		t.Errorf("the report has %d bytes:\n%s", n, tb.messages())
	}
}

func TestReports_NoneAfterTest(t *testing.T) {
	tb := &fakeTB{}
	handler := New(tb).Wrap(handlerOf(418, ""))
	tb.runCleanups()
	handler.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/me", ""))
	if tb.messages() != "" {
		t.Errorf("reported after the end:\n%s", tb.messages())
	}
}

func TestWrap_RequestUnchanged(t *testing.T) {
	var body, query string
	var header http.Header
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body, query, header = string(data), r.URL.RawQuery, r.Header.Clone()
		handlerOf(201, instance).ServeHTTP(w, r)
	})
	request := newRequest("POST", "/api/v1/instances", newInstance, "Idempotency-Key", "k")
	want := request.Header.Clone()
	New(t).Wrap(handler).ServeHTTP(httptest.NewRecorder(), request)
	if body != newInstance || query != "" {
		t.Errorf("body %q, query %q", body, query)
	}
	if diff := cmp.Diff(want, header); diff != "" {
		t.Errorf("headers (-sent +seen):\n%s", diff)
	}
}

func TestSeen(t *testing.T) {
	c := New(&fakeTB{}, AllowInvalidRequests())
	handler := c.Wrap(handlerOf(404, notFound))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, path := range []string{"/api/v1/me", "/api/v1/instances/1", "/api/v1/instances/2",
				"/api/v1/nowhere"} {
				handler.ServeHTTP(httptest.NewRecorder(), newRequest("GET", path, ""))
			}
		})
	}
	wg.Wait()
	got := c.Seen()
	if diff := cmp.Diff(map[string]int{"getMe": 8, "getInstance": 16}, got); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	clear(got)
	if len(c.Seen()) != 2 {
		t.Error("writing to what Seen returned changed the checker")
	}
}

func BenchmarkWrap(b *testing.B) {
	handler := New(b).Wrap(handlerOf(200, instance))
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), newRequest("GET", "/api/v1/instances/1", ""))
	}
}
