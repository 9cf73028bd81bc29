package simulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

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
	t      testing.TB
	status int
	header http.Header
	raw    []byte
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
	return response{r.t, rec.Code, rec.Header(), rec.Body.Bytes()}
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
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.raw)
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

type apiError struct {
	Error struct {
		Code    string
		Message string
		Details struct {
			Issues []struct{ Field, Message string }
			Short  int64 `json:"short_kop"`
		}
	}
}

// refused fails the test unless the response is the error.
func (a response) refused(status int, code string) apiError {
	a.t.Helper()
	var p apiError
	a.want(status).into(&p)
	if p.Error.Code != code || p.Error.Message == "" {
		a.t.Fatalf("code %q message %q, want code %q", p.Error.Code, p.Error.Message, code)
	}
	return p
}

// invalid fails the test unless the response is a validation error for the field.
func (a response) invalid(field string) {
	a.t.Helper()
	for _, issue := range a.refused(422, "validation_error").Error.Details.Issues {
		if issue.Field == field && issue.Message != "" {
			return
		}
	}
	a.t.Fatalf("no issue about %q: %s", field, a.raw)
}

type page[T any] struct {
	Data       []T
	NextCursor *string `json:"next_cursor"`
}

// list reads a whole list in pages.
func list[T any](r *rig, path string, limit int) []T {
	r.t.Helper()
	var items []T
	cursor := ""
	for {
		var p page[T]
		sep := map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]
		r.do("GET", fmt.Sprintf("%s%slimit=%d%s", path, sep, limit, cursor), nil).want(200).into(&p)
		items = append(items, p.Data...)
		if p.NextCursor == nil {
			return items
		}
		if len(p.Data) != limit {
			r.t.Fatalf("a page of %d items with a next one, want %d", len(p.Data), limit)
		}
		cursor = "&cursor=" + *p.NextCursor
	}
}

type offer struct {
	ID        string
	Available bool
	Verified  bool
	Country   *string
	GPU       gpu
	Disk      struct {
		MaxGB *int64 `json:"max_gb"`
	}
	Price struct {
		OnDemand      int64  `json:"on_demand_kop_h"`
		Interruptible *int64 `json:"interruptible_kop_h"`
		Storage       int64  `json:"storage_kop_gb_month"`
		Traffic       int64  `json:"traffic_kop_gb"`
	}
}

type gpu struct {
	Slug   string
	Count  int64
	VRAMGB int64 `json:"vram_gb"`
}

type instance struct {
	ID           string
	Name         *string
	Status       string
	DesiredState string `json:"desired_state"`
	Image        string
	Price        struct {
		Running int64 `json:"running_kop_h"`
		Stopped int64 `json:"stopped_kop_h"`
	}
	Cost int64 `json:"cost_so_far_kop"`
	SSH  *struct {
		Host string
		Port int
	}
	URLs       []struct{ URL *string }
	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  *time.Time `json:"started_at"`
	StopReason *string    `json:"stop_reason"`
}

type balance struct {
	Balance   int64    `json:"balance_kop"`
	Available int64    `json:"available_kop"`
	Burn      int64    `json:"burn_kop_h"`
	Runway    *float64 `json:"runway_hours"`
}

type transaction struct {
	ID         string
	At         time.Time
	Type       string
	Amount     int64   `json:"amount_kop"`
	InstanceID *string `json:"instance_id"`
}

type m = map[string]any

// cheapest returns the offers of the popular model with one GPU, the cheapest first.
func (r *rig) cheapest() []offer {
	r.t.Helper()
	return list[offer](r, "/offers?gpu=rtx_4090&num_gpus=1", 50)
}

// rent creates an instance. Changes override members of the body.
func (r *rig) rent(key string, changes m) response {
	r.t.Helper()
	body := m{"template": "pytorch", "disk_gb": 50}
	for name, value := range changes {
		body[name] = value
	}
	if _, ok := body["offer_id"]; !ok {
		body["offer_id"] = r.cheapest()[0].ID
	}
	return r.with("Idempotency-Key", key).do("POST", "/instances", body)
}

func (r *rig) instance(id string) instance {
	r.t.Helper()
	var i instance
	r.do("GET", "/instances/"+id, nil).want(200).into(&i)
	return i
}

// running creates an instance and waits until its ports are assigned.
func (r *rig) running(key string, changes m) instance {
	r.t.Helper()
	var i instance
	r.rent(key, changes).want(201).into(&i)
	r.Advance(bootComplete)
	return r.instance(i.ID)
}

func (r *rig) balance() balance {
	r.t.Helper()
	var b balance
	r.do("GET", "/balance", nil).want(200).into(&b)
	return b
}
