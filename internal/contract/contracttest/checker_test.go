package contracttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeTB records reports.
type fakeTB struct {
	testing.TB
	reports  []string
	cleanups []func()
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

func (f *fakeTB) Errorf(format string, args ...any) {
	f.reports = append(f.reports, fmt.Sprintf(format, args...))
}

const (
	key      = "abcdAAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD"
	user     = `{"id":"u1","email":null,"name":"Ada","created_at":"2026-01-02T03:04:05.678Z"}`
	notFound = `{"error":{"code":"not_found","message":"no"}}`
	invalid  = `{"error":{"code":"validation_error","message":"no",` +
		`"details":{"issues":[{"field":"disk_gb","message":"no"}]}}}`
	instance = `{"id":"i/1","name":null,"status":"running","type":"on_demand",` +
		`"gpu":{"slug":"s","name":"S","count":1,"vram_gb":null},` +
		`"price":{"running_kop_h":1,"stopped_kop_h":1,"traffic_kop_gb":0},"ssh":null,` +
		`"urls":[{"label":"l","url":null}],"stop_reason":null}`
	newInstance = `{"offer_id":"o","template":"t","disk_gb":10,"env":{},"onstart":null}`
	emptyPage   = `{"data":[],"next_cursor":null}`
)

// exchangeCase is a request and its response. Headers are added to those of every request and response with a key; an
// empty value removes one.
type exchangeCase struct {
	target         string // for example "GET /me"
	body           string
	status         int
	response       string
	requestHeader  map[string]string
	responseHeader map[string]string
	reports        string // a part of the only report; empty for none
}

// run sends the request through a checker and returns the response and the reports.
func (e exchangeCase) run(options ...Option) (*httptest.ResponseRecorder, *fakeTB) {
	method, path, _ := strings.Cut(e.target, " ")
	request := httptest.NewRequest(method, "https://rent.example:8443/api/v1"+path, strings.NewReader(e.body))
	request.Header.Set("Authorization", "Bearer "+key)
	if e.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if e.target == "POST /instances" {
		request.Header.Set("Idempotency-Key", "k")
	}
	setHeaders(request.Header, e.requestHeader)
	tb := &fakeTB{}
	w := httptest.NewRecorder()
	New(tb, options...).Wrap(http.HandlerFunc(e.serve)).ServeHTTP(w, request)
	return w, tb
}

func (e exchangeCase) serve(w http.ResponseWriter, _ *http.Request) {
	setHeaders(w.Header(), map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "X-RateLimit-Limit": "120",
		"X-RateLimit-Remaining": "119", "X-RateLimit-Reset": "60",
	})
	setHeaders(w.Header(), e.responseHeader)
	w.WriteHeader(e.status)
	if _, err := io.WriteString(w, e.response); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		panic(err)
	}
}

func setHeaders(header http.Header, values map[string]string) {
	for name, value := range values {
		if header.Set(name, value); value == "" {
			header.Del(name)
		}
	}
}

func (e exchangeCase) test(t *testing.T, options ...Option) {
	t.Helper()
	w, tb := e.run(options...)
	if w.Code != e.status || w.Body.String() != e.response {
		t.Errorf("the client got %d %s", w.Code, w.Body)
	}
	reports := strings.Join(tb.reports, "\n")
	want := 1
	if e.reports == "" {
		want = 0
	}
	if len(tb.reports) != want || !strings.Contains(reports, e.reports) {
		t.Errorf("want one report with %q, or none if empty:\n%s", e.reports, reports)
	}
}

// change replaces a part of a body.
func change(body, from, to string) string {
	changed := strings.Replace(body, from, to, 1)
	if changed == body {
		panic(body + " has no " + from)
	}
	return changed
}

// The tests of the contract check the bounds of fields. Here, each row shows that a kind of violation is reported. The
// tests of packages rental and simulator show that nothing else is.
func TestWrap_Violations(t *testing.T) {
	get := func(body, reports string) exchangeCase {
		return exchangeCase{target: "GET /instances/1", status: 200, response: body, reports: reports}
	}
	create := func(body, reports string) exchangeCase {
		return exchangeCase{target: "POST /instances", body: body, status: 201, response: instance, reports: reports}
	}
	publicGET := map[string]string{"Cache-Control": "public, max-age=60", "Access-Control-Allow-Origin": "*"}
	search := func(query, reports string) exchangeCase {
		return exchangeCase{target: "GET /offers?" + query, status: 200, response: emptyPage, responseHeader: publicGET,
			reports: reports}
	}
	me := func(status int, body, reports string) exchangeCase {
		return exchangeCase{target: "GET /me", status: status, response: body, reports: reports}
	}
	with := func(e exchangeCase, name, value string) exchangeCase {
		e.responseHeader = map[string]string{name: value}
		return e
	}
	withoutKey := me(200, user, "getMe: GET /api/v1/me: response: a private operation was served without a key")
	withoutKey.requestHeader = map[string]string{"Authorization": ""}
	withoutIdempotencyKey := create(newInstance, "Idempotency-Key")
	withoutIdempotencyKey.requestHeader = map[string]string{"Idempotency-Key": ""}
	for name, e := range map[string]exchangeCase{
		"unknown response field": get(change(instance, `"id"`, `"karma":1,"id"`), "karma"),
		"unknown nested field":   get(change(instance, `"label"`, `"x":1,"label"`), "/urls/0"),
		"missing field":          get(change(instance, `"id":"i/1",`, ``), `"id"`),
		"unknown known value":    get(change(instance, `"stop_reason":null`, `"stop_reason":"usr"`), "/stop_reason"),
		"not a time":             me(200, change(user, `2026-01-02T`, `2026-02-30T`), "RFC 3339"),
		"not UTC":                me(200, change(user, `5.678Z`, `5+03:00`), "UTC"),
		"undocumented status":    me(418, `{}`, "418"),
		"status of others":       me(404, notFound, "404"),
		"wrong content type":     with(me(200, user, "text/html"), "Content-Type", "text/html"),
		"missing header":         with(me(200, user, "X-RateLimit-Limit"), "X-RateLimit-Limit", ""),
		"two bodies":             me(200, user+user, "one JSON value"),
		"no body":                me(200, "", "response"),
		"body of 204":            {target: "DELETE /ssh-keys/1", status: 204, response: "x", reports: "want none"},
		"served without a key":   withoutKey,
		"unknown operation":      {target: "GET /topup", status: 404, response: notFound, reports: "no operation"},
		"wrong method":           {target: "PUT /me", status: 404, response: notFound, reports: "no operation"},
		"no idempotency key":     withoutIdempotencyKey,
		"unknown request field":  create(change(newInstance, `"env"`, `"x":1,"env"`), `"x"`),
		"out of bounds":          create(change(newInstance, `10`, `9`), "/disk_gb"),
		"request without a body": create("", "body"),
		"trailing data":          create(newInstance+"{}", "one JSON value"),
		"unexpected body": {target: "POST /instances/1/stop", body: "{}", status: 200, response: instance,
			reports: "body"},
		"query out of bounds":     search("limit=201", "limit"),
		"unknown query parameter": search("offset=1", "offset"),
		"doubled query parameter": search("gpu=a&gpu=b", "2 times"),
		"lenient boolean":         search("verified=1", "verified"),
		"malformed query":         search("gpu=%zz", "query"),
	} {
		t.Run(name, func(t *testing.T) { e.test(t) })
	}
}

func TestAllowInvalidRequests(t *testing.T) {
	create := func(status int, body, reports string) exchangeCase {
		return exchangeCase{target: "POST /instances", body: "{}", status: status, response: body, reports: reports}
	}
	unknown := func(status int, body, reports string) exchangeCase {
		return exchangeCase{target: "GET /topup", status: status, response: body, reports: reports}
	}
	for name, e := range map[string]exchangeCase{
		"refused":                 create(422, invalid, ""),
		"accepted":                create(201, instance, "want 4xx"),
		"refused in a wrong form": create(422, change(invalid, "disk_gb", `x","y":"`), `"y"`),
		"unknown path":            unknown(404, notFound, ""),
		"unknown path served":     unknown(200, instance, "want 4xx"),
		"unknown path, text":      unknown(404, "no", "not JSON"),
		"unknown path, own code":  unknown(404, change(notFound, "not_found", "nope"), "/error/code"),
		"unknown path, own field": unknown(404, change(notFound, `"code"`, `"hint":1,"code"`), "hint"),
		"ignored body field": {target: "PATCH /instances/1", body: `{"name":"n","x":1}`, status: 200,
			response: instance},
		"ignored query parameter": {target: "GET /transactions?x=1", status: 200, response: emptyPage},
		"valid request":           {target: "GET /me", status: 200, response: "{}", reports: "missing"},
	} {
		t.Run(name, func(t *testing.T) { e.test(t, AllowInvalidRequests()) })
	}
}

func TestReports_AreShortAndHaveNoKey(t *testing.T) {
	for name, body := range map[string]string{
		"the key at the end": strings.Repeat(" ", excerptSize-30) + `{"id":"` + key + `"}`,
		"long":               `{"id":"` + strings.Repeat("я", 1000) + `"}`,
	} {
		_, tb := exchangeCase{target: "GET /me", status: 200, response: body}.run()
		report := strings.Join(tb.reports, "\n")
		if report == "" || len(report) > 1000 || strings.Contains(report, key[:8]) {
			t.Errorf("%s: want a short report without the key:\n%s", name, report)
		}
	}
}

// A panic cuts the response, and reports after the end of the test would panic.
func TestWrap_NoReports(t *testing.T) {
	tb := &fakeTB{}
	checker := New(tb)
	abort := checker.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("recovered %v", p)
			}
		}()
		abort.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/me", nil))
	}()
	tb.cleanups[0]()
	late := checker.Wrap(http.HandlerFunc(exchangeCase{status: 418}.serve))
	late.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/me", nil))
	if len(tb.reports) != 0 {
		t.Errorf("reported: %v", tb.reports)
	}
}

func TestWrap_RequestUnchanged(t *testing.T) {
	request := httptest.NewRequest("POST", "/api/v1/templates", strings.NewReader(`{"name":"my","image":"a:1"}`))
	request.Header.Set("Content-Type", "application/json")
	New(&fakeTB{}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"name":"my","image":"a:1"}` || r.URL.RawQuery != "" {
			t.Errorf("body %q, error %v, query %q", body, err, r.URL.RawQuery)
		}
		if diff := cmp.Diff(request.Header, r.Header); diff != "" {
			t.Errorf("headers (-sent +seen):\n%s", diff)
		}
	})).ServeHTTP(httptest.NewRecorder(), request)
}
