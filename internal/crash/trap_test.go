//go:build linux

package crash

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// trap stands before the service. It counts the requests of one apply and does
// what its kind says at one of them.
type trap struct {
	kind   kind
	number int // which request springs it; none when it is not armed

	mu      sync.Mutex
	armed   bool
	busy    int      // requests that are being served
	seen    []string // the requests while it was armed
	sprung  bool
	killed  int // provider processes
	err     error
	secrets map[string]bool // every one that was sent or issued

	ready chan struct{} // closed when run is known
	run   *acctest.Run
}

func newTrap(k kind, number int) *trap {
	return &trap{kind: k, number: number, secrets: map[string]bool{}, ready: make(chan struct{})}
}

// arm begins to count.
func (p *trap) arm() { p.set(true) }

// disarm lets everything pass from now on.
func (p *trap) disarm() { p.set(false) }

func (p *trap) set(armed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = armed
}

// aim says which processes to kill.
func (p *trap) aim(run *acctest.Run) {
	p.run = run
	close(p.ready)
}

// target is the request that springs the trap, as far as it came.
func (p *trap) target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number < 1 || p.number > len(p.seen) {
		return "not reached"
	}
	return p.seen[p.number-1]
}

// untilQuiet waits until nothing is being served and nothing new has come for so
// long. What the dead have sent last may come in after their death.
func (p *trap) untilQuiet(long time.Duration) {
	now := func() (busy, seen int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.busy, len(p.seen)
	}
	for before := -1; ; time.Sleep(long) {
		busy, seen := now()
		if busy == 0 && seen == before {
			return
		}
		before = seen
	}
}

// serving counts the requests that are being served.
func (p *trap) serving(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy += change
}

// springs notes a request, and tells whether it is the one.
func (p *trap) springs(r *http.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); key != "" {
		p.secrets[key] = true
	}
	if !p.armed {
		return false
	}
	p.seen = append(p.seen, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
	p.sprung = p.sprung || len(p.seen) == p.number
	return len(p.seen) == p.number
}

// wrap is for acctest.WithWrap.
func (p *trap) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.serving(1)
		defer p.serving(-1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		// The service does its work whatever becomes of the client.
		x := &exchange{trap: p, next: next, w: w, r: r.WithContext(context.WithoutCancel(r.Context())), gone: r.Context().Done()}
		x.r.Body = io.NopCloser(bytes.NewReader(body))
		if p.springs(r) {
			p.kind.act(x)
			return
		}
		x.answer(x.work())
	})
}

// exchange is one request on its way to the service.
type exchange struct {
	*trap
	next http.Handler
	w    http.ResponseWriter
	r    *http.Request
	gone <-chan struct{} // closed when the client has given up
}

var issued = regexp.MustCompile(`"secret":\s*"([^"]+)"`)

// work lets the service do the work and returns its answer.
func (x *exchange) work() *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	maps.Copy(rec.Header(), x.w.Header())
	x.next.ServeHTTP(rec, x.r)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, found := range issued.FindAllSubmatch(rec.Body.Bytes(), -1) {
		x.secrets[string(found[1])] = true
	}
	return rec
}

// answer sends what the service said. A client that is gone does not matter.
func (x *exchange) answer(rec *httptest.ResponseRecorder) {
	maps.Copy(x.w.Header(), rec.Header())
	x.w.WriteHeader(rec.Code)
	if rec.Body.Len() == 0 {
		return // a 204 does not allow even an empty write
	}
	if _, err := x.w.Write(rec.Body.Bytes()); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// say answers in place of the service.
func (x *exchange) say(status int, contentType, body string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	if _, err := io.WriteString(x.w, body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// fail answers an error of the API in place of the service.
func (x *exchange) fail(status int, code string) {
	x.say(status, "application/json", `{"error":{"code":"`+code+`","message":"Something went wrong"}}`)
}

// cut ends the connection without an answer.
func (x *exchange) cut() { panic(http.ErrAbortHandler) }

// kill ends processes with one of the functions of a Run.
func (x *exchange) kill(these func(*acctest.Run) (int, error)) {
	<-x.ready
	n, err := these(x.run)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.killed, x.err = n, err
}

// signal asks processes to end with one of the functions of a Run.
func (x *exchange) signal(these func(*acctest.Run) error) {
	x.kill(func(run *acctest.Run) (int, error) {
		err := these(run)
		time.Sleep(arrival)
		return 0, err
	})
}
