package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// object is a JSON object. Numbers are json.Number, which distinguishes 1 and 1.0.
type object = map[string]any

// httpClient follows no redirects, because the API has none.
var httpClient = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// service is a running Rental Service.
type service struct {
	t                        *testing.T
	baseURL, controlURL, key string
	header                   http.Header
	// cache contains the offers of the instances that rent created, and the plain template.
	cache map[string]string
}

// start starts a service without rate limits whose account has enough money and a high limit of instances.
func start(t *testing.T) *service {
	t.Helper()
	s := startUnconfigured(t)
	s.control(http.MethodPost, "/rate-limit", object{"per_minute_key": 0, "per_minute_address": 0})
	s.setAccount(object{"balance_kop": 1_000_000_000, "credit_limit_kop": 0, "email_verified": true,
		"max_instances": 1000})
	return s
}

// check counts a check and reports an error if it fails.
func check(t *testing.T, ok bool, format string, args ...any) bool {
	t.Helper()
	checks.Add(1)
	if !ok {
		t.Errorf(format, args...)
	}
	return ok
}

// equal checks that two values are equal.
func equal[T comparable](t *testing.T, what string, got, want T) bool {
	t.Helper()
	return check(t, got == want, "%s: got %v, want %v", what, got, want)
}

// as returns the same service with another API key, "" for none.
func (s *service) as(key string) *service {
	other := *s
	other.key, other.header = key, s.header.Clone()
	return &other
}

// with returns the same service with a header in all requests; "" removes the header.
func (s *service) with(name, value string) *service {
	other := s.as(s.key)
	if value == "" {
		other.header.Del(name)
	} else {
		other.header.Set(name, value)
	}
	return other
}

// response is a complete response.
type response struct {
	t       *testing.T
	request string
	status  int
	header  http.Header
	raw     []byte
}

// send sends a request and checks the rules for all responses.
func (s *service) send(method, path string, body io.Reader) response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.baseURL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range s.header {
		req.Header[name] = values
	}
	a := s.do(req)
	a.checkCommon(method, path)
	return a
}

func (s *service) do(req *http.Request) response {
	s.t.Helper()
	res, err := httpClient.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return response{s.t, req.Method + " " + strings.TrimPrefix(req.URL.RequestURI(), "/api/v1"), res.StatusCode,
		res.Header, raw}
}

// call sends a JSON body, nil for none.
func (s *service) call(method, path string, body any) response {
	s.t.Helper()
	if body == nil {
		return s.send(method, path, nil)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(method, path, bytes.NewReader(raw))
}

func (s *service) get(path string) response { s.t.Helper(); return s.call(http.MethodGet, path, nil) }

func (s *service) post(path string, body any) response {
	s.t.Helper()
	return s.call(http.MethodPost, path, body)
}

func (s *service) delete(path string) response {
	s.t.Helper()
	return s.call(http.MethodDelete, path, nil)
}

// want fails the test unless the response has the status.
func (a response) want(status int) response {
	a.t.Helper()
	if !check(a.t, a.status == status, "%s: status %d, want %d: %.300s", a.request, a.status, status, a.raw) {
		a.t.FailNow()
	}
	return a
}

// object returns the body, which must be one JSON object.
func (a response) object() object {
	a.t.Helper()
	var o object
	d := json.NewDecoder(bytes.NewReader(a.raw))
	d.UseNumber()
	if err := d.Decode(&o); err != nil || o == nil || d.More() {
		a.t.Fatalf("%s: the body is no JSON object: %v: %.300s", a.request, err, a.raw)
	}
	return o
}

// ok returns the object of a response 200.
func (a response) ok() object { a.t.Helper(); return a.want(http.StatusOK).object() }

// created returns the object of a response 201.
func (a response) created() object { a.t.Helper(); return a.want(http.StatusCreated).object() }

// headerNumber returns a header that must be a whole number.
func (a response) headerNumber(name string) int {
	a.t.Helper()
	n, err := strconv.Atoi(a.header.Get(name))
	check(a.t, err == nil && n >= 0, "%s: header %s is %q, want a whole number", a.request, name, a.header.Get(name))
	return n
}

// checkCommon checks the rules for all responses.
func (a response) checkCommon(method, path string) {
	a.t.Helper()
	check(a.t, a.status != http.StatusInternalServerError, "%s: an internal error: %.300s", a.request, a.raw)
	limit, left := a.headerNumber("X-Ratelimit-Limit"), a.headerNumber("X-Ratelimit-Remaining")
	a.headerNumber("X-Ratelimit-Reset")
	check(a.t, left < limit || left == 0, "%s: %d of %d requests left after one", a.request, left, limit)
	if a.status != http.StatusNoContent && method != http.MethodHead {
		mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		check(a.t, mediaType == "application/json" && len(a.raw) > 0, "%s: content type %q, %d bytes", a.request,
			mediaType, len(a.raw))
	}
	if a.status == http.StatusNoContent {
		check(a.t, len(a.raw) == 0, "%s: a 204 with a body", a.request)
	}
	path, _, _ = strings.Cut(path, "?")
	cached := method == http.MethodGet && (path == "/gpus" || path == "/offers" || path == "/templates")
	if !cached && path != "/openapi.json" {
		equal(a.t, a.request+": Cache-Control", a.header.Get("Cache-Control"), "no-store")
		return
	}
	if a.status == http.StatusOK {
		check(a.t, strings.Contains(a.header.Get("Cache-Control"), "max-age=60") || path == "/openapi.json",
			"%s: Cache-Control %q", a.request, a.header.Get("Cache-Control"))
	}
}
