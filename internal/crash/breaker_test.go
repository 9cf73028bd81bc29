//go:build linux

package crash

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// breaker triggers a failure at one request of an apply.
type breaker struct {
	failure failure
	// number is the request that triggers the failure, or first is the begin of the first one, as "POST /instances".
	number int
	first  string

	mu        sync.Mutex
	active    bool
	requests  []string // while active
	at        int      // the number of the request that triggered the failure; 0 for none
	killed    int      // provider processes
	err       error
	secrets   acctest.Secrets // all that were sent or issued
	started   chan struct{}   // closed when run is set
	run       *acctest.Run
	workspace *acctest.Workspace
}

// setActive makes the breaker count requests, or pass all of them.
func (b *breaker) setActive(active bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = active
}

// triggered reports whether the failure happened.
func (b *breaker) triggered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at > 0
}

// sawAfter reports whether a request with the same path followed the one that triggered the failure.
func (b *breaker) sawAfter(r *http.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.requests[b.at:], func(request string) bool {
		return strings.HasSuffix(request, " "+pathOf(r))
	})
}

// triggers records a request and reports whether it triggers the failure.
func (b *breaker) triggers(r *http.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets.Add(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if !b.active {
		return false
	}
	request := r.Method + " " + pathOf(r)
	b.requests = append(b.requests, request)
	isFirst := b.first != "" && strings.HasPrefix(request, b.first)
	if b.at > 0 || len(b.requests) != b.number && !isFirst {
		return false
	}
	b.at = len(b.requests)
	return true
}

func pathOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/api/v1") }

// intercept is an simtest.Interceptor. The service processes a request even if the client is gone.
func (b *breaker) intercept(w http.ResponseWriter, r *http.Request, api http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	kept := r.WithContext(context.WithoutCancel(r.Context()))
	kept.Body = io.NopCloser(bytes.NewReader(body))
	if !b.triggers(r) {
		simtest.Send(w, simtest.Record(w, kept, api))
		return
	}
	var response *httptest.ResponseRecorder
	if b.failure.after {
		response = simtest.Record(w, kept, api)
	}
	if b.failure.act != nil {
		<-b.started
		err := b.failure.act(b, r)
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	switch {
	case b.failure.respond != nil:
		b.failure.respond(w, kept, api)
	case response == nil:
		response = simtest.Record(w, kept, api)
		fallthrough
	default:
		simtest.Send(w, response)
	}
}
