package simulator_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey      = "gpr_0123456789abcdefghijABCDEFGHIJ0123456789"
	boot         = 10 * time.Second
	bootComplete = 2 * boot // after this time the ports are assigned
	ed25519A     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIu1JjoJZcOJv0BAkiBPLXJzCZs0T3cKXxzIqtNQG0Xr laptop"
)

// rig is a simulator with a manual clock and a client. The contract check is on.
type rig struct {
	*simulator.Simulator
	t      testing.TB
	key    string
	header http.Header
	// outer is what requests are sent to, if it is not the handler of the simulator.
	outer http.Handler
}

func newRig(t testing.TB, change ...func(*simulator.Config)) *rig {
	t.Helper()
	checker := contracttest.New(t, contracttest.AllowInvalidRequests())
	config := simulator.Config{Seed: 7, Clock: simulator.ClockManual, Boot: boot, APIKey: testKey,
		Market: simulator.MarketStill, Wrap: checker.Wrap}
	for _, f := range change {
		f(&config)
	}
	return uncheckedRig(t, config)
}

// uncheckedRig returns a rig without the contract check, which takes most of the time.
func uncheckedRig(t testing.TB, config simulator.Config) *rig {
	t.Helper()
	sim, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	sim.SetRateLimit(0, 0)
	return &rig{Simulator: sim, t: t, key: testKey, header: http.Header{}}
}

// as returns the same rig with another API key, "" for none.
func (r *rig) as(key string) *rig {
	other := *r
	other.key, other.header = key, r.header.Clone()
	return &other
}

func (r *rig) with(name, value string) *rig {
	other := r.as(r.key)
	other.header.Set(name, value)
	return other
}

// response is a response of the simulator, with methods that check and decode it.
type response struct {
	t       testing.TB
	request string
	status  int
	header  http.Header
	raw     []byte
}

// raw sends a request to any path of the simulator.
func (r *rig) raw(method, target string, body io.Reader) response {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), method, "http://127.0.0.1"+target, body)
	req.RemoteAddr = "127.0.0.1:40000"
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	rec := httptest.NewRecorder()
	if r.outer != nil {
		r.outer.ServeHTTP(rec, req)
	} else {
		r.Handler().ServeHTTP(rec, req)
	}
	return response{r.t, method + " " + strings.TrimPrefix(target, "/api/v1"), rec.Code, rec.Header(), rec.Body.Bytes()}
}

// do calls the API. The body is sent as JSON, nil for none.
func (r *rig) do(method, path string, body any) response {
	r.t.Helper()
	return r.raw(method, "/api/v1"+path, jsonBody(r.t, body))
}

func (r *rig) control(method, path string, body any) response {
	r.t.Helper()
	return r.raw(method, "/control"+path, jsonBody(r.t, body))
}

func (r *rig) get(path string) response { r.t.Helper(); return r.do(http.MethodGet, path, nil) }

func (r *rig) post(path string, body any) response {
	r.t.Helper()
	return r.do(http.MethodPost, path, body)
}

func (r *rig) patch(path string, body any) response {
	r.t.Helper()
	return r.do(http.MethodPatch, path, body)
}

func (r *rig) delete(path string) response {
	r.t.Helper()
	return r.do(http.MethodDelete, path, nil)
}

func jsonBody(t testing.TB, body any) io.Reader {
	t.Helper()
	if body == nil {
		return nil
	}
	if s, ok := body.(string); ok {
		return strings.NewReader(s)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(raw)
}

// want fails the test unless the response has the status.
func (a response) want(status int) response {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %.300s", a.request, a.status, status, a.raw)
	}
	return a
}

func (a response) into(target any) response {
	a.t.Helper()
	if err := json.Unmarshal(a.raw, target); err != nil {
		a.t.Fatalf("%v: %s", err, a.raw)
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
	failure := a.want(status).object()
	if failure.text("error.code") != code || failure.text("error.message") == "" {
		a.t.Fatalf("%s: want the code %s: %.300s", a.request, code, a.raw)
	}
	return failure.object("error.details")
}

// invalid checks a 422 response whose issues name the field; "" means any field.
func (a response) invalid(field string) {
	a.t.Helper()
	issues := a.failsWith("validation_error").objects("issues")
	check(a.t, slices.ContainsFunc(issues, func(issue object) bool {
		name := issue.text("field")
		return field == "" || strings.EqualFold(name, field) || strings.HasPrefix(name, field+".") ||
			strings.HasPrefix(name, field+"[")
	}), "%s: no issue of %q: %.300s", a.request, field, a.raw)
}

// join adds a query to a path that may already have one.
func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// after is the query of the page after a cursor.
func after(cursor string) string { return "cursor=" + url.QueryEscape(cursor) }

// balance reads the balance.
func (r *rig) balance() object { r.t.Helper(); return r.get("/balance").ok() }
