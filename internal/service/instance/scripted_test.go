package instance

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
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// scripted is a service with one server, whose answers and transitions a test scripts. It
// uses what the API document allows.
type scripted struct {
	mu     sync.Mutex
	inst   rental.Instance // as it is
	before rental.Instance // as it was before the last change by a request
	stale  time.Time       // until then reads return before
	lag    time.Duration   // of reads after an accepted request
	// current: the answer to a request does not lag.
	current bool
	offer   int64 // price of a new bid, kopecks per hour
	ahead   []transition
	// on answers a request such as "start" or "DELETE": with a status, and 0 for a cut connection.
	on map[string]func(*scripted) int
	// sent are the requests that change something, in order.
	sent []string
}

// transition happens to the server at a time.
type transition struct {
	at time.Time
	do func(*rental.Instance)
}

const scriptedID = "ins_1"

var testKey = "test" + strings.Repeat("0", 40)

func newScripted(kind rental.RentalType, status rental.InstanceStatus, desired rental.DesiredState) *scripted {
	return &scripted{
		on:    map[string]func(*scripted) int{},
		offer: 1000,
		inst: rental.Instance{
			ID: scriptedID, Type: kind, Status: status, DesiredState: desired, Template: rental.TemplateRef{Slug: "pytorch"},
			Price: rental.InstancePrice{RunningKopH: 1010, StoppedKopH: 10},
		},
	}
}

// then lets something happen to the server later.
func (s *scripted) then(after time.Duration, do func(*rental.Instance)) {
	s.ahead = append(s.ahead, transition{time.Now().Add(after), do})
}

// is is a transition to a status, with the intent that the service returns.
func is(status rental.InstanceStatus, desired rental.DesiredState) func(*rental.Instance) {
	return func(inst *rental.Instance) {
		inst.Status, inst.DesiredState, inst.SSH = status, desired, nil
		if status == rental.StatusRunning {
			inst.SSH = &rental.SSH{Host: "203.0.113.1", Port: 22, User: "root"}
		}
	}
}

// starts is a start that works: the server runs after ten seconds.
func starts(s *scripted) int {
	is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
	s.then(10*time.Second, is(rental.StatusRunning, rental.DesiredRunning))
	return http.StatusOK
}

// stops is a stop that works: the server is stopped after ten seconds.
func stops(s *scripted) int {
	is(rental.StatusStopping, rental.DesiredStopped)(&s.inst)
	s.then(10*time.Second, is(rental.StatusStopped, rental.DesiredStopped))
	return http.StatusOK
}

// outbidAfter is a start after which the server is outbid.
func outbidAfter(running, outbid time.Duration) func(*scripted) int {
	return func(s *scripted) int {
		is(rental.StatusStarting, rental.DesiredRunning)(&s.inst)
		s.then(running, is(rental.StatusRunning, rental.DesiredRunning))
		s.then(outbid, is(rental.StatusOutbid, rental.DesiredRunning))
		return http.StatusOK
	}
}

// replies is a request that does nothing and gets a status.
func replies(status int) func(*scripted) int { return func(*scripted) int { return status } }

// loses does the work the first time and loses the answers of that and of n repetitions.
func loses(work func(*scripted) int, status, n int) func(*scripted) int {
	calls := 0
	return func(s *scripted) int {
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

func (s *scripted) advance() {
	for len(s.ahead) > 0 && !time.Now().Before(s.ahead[0].at) {
		next := s.ahead[0]
		s.ahead = s.ahead[1:]
		next.do(&s.inst)
	}
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	status, answer := s.answer(req)
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return jsonResponse(req, status, answer)
}

// jsonResponse is a response with a JSON body.
func jsonResponse(req *http.Request, status int, answer any) (*http.Response, error) {
	body, err := json.Marshal(answer)
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

func (s *scripted) answer(req *http.Request) (status int, answer any) {
	last := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	name := last
	if last == scriptedID {
		name = req.Method
	}
	switch {
	case name == "logs":
		return http.StatusOK, map[string]any{"lines": []string{}}
	case strings.Contains(req.URL.Path, "/offers/"):
		gpu := map[string]any{"slug": "rtx_4090", "name": "RTX 4090", "count": 1, "vram_gb": 24}
		price := map[string]any{"on_demand_kop_h": 2 * s.offer, "interruptible_kop_h": s.offer, "storage_kop_gb_month": 0, "traffic_kop_gb": 0}
		return http.StatusOK, map[string]any{"id": last, "available": true, "gpu": gpu, "price": price}
	case last == "templates":
		return http.StatusOK, page(map[string]any{"slug": "pytorch", "launch_mode": "ssh"})
	case name == "balance":
		return http.StatusOK, map[string]any{"balance_kop": 1e9, "available_kop": 1e9, "currency": "RUB"}
	case name == "GET" || last == "instances":
		return s.read(last)
	}
	s.sent = append(s.sent, name)
	before := s.inst
	status = s.on[name](s)
	if s.inst.Status != before.Status {
		s.before, s.stale = before, time.Now().Add(s.lag)
	}
	if status != http.StatusOK {
		return status, failure(status)
	}
	if s.current {
		return status, s.inst
	}
	return status, s.view()
}

// page is a listing of one item.
func page(item any) any { return map[string]any{"data": []any{item}, "next_cursor": nil} }

// failure is the service's own error for a status.
func failure(status int) any {
	code := map[int]string{404: "not_found", 409: "conflict", 402: "insufficient_funds", 500: "internal", 503: "provider_unavailable"}[status]
	return map[string]any{"error": map[string]any{"code": code, "message": "no"}}
}

func (s *scripted) read(last string) (status int, answer any) {
	if on := s.on["GET"]; on != nil {
		if status := on(s); status != http.StatusOK {
			return status, failure(status)
		}
	}
	if last == "instances" {
		return http.StatusOK, page(s.view())
	}
	return http.StatusOK, s.view()
}

// view is the server as reads return it.
func (s *scripted) view() rental.Instance {
	if time.Now().Before(s.stale) {
		return s.before
	}
	return s.inst
}

// requests are the requests that changed something, in order.
func (s *scripted) requests() string { return strings.Join(s.sent, " ") }

// inScript runs a story in a bubble with a client of the scripted service.
func inScript(t *testing.T, s func() *scripted, story func(*testing.T, *scripted, *tfkit.Meta)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service := s()
		client, err := rental.New(rental.Config{
			BaseURL: "https://rent.example/api/v1", APIKey: testKey, Transport: service, MaxRetries: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		meta := &tfkit.Meta{Client: client, PollInterval: 5 * time.Second}
		story(t, service, meta)
		time.Sleep(2 * time.Hour) // until no poller is left
	})
}
