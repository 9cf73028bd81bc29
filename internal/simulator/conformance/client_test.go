package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// object is a JSON object.
type object = map[string]any

// service is a running Rental Service with an API key, "" for none, and headers for all requests.
type service struct {
	t                        *testing.T
	baseURL, controlURL, key string
	header                   http.Header
	// offers are the offers of the instances that rent created. The API does not return them.
	offers map[string]string
}

// start starts a service without rate limits whose account has enough money and a high limit of instances.
func start(t *testing.T) *service {
	t.Helper()
	s := startWithLimits(t, contracttest.New(t, contracttest.AllowInvalidRequests()).Wrap)
	s.setRateLimit(0)
	s.setAccount(object{"balance_kop": 1_000_000_000, "max_instances": 1000})
	return s
}

// startWithLimits starts a service with its default settings.
func startWithLimits(t *testing.T, wrap func(http.Handler) http.Handler) *service {
	t.Helper()
	t.Parallel()
	server, err := simulator.Start(t.Context(), simulator.Config{
		Seed: 20260, Clock: simulator.ClockManual, Market: simulator.MarketStill, Wrap: wrap,
		Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &service{t, server.BaseURL, server.ControlURL, server.APIKey, http.Header{}, map[string]string{}}
}

// as returns the same service with another API key, "" for none.
func (s *service) as(key string) *service {
	other := *s
	other.key, other.header = key, s.header.Clone()
	return &other
}

// with returns the same service with a header in all requests.
func (s *service) with(name, value string) *service {
	other := s.as(s.key)
	other.header.Set(name, value)
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

// send sends a request to a URL. A redirect is a response, because the API has none.
func (s *service) send(method, url string, body io.Reader) response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, s.header)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, url, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, url, err)
	}
	return response{s.t, method + " " + strings.TrimPrefix(url, s.baseURL), res.StatusCode, res.Header, raw}
}

// call sends a JSON body, nil for none.
func (s *service) call(method, path string, body any) response {
	s.t.Helper()
	return s.send(method, s.baseURL+path, jsonBody(s.t, body))
}

func jsonBody(t *testing.T, body any) io.Reader {
	t.Helper()
	if body == nil {
		return nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(raw)
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
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %.300s", a.request, a.status, status, a.raw)
	}
	return a
}

// object returns the body, which must be a JSON object.
func (a response) object() object {
	a.t.Helper()
	var o object
	if err := json.Unmarshal(a.raw, &o); err != nil || o == nil {
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

// failsWith checks the status and the code of an error. It returns the details, nil if there are none.
func (a response) failsWith(code string) object {
	a.t.Helper()
	return a.failsWithStatus(apidoc.Errors[code], code)
}

// failsWithStatus is like failsWith for a status that is not in the table of errors.
func (a response) failsWithStatus(status int, code string) object {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("%s: status %d, want %d %s: %.300s", a.request, a.status, status, code, a.raw)
		return nil
	}
	equal(a.t, a.request+": code", text(a.object(), "error.code"), code)
	details, _ := at(a.object(), "error.details").(object)
	return details
}

// invalid checks a 422 response whose issues name the field; "" means any field.
func (a response) invalid(field string) {
	a.t.Helper()
	issues, _ := a.failsWith("validation_error")["issues"].([]any)
	named := func(issue any) bool {
		name := text(issue.(object), "field")
		return field == "" || strings.EqualFold(name, field) || strings.HasPrefix(name, field+".") ||
			strings.HasPrefix(name, field+"[")
	}
	check(a.t, slices.ContainsFunc(issues, named), "%s: no issue of %q: %.300s", a.request, field, a.raw)
}

// check reports an error if ok is false.
func check(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// equal checks that two values are equal.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// absent is the value of a field that is left out.
type absent struct{}

// checkField sends the body once with each value of the field. Valid values must be accepted; each invalid one must be
// refused with an issue that names the field.
func checkField(body object, field string, valid, invalid []any, send func(body object) response) {
	try := func(value any) response {
		changed := maps.Clone(body)
		changed[field] = value
		if _, leave := value.(absent); leave {
			delete(changed, field)
		}
		a := send(changed)
		a.request += " with " + field + " = " + short(value)
		return a
	}
	for _, value := range valid {
		a := try(value)
		check(a.t, a.status/100 == 2, "%s: refused with %d: %.300s", a.request, a.status, a.raw)
	}
	for _, value := range invalid {
		try(value).invalid(field)
	}
}

// checkBounds sends the body with each field of a table left out, with all values of apidoc.Bounds, and with values of
// other types.
func checkBounds(table string, body object, send func(body object) response) {
	for _, f := range apidoc.Fields(table) {
		invalid := apidoc.InvalidTypes(f)
		if f.Required {
			checkField(body, f.Name, nil, append(invalid, absent{}), send)
		} else {
			checkField(body, f.Name, []any{absent{}}, invalid, send)
		}
	}
	for _, b := range apidoc.Bounds {
		if b.Table == table {
			checkField(body, b.Field, b.Valid, b.Invalid, send)
		}
	}
}
