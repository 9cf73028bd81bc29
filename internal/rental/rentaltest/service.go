package rentaltest

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Service is a Transport for an account with one instance.
type Service struct {
	Transport
	mu   sync.Mutex
	Inst rental.Instance // as it is
	// Key is the idempotency key that Inst was rented under. Without one, the first request to rent is successful.
	Key string
	// On changes the instance because of a request, and returns the status of the response; 0 cuts the connection. The
	// names are "start", "stop", "PATCH", "DELETE", "GET", and "POST" for a new instance.
	On map[string]func(*Service) int
	// Lag is how long reads return the instance as it was before the last change of its status by a request.
	Lag time.Duration
	// OthersKopH is the burn rate of other instances, kopecks per hour.
	OthersKopH int64

	before rental.Instance
	stale  time.Time // the end of the lag
	next   []transition
}

// transition changes the instance at a time.
type transition struct {
	at time.Time
	do func(*rental.Instance)
}

const (
	// ID is the id of the instance.
	ID = "ins_1"
	// OfferKopH is the price of all offers, and of a new instance, kopecks per hour.
	OfferKopH = 1000
)

// New returns a service with an instance.
func New(kind rental.RentalType, status rental.InstanceStatus, desired rental.DesiredState) *Service {
	s := NewAccount()
	s.Key, s.Inst = "key of another run", rental.Instance{
		ID: ID, Type: kind, Status: status, DesiredState: desired, Template: rental.TemplateRef{Slug: "pytorch"},
		Price: rental.InstancePrice{RunningKopH: 1010, StoppedKopH: 10},
	}
	return s
}

// NewAccount returns a service without an instance.
func NewAccount() *Service {
	s := &Service{On: map[string]func(*Service) int{"start": Starts, "stop": Stops}}
	for pattern, respond := range map[string]func(*http.Request) Response{
		"GET /instances": s.read, "GET /instances/*": s.read, "GET /balance": s.balance,
		"PATCH /instances/*": s.change, "DELETE /instances/*": s.change, "POST /instances/*/*": s.change,
	} {
		s.Script(pattern, s.locked(respond))
	}
	s.Script("POST /instances", s.Rent)
	s.On["DELETE"] = Then(Is("destroying", "destroyed"), 0, Is("destroyed", "destroyed"))
	s.Script("GET /me", Respond(http.StatusOK, map[string]any{"id": "usr_1", "name": "user"}))
	s.Script("GET /offers/*", func(req *http.Request) (*http.Response, error) {
		return JSONResponse(req, http.StatusOK, Offer(path.Base(req.URL.Path), OfferKopH))
	})
	return s
}

// Offer returns an available offer.
func Offer(id string, kopH int64) map[string]any {
	return map[string]any{
		"id": id, "available": true, "gpu": map[string]any{"slug": "a", "name": "A", "count": 1, "vram_gb": 8},
		"price": map[string]any{
			"on_demand_kop_h": kopH, "interruptible_kop_h": kopH, "storage_kop_gb_month": 0, "traffic_kop_gb": 0,
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

// Then is a request that changes the instance at once, and again after some time.
func Then(now func(*rental.Instance), after time.Duration, later func(*rental.Instance)) func(*Service) int {
	return func(s *Service) int {
		now(&s.Inst)
		s.Later(after, later)
		return http.StatusOK
	}
}

// Starts accepts a start, and Stops a stop. Each takes ten seconds.
var (
	Starts = Then(Is("starting", "running"), 10*time.Second, Is("running", "running"))
	Stops  = Then(Is("stopping", "stopped"), 10*time.Second, Is("stopped", "stopped"))
)

// OutbidAfter accepts a start, after which the instance is outbid.
func OutbidAfter(running, outbid time.Duration) func(*Service) int {
	return func(s *Service) int {
		Then(Is("starting", "running"), running, Is("running", "running"))(s)
		s.Later(outbid, Is("outbid", "running"))
		return http.StatusOK
	}
}

// Replies returns a status and does nothing.
func Replies(status int) func(*Service) int { return func(*Service) int { return status } }

func (s *Service) advance() {
	for len(s.next) > 0 && !time.Now().Before(s.next[0].at) {
		next := s.next[0]
		s.next = s.next[1:]
		next.do(&s.Inst)
	}
}

// locked makes a response while nothing else changes the instance.
func (s *Service) locked(respond func(*http.Request) Response) Response {
	return func(req *http.Request) (*http.Response, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.advance()
		return respond(req)(req)
	}
}

// Rent is the response to a request that rents the instance. It replays an instance that was rented under the key.
func (s *Service) Rent(req *http.Request) (*http.Response, error) { return s.locked(s.rent)(req) }

func (s *Service) rent(req *http.Request) Response {
	var order rental.InstanceCreate
	if err := json.NewDecoder(req.Body).Decode(&order); err != nil {
		return Fail(http.StatusUnprocessableEntity)
	}
	key := req.Header.Get("Idempotency-Key")
	switch {
	case key == s.Key:
		return Replay(s.Inst)
	case s.Key != "" || order.OfferID == "none":
		return Fail(http.StatusNotFound)
	}
	s.Key, s.Inst = key, rental.Instance{
		ID: ID, Status: rental.StatusCreating, Type: order.Type, DiskGB: order.DiskGB, CreatedAt: time.Now(),
		Template: rental.TemplateRef{Slug: order.Template}, Price: rental.InstancePrice{RunningKopH: OfferKopH},
	}
	s.Later(10*time.Second, Is(rental.StatusRunning, rental.DesiredRunning))
	if on := s.On["POST"]; on != nil {
		return respond(on(s), s.Inst)
	}
	return Respond(http.StatusCreated, s.Inst)
}

// Replay returns an instance that was rented before under the key of the request.
func Replay(inst any) Response {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := JSONResponse(req, http.StatusOK, inst)
		resp.Header.Set("Idempotent-Replayed", "true")
		return resp, err
	}
}

func (s *Service) change(req *http.Request) Response {
	before := s.Inst
	status := s.On[changeName(req.Method+" "+req.URL.Path)](s)
	if s.Inst.Status != before.Status {
		s.before, s.stale = before, time.Now().Add(s.Lag)
	}
	return respond(status, s.view())
}

func respond(status int, body any) Response {
	switch {
	case status == 0:
		return Cut
	case status >= http.StatusBadRequest:
		return Fail(status)
	}
	return Respond(status, body)
}

func (s *Service) read(req *http.Request) Response {
	status, list := http.StatusOK, path.Base(req.URL.Path) == "instances"
	if on := s.On["GET"]; on != nil {
		status = on(s)
	}
	switch {
	case list && s.Key == "":
		return respond(status, Page())
	case list:
		return respond(status, Page(s.view()))
	case s.Key == "":
		return Fail(http.StatusNotFound)
	}
	return respond(status, s.view())
}

func (s *Service) balance(*http.Request) Response {
	burn := s.OthersKopH + s.view().BurnKopH()
	return Respond(http.StatusOK, map[string]any{
		"balance_kop": 1e9, "available_kop": 1e9, "burn_kop_h": burn, "currency": "RUB",
	})
}

// view is the instance as reads return it.
func (s *Service) view() rental.Instance {
	if time.Now().Before(s.stale) {
		return s.before
	}
	return s.Inst
}

// Changes returns the requests that change the instance, in order, such as "stop DELETE".
func (s *Service) Changes() string {
	var names []string
	for _, request := range s.Sent("") {
		if !strings.HasPrefix(request, "GET ") && request != "POST /instances" {
			names = append(names, changeName(request))
		}
	}
	return strings.Join(names, " ")
}

// changeName is the method of a request for the instance, or the last part of a longer path.
func changeName(request string) string {
	method, urlPath, _ := strings.Cut(request, " ")
	if name := path.Base(urlPath); name != ID {
		return name
	}
	return method
}

// Run runs a test in a synctest bubble with a service and its client.
func Run(t *testing.T, service *Service, test func(*testing.T, *Service, *rental.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, service, Client(t, service))
		time.Sleep(2 * time.Hour) //nolint:forbidigo // fake time, until no goroutine is left
	})
}
