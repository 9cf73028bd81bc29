//go:build linux

package crash

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// interceptor is middleware in front of the service. It counts the requests of one apply and triggers its failure at
// one of them.
type interceptor struct {
	failure failure
	number  int // of the request that triggers the failure; 0 never does

	mu        sync.Mutex
	active    bool
	requests  []string // while active, as "GET /instances"
	triggered bool
	killed    int // provider processes
	err       error
	secrets   acctest.Secrets // all that were sent or issued

	started   chan struct{} // closed when run is set
	run       *acctest.Run
	workspace *acctest.Workspace
}

func newInterceptor(f failure, number int) *interceptor {
	return &interceptor{failure: f, number: number, started: make(chan struct{})}
}

// setActive makes the interceptor count requests, or pass all of them.
func (i *interceptor) setActive(active bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.active = active
}

// setRun sets the command whose processes the failure kills.
func (i *interceptor) setRun(run *acctest.Run) {
	i.run = run
	close(i.started)
}

// target returns the request that triggers the failure.
func (i *interceptor) target() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.number < 1 || i.number > len(i.requests) {
		return "not reached"
	}
	return i.requests[i.number-1]
}

// sawAfter reports whether a request with the path followed request number n.
func (i *interceptor) sawAfter(n int, path string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.requests[n:], func(request string) bool { return strings.HasSuffix(request, " "+path) })
}

// count records a request and reports whether it triggers the failure.
func (i *interceptor) count(r *http.Request) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.secrets.Add(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if !i.active {
		return false
	}
	i.requests = append(i.requests, r.Method+" "+pathOf(r))
	i.triggered = i.triggered || len(i.requests) == i.number
	return len(i.requests) == i.number
}

func pathOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/api/v1") }

// intercept is an acctest.Interceptor.
func (i *interceptor) intercept(w http.ResponseWriter, r *http.Request, api http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	// The service processes a request even if the client is gone.
	x := &exchange{
		interceptor: i, api: api, w: w, gone: r.Context().Done(), r: r.WithContext(context.WithoutCancel(r.Context())),
	}
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	if i.count(r) {
		i.failure.act(x)
		return
	}
	x.respond(x.process())
}

// exchange is one request and its response.
type exchange struct {
	*interceptor
	api  http.Handler
	w    http.ResponseWriter
	r    *http.Request
	gone <-chan struct{} // closed when the client has given up
}

// process lets the service process the request and returns the response.
func (x *exchange) process() *httptest.ResponseRecorder {
	response := acctest.Record(x.w, x.r, x.api)
	x.secrets.Record(response.Body.Bytes())
	return response
}

// respond sends a response.
func (x *exchange) respond(response *httptest.ResponseRecorder) { acctest.Send(x.w, response) }

// write responds in place of the service.
func (x *exchange) write(status int, contentType, body string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	if _, err := io.WriteString(x.w, body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// fail responds with an API error in place of the service.
func (x *exchange) fail(status int, code string) {
	x.write(status, "application/json", `{"error":{"code":"`+code+`","message":"Something went wrong"}}`)
}

// cut closes the connection without a response.
func (x *exchange) cut() { panic(http.ErrAbortHandler) }

// withRun kills processes with one of the methods of Run, or does something else with it.
func (x *exchange) withRun(processes func(*acctest.Run) (int, error)) {
	<-x.started
	n, err := processes(x.run)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.killed, x.err = n, err
}

// stop sends a signal with one of the methods of Run and waits until it takes effect.
func (x *exchange) stop(signal func(*acctest.Run) error) {
	x.withRun(func(run *acctest.Run) (int, error) {
		if err := signal(run); err != nil {
			return 0, err
		}
		return 0, poll("the CLI to stop", func() bool { return !run.Running() || x.isStopping(run) })
	})
}

// isStopping reports whether the CLI has received a signal. During the apply it then calls StopProvider. During the
// plan of an apply it only ends after the plan.
func (x *exchange) isStopping(run *acctest.Run) bool {
	output := run.Output()
	isPlanned := strings.Contains(output, "\nPlan: ")
	isStopped := strings.Contains(x.workspace.Read("trace.log"), "tf_rpc=StopProvider")
	return strings.Contains(output, "Interrupt received") && (isStopped || !isPlanned)
}

// waitForNextRequest waits until the client sends another request to the same path, or the command ends.
func (x *exchange) waitForNextRequest() {
	x.withRun(func(run *acctest.Run) (int, error) {
		return 0, poll("the next request", func() bool { return !run.Running() || x.sawAfter(x.number, pathOf(x.r)) })
	})
}

// poll waits for a condition.
func poll(what string, condition func() bool) error {
	const interval = 20 * time.Millisecond
	for deadline := time.Now().Add(commandTimeout); !condition(); time.Sleep(interval) {
		if time.Now().After(deadline) {
			return errors.New("timeout while waiting for " + what)
		}
	}
	return nil
}
