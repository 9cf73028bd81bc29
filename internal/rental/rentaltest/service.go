// Package rentaltest has a fake of the API with one instance, for tests in synctest bubbles.
package rentaltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Service is an http.RoundTripper with one instance, whose responses and transitions a test sets. It does what the API
// document allows.
type Service struct {
	mu   sync.Mutex
	Inst rental.Instance // as it is
	// Lag is how long reads return the instance as it was before the last change by a request.
	Lag time.Duration
	// Stale is the end of that time.
	Stale time.Time
	// Current: the response to the request itself does not lag.
	Current bool
	// On handles a request such as "start", "logs", "DELETE" or "GET" with a status; 0 cuts the connection.
	On map[string]func(*Service) int
	// Ahead is how far the clock of the service is ahead of the local one.
	Ahead time.Duration
	// Log is the startup log, and LogReads the number of times that it was read.
	Log      []string
	LogReads int
	// Sent are the requests that change something, in order.
	Sent []string

	before rental.Instance
	next   []transition
}

// transition changes the instance at a time.
type transition struct {
	at time.Time
	do func(*rental.Instance)
}

// ID is the id of the instance.
const ID = "ins_1"

// PublicKey is a line of a public key file.
const PublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop"

// Key is an API key.
var Key = "test" + strings.Repeat("0", 40)

// bidKopH is the price of a new bid, kopecks per hour.
const bidKopH = 1000

// New returns a service with an instance.
func New(kind rental.RentalType, status rental.InstanceStatus, desired rental.DesiredState) *Service {
	return &Service{
		On: map[string]func(*Service) int{},
		Inst: rental.Instance{
			ID: ID, Type: kind, Status: status, DesiredState: desired, Template: rental.TemplateRef{Slug: "pytorch"},
			Price: rental.InstancePrice{RunningKopH: 1010, StoppedKopH: 10},
		},
	}
}

// Later changes the instance after some time.
func (s *Service) Later(after time.Duration, do func(*rental.Instance)) {
	s.next = append(s.next, transition{time.Now().Add(after), do})
}

// Is changes the status and the desired state; a running instance has an SSH address.
func Is(status rental.InstanceStatus, desired rental.DesiredState) func(*rental.Instance) {
	return func(inst *rental.Instance) {
		inst.Status, inst.DesiredState, inst.SSH = status, desired, nil
		if status == rental.StatusRunning {
			inst.SSH = &rental.SSH{Host: "203.0.113.1", Port: 22, User: "root"}
		}
	}
}

// Starts accepts a start: the instance runs after ten seconds.
func Starts(s *Service) int {
	Is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
	s.Later(10*time.Second, Is(rental.StatusRunning, rental.DesiredRunning))
	return http.StatusOK
}

// Stops accepts a stop: the instance is stopped after ten seconds.
func Stops(s *Service) int {
	Is(rental.StatusStopping, rental.DesiredStopped)(&s.Inst)
	s.Later(10*time.Second, Is(rental.StatusStopped, rental.DesiredStopped))
	return http.StatusOK
}

// OutbidAfter accepts a start, after which the instance is outbid.
func OutbidAfter(running, outbid time.Duration) func(*Service) int {
	return func(s *Service) int {
		Is(rental.StatusStarting, rental.DesiredRunning)(&s.Inst)
		s.Later(running, Is(rental.StatusRunning, rental.DesiredRunning))
		s.Later(outbid, Is(rental.StatusOutbid, rental.DesiredRunning))
		return http.StatusOK
	}
}

// Replies returns a status and does nothing.
func Replies(status int) func(*Service) int { return func(*Service) int { return status } }

// Loses carries out the first request, and loses its response and those of n repetitions.
func Loses(work func(*Service) int, status, n int) func(*Service) int {
	calls := 0
	return func(s *Service) int {
		if calls++; calls == 1 {
			work(s)
			return status
		}
		if calls <= n+1 {
			return status
		}
		return http.StatusConflict
	}
}

func (s *Service) advance() {
	for len(s.next) > 0 && !time.Now().Before(s.next[0].at) {
		next := s.next[0]
		s.next = s.next[1:]
		next.do(&s.Inst)
	}
}

// RoundTrip implements http.RoundTripper.
func (s *Service) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	status, response := s.response(req)
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	resp, err := JSONResponse(req, status, response)
	resp.Header.Set("Date", time.Now().Add(s.Ahead).UTC().Format(http.TimeFormat))
	return resp, err
}

// JSONResponse returns a response with a JSON body.
func JSONResponse(req *http.Request, status int, response any) (*http.Response, error) {
	body, err := json.Marshal(response)
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

func (s *Service) response(req *http.Request) (status int, response any) {
	last := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	name := last
	if last == ID {
		name = req.Method
	}
	switch {
	case name == "logs":
		s.LogReads++
		if on := s.On["logs"]; on != nil {
			status := on(s)
			return status, Failure(status)
		}
		return http.StatusOK, map[string]any{"lines": append([]string{}, s.Log...)}
	case strings.Contains(req.URL.Path, "/offers/"):
		gpu := map[string]any{"slug": "rtx_4090", "name": "RTX 4090", "count": 1, "vram_gb": 24}
		price := map[string]any{
			"on_demand_kop_h":      2 * bidKopH,
			"interruptible_kop_h":  bidKopH,
			"storage_kop_gb_month": 0,
			"traffic_kop_gb":       0,
		}
		return http.StatusOK, map[string]any{"id": last, "available": true, "gpu": gpu, "price": price}
	case last == "templates":
		return http.StatusOK, Page(map[string]any{"slug": "pytorch", "launch_mode": "ssh"})
	case name == "balance":
		return http.StatusOK, map[string]any{
			"balance_kop": 1e9, "available_kop": 1e9, "burn_kop_h": s.view().BurnKopH(), "currency": "RUB",
		}
	case name == "me":
		return http.StatusOK, map[string]any{"id": "usr_1", "name": "user"}
	case name == "GET" || last == "instances":
		return s.read(last)
	}
	s.Sent = append(s.Sent, name)
	before := s.Inst
	status = s.On[name](s)
	if s.Inst.Status != before.Status {
		s.before, s.Stale = before, time.Now().Add(s.Lag)
	}
	if status != http.StatusOK {
		return status, Failure(status)
	}
	if s.Current {
		return status, s.Inst
	}
	return status, s.view()
}

// Page returns a list of one item.
func Page(item any) any { return map[string]any{"data": []any{item}, "next_cursor": nil} }

// Failure returns the error of the API for a status.
func Failure(status int) any {
	code := map[int]string{
		401: "unauthorized", 402: "insufficient_funds", 403: "forbidden", 404: "not_found", 409: "conflict",
		422: "validation_error", 429: "rate_limited", 500: "internal", 503: "provider_unavailable",
	}[status]
	return map[string]any{"error": map[string]any{"code": code, "message": "no"}}
}

func (s *Service) read(last string) (status int, response any) {
	if on := s.On["GET"]; on != nil {
		if status := on(s); status != http.StatusOK {
			return status, Failure(status)
		}
	}
	if last == "instances" {
		return http.StatusOK, Page(s.view())
	}
	return http.StatusOK, s.view()
}

// view is the instance as reads return it.
func (s *Service) view() rental.Instance {
	if time.Now().Before(s.Stale) {
		return s.before
	}
	return s.Inst
}

// Requests returns Sent as one text.
func (s *Service) Requests() string { return strings.Join(s.Sent, " ") }

// Run runs a test in a synctest bubble with a client of the service that newService returns there.
func Run(t *testing.T, newService func() *Service, test func(*testing.T, *Service, *rental.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service := newService()
		test(t, service, Client(t, service))
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time, until no goroutine is left
	})
}

// Client returns a client of a service with two retries.
func Client(t *testing.T, transport http.RoundTripper) *rental.Client {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: Key, Transport: transport, MaxRetries: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
