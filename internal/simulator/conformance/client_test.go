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

// object is a JSON object as it came; numbers are json.Number, so that 1 and 1.0 are told apart.
type object = map[string]any

// wire follows no redirect: the API knows none.
var wire = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// service is a Rental Service that is known by its addresses and a key only.
type service struct {
	t                  *testing.T
	base, control, key string
	header             http.Header
	// known has the offer of each instance that rent made, and the plain template.
	known map[string]string
}

// start starts a service without request limits, whose account has money and may rent much.
func start(t *testing.T) *service {
	t.Helper()
	s := untouched(t)
	s.steer(http.MethodPost, "/rate-limit", object{"per_minute_key": 0, "per_minute_address": 0})
	s.account(object{"balance_kop": 1_000_000_000, "credit_limit_kop": 0, "email_verified": true,
		"max_instances": 1000})
	return s
}

// check is one judgement.
func check(t *testing.T, ok bool, format string, args ...any) bool {
	t.Helper()
	checks.Add(1)
	if !ok {
		t.Errorf(format, args...)
	}
	return ok
}

// equal is one judgement too.
func equal[T comparable](t *testing.T, what string, got, want T) bool {
	t.Helper()
	return check(t, got == want, "%s: got %v, want %v", what, got, want)
}

// as returns the same service with another key; "" is none.
func (s *service) as(key string) *service {
	other := *s
	other.key, other.header = key, s.header.Clone()
	return &other
}

// with returns the same service with a header on every request; "" removes it.
func (s *service) with(name, value string) *service {
	other := s.as(s.key)
	if value == "" {
		other.header.Del(name)
	} else {
		other.header.Set(name, value)
	}
	return other
}

// answer is a response that was read to its end.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	raw    []byte
}

// send sends a request and judges what holds for every answer.
func (s *service) send(method, path string, body io.Reader) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, body)
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
	a.standing(method, path)
	return a
}

func (s *service) do(req *http.Request) answer {
	s.t.Helper()
	res, err := wire.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return answer{s.t, req.Method + " " + strings.TrimPrefix(req.URL.RequestURI(), "/api/v1"), res.StatusCode,
		res.Header, raw}
}

// call sends a JSON body; nil is none.
func (s *service) call(method, path string, body any) answer {
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

func (s *service) get(path string) answer { s.t.Helper(); return s.call(http.MethodGet, path, nil) }

func (s *service) post(path string, body any) answer {
	s.t.Helper()
	return s.call(http.MethodPost, path, body)
}

func (s *service) delete(path string) answer {
	s.t.Helper()
	return s.call(http.MethodDelete, path, nil)
}

// want judges the status and returns the answer.
func (a answer) want(status int) answer {
	a.t.Helper()
	if !check(a.t, a.status == status, "%s: status %d, want %d: %.300s", a.what, a.status, status, a.raw) {
		a.t.FailNow()
	}
	return a
}

// object is the body, which must be one JSON object.
func (a answer) object() object {
	a.t.Helper()
	var o object
	d := json.NewDecoder(bytes.NewReader(a.raw))
	d.UseNumber()
	if err := d.Decode(&o); err != nil || o == nil || d.More() {
		a.t.Fatalf("%s: the body is no JSON object: %v: %.300s", a.what, err, a.raw)
	}
	return o
}

// ok is the object of a 200.
func (a answer) ok() object { a.t.Helper(); return a.want(http.StatusOK).object() }

// created is the object of a 201.
func (a answer) created() object { a.t.Helper(); return a.want(http.StatusCreated).object() }

// number is a header that must be a whole number.
func (a answer) number(name string) int {
	a.t.Helper()
	n, err := strconv.Atoi(a.header.Get(name))
	check(a.t, err == nil && n >= 0, "%s: header %s is %q, want a whole number", a.what, name, a.header.Get(name))
	return n
}

// standing judges what the document says of every answer.
func (a answer) standing(method, path string) {
	a.t.Helper()
	check(a.t, a.status != http.StatusInternalServerError, "%s: an internal error: %.300s", a.what, a.raw)
	limit, left := a.number("X-Ratelimit-Limit"), a.number("X-Ratelimit-Remaining")
	a.number("X-Ratelimit-Reset")
	check(a.t, left < limit || left == 0, "%s: %d of %d requests left after one", a.what, left, limit)
	if a.status != http.StatusNoContent && method != http.MethodHead {
		mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		check(a.t, mediaType == "application/json" && len(a.raw) > 0, "%s: content type %q, %d bytes", a.what,
			mediaType, len(a.raw))
	}
	if a.status == http.StatusNoContent {
		check(a.t, len(a.raw) == 0, "%s: a 204 with a body", a.what)
	}
	path, _, _ = strings.Cut(path, "?")
	cached := method == http.MethodGet && (path == "/gpus" || path == "/offers" || path == "/templates")
	if !cached && path != "/openapi.json" {
		equal(a.t, a.what+": Cache-Control", a.header.Get("Cache-Control"), "no-store")
		return
	}
	if a.status == http.StatusOK {
		check(a.t, strings.Contains(a.header.Get("Cache-Control"), "max-age=60") || path == "/openapi.json",
			"%s: Cache-Control %q", a.what, a.header.Get("Cache-Control"))
	}
}
