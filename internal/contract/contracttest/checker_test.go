package contracttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakeTB records reports.
type fakeTB struct {
	testing.TB
	reports []string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Cleanup(func()) {}

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

// exchanged sends a request such as "GET /me" through a checker, with a response, and returns the reports. Headers of
// both can be replaced, or removed with an empty value.
func exchanged(
	t *testing.T, target, body string, status int, response string, replaced map[string]string, options ...Option,
) string {
	t.Helper()
	set := func(header http.Header, values map[string]string) {
		for name, value := range values {
			if header.Set(name, value); value == "" {
				header.Del(name)
			}
		}
	}
	method, path, _ := strings.Cut(target, " ")
	request := httptest.NewRequest(method, "https://rent.example:8443/api/v1"+path, strings.NewReader(body))
	set(request.Header, map[string]string{"Authorization": "Bearer " + key, "Idempotency-Key": "k"})
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	set(request.Header, replaced)
	tb, w := &fakeTB{}, httptest.NewRecorder()
	New(tb, options...).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		set(w.Header(), map[string]string{
			"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "X-RateLimit-Limit": "120",
			"X-RateLimit-Remaining": "119", "X-RateLimit-Reset": "60",
		})
		set(w.Header(), replaced)
		w.WriteHeader(status)
		if _, err := io.WriteString(w, response); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
			t.Error(err)
		}
	})).ServeHTTP(w, request)
	if w.Code != status || w.Body.String() != response {
		t.Errorf("the client got %d %s", w.Code, w.Body)
	}
	return strings.Join(tb.reports, "\n")
}

// change replaces a part of a body.
func change(body, from, to string) string {
	changed := strings.Replace(body, from, to, 1)
	if changed == body {
		panic(body + " has no " + from)
	}
	return changed
}

// Each row shows that a kind of violation is reported, once. The tests of packages rental and simulator show that
// nothing else is.
func TestWrap_ReportsViolations(t *testing.T) {
	type headers = map[string]string
	public := headers{"Cache-Control": "public, max-age=60", "Access-Control-Allow-Origin": "*"}
	strict, lenient := []Option(nil), []Option{AllowInvalidRequests()}
	for name, e := range map[string]struct {
		options      []Option
		target, body string
		status       int
		response     string
		headers      headers
		report       string // a part of the only report; empty for none
	}{
		"unknown response field": {
			strict, "GET /instances/1", "", 200, change(instance, `"label"`, `"karma":1,"label"`), nil, "/urls/0",
		},
		"unknown known value": {
			strict, "GET /instances/1", "", 200, change(instance, `reason":null`, `reason":"usr"`), nil, "/stop_reason",
		},
		"not a time":          {strict, "GET /me", "", 200, change(user, `01-02T`, `02-30T`), nil, "RFC 3339"},
		"not UTC":             {strict, "GET /me", "", 200, change(user, `5.678Z`, `5+03:00`), nil, "UTC"},
		"undocumented status": {strict, "GET /me", "", 404, notFound, nil, "status 404 is not documented"},
		"content type":        {strict, "GET /me", "", 200, user, headers{"Content-Type": "text/html"}, "text/html"},
		"missing header":      {strict, "GET /me", "", 200, user, headers{"X-RateLimit-Limit": ""}, "X-RateLimit-Limit"},
		"two bodies":          {strict, "GET /me", "", 200, user + user, nil, "one JSON value"},
		"body of 204":         {strict, "DELETE /ssh-keys/1", "", 204, "x", nil, "want none"},
		"served without a key": {
			strict, "GET /me", "", 200, user, headers{"Authorization": ""}, "getMe: GET /api/v1/me: response: a private",
		},
		"unknown operation":  {strict, "GET /topup", "", 404, notFound, nil, "no operation"},
		"no idempotency key": {strict, "POST /instances", newInstance, 201, instance, headers{"Idempotency-Key": ""}, "Idem"},
		"unknown request field": {
			strict, "POST /instances", change(newInstance, `"env"`, `"x":1,"env"`), 201, instance, nil, `"x"`,
		},
		"out of bounds": {
			strict, "POST /instances", change(newInstance, `10`, `9`), 201, instance, nil, "/disk_gb",
		},
		"trailing data":           {strict, "POST /instances", newInstance + "{}", 201, instance, nil, "one JSON value"},
		"unexpected body":         {strict, "POST /instances/1/stop", "{}", 200, instance, nil, "body"},
		"unknown query parameter": {strict, "GET /offers?offset=1", "", 200, emptyPage, public, "offset"},
		"doubled query parameter": {strict, "GET /offers?gpu=a&gpu=b", "", 200, emptyPage, public, "2 times"},
		"lenient boolean":         {strict, "GET /offers?verified=1", "", 200, emptyPage, public, "verified"},
		"malformed query":         {strict, "GET /offers?gpu=%zz", "", 200, emptyPage, public, "query"},

		"invalid, refused":    {lenient, "POST /instances", "{}", 422, invalid, nil, ""},
		"invalid, accepted":   {lenient, "POST /instances", "{}", 201, instance, nil, "want 4xx"},
		"unknown path":        {lenient, "GET /topup", "", 404, notFound, nil, ""},
		"unknown path served": {lenient, "GET /topup", "", 200, instance, nil, "want 4xx"},
		"unknown path, text":  {lenient, "GET /topup", "", 404, "no", nil, "not JSON"},
		"unknown path, code":  {lenient, "GET /topup", "", 404, change(notFound, "not_", "nope_"), nil, "/error/code"},
		"ignored body field":  {lenient, "PATCH /instances/1", `{"name":"n","x":1}`, 200, instance, nil, ""},
		"ignored parameter":   {lenient, "GET /transactions?x=1", "", 200, emptyPage, nil, ""},
		"lenient, valid, bad": {lenient, "GET /me", "", 200, "{}", nil, "missing"},
		"long, with the key": {
			strict, "GET /me", "", 200, strings.Repeat(" ", excerptSize-30) + `"` + key + `"`, nil, "***",
		},
		"long, without a key": {strict, "GET /me", "", 200, `{"id":"` + strings.Repeat("я", 1000) + `"}`, nil, "id"},
	} {
		report := exchanged(t, e.target, e.body, e.status, e.response, e.headers, e.options...)
		if strings.Count(report, "contract: ") != min(len(e.report), 1) || !strings.Contains(report, e.report) ||
			strings.Contains(report, key[:8]) || len(report) > 1000 {
			t.Errorf("%s: want one report with %q, or none if empty:\n%s", name, e.report, report)
		}
	}
}
