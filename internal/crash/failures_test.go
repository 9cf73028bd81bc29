//go:build linux

package crash

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// failure is an event at a request, before or after the service has processed the request.
type failure struct {
	name string
	// act happens at the request; nil for nothing.
	act   func(*breaker, *http.Request) error
	after bool
	// respond responds in place of the service; nil for the response of the service.
	respond simtest.Interceptor
	// orphans is set if the client cannot know whether the API has created something. A created API key, SSH key or
	// template, which have no idempotency key, can then be left over.
	orphans bool
	// kills is set if processes are killed.
	kills bool
	// maxOpenKeys is how many ephemeral API keys may be left after the failure.
	maxOpenKeys int
	// anyCLI is set if the CLI makes no difference.
	anyCLI bool
}

// requestTimeout is the request timeout in the configurations.
const requestTimeout = 2 * time.Second

// interruptions end the apply. A provider whose CLI was killed runs on for a while, but no CLI saves its results.
var interruptions = slices.Concat(
	twice(failure{
		name: "provider-killed", act: kill((*acctest.Run).KillProvider), respond: cut, orphans: true, kills: true,
		maxOpenKeys: 1,
	}),
	twice(failure{
		name: "all-killed", act: kill((*acctest.Run).KillAll), respond: cut, orphans: true, kills: true, maxOpenKeys: 1,
	}),
	twice(failure{name: "cli-killed", act: kill((*acctest.Run).KillCLI), orphans: true, kills: true}),
	twice(failure{name: "interrupted", act: stop((*acctest.Run).Interrupt)}),
	[]failure{{name: "terminated/after", after: true, act: stop((*acctest.Run).Terminate)}},
)

// faults are errors of the service and the network; the apply continues.
var faults = slices.Concat(
	fault("500", simtest.Fail(http.StatusInternalServerError)),
	fault("503", simtest.Fail(http.StatusServiceUnavailable)),
	fault("502", simtest.Respond(http.StatusBadGateway, "<html><body>502 Bad Gateway</body></html>")),
	fault("dropped", cut),
	[]failure{
		{name: "429/before", anyCLI: true, respond: func(w http.ResponseWriter, r *http.Request, api http.Handler) {
			w.Header().Set("Retry-After", "1")
			simtest.Fail(http.StatusTooManyRequests)(w, r, api)
		}},
		// The API processes the request when the client has given up and has already sent the next one.
		{
			name: "late/before", anyCLI: true, orphans: true, maxOpenKeys: 1, act: waitForNextRequest,
			respond: simtest.LoseResponse,
		},
	},
)

// twice returns a failure before and after the service has processed the request.
func twice(f failure) []failure {
	before, after := f, f
	before.name, after.name, after.after = f.name+"/before", f.name+"/after", true
	return []failure{before, after}
}

// fault returns a response in place of that of the service.
func fault(name string, respond simtest.Interceptor) []failure {
	both := twice(failure{name: name, respond: respond, anyCLI: true})
	both[1].orphans, both[1].maxOpenKeys = true, 1
	return both
}

// cut closes the connection without a response.
func cut(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// kill kills processes with one of the methods of Run.
func kill(processes func(*acctest.Run) (int, error)) func(*breaker, *http.Request) error {
	return func(b *breaker, _ *http.Request) (err error) {
		b.killed, err = processes(b.run)
		return err
	}
}

// stop sends a signal with one of the methods of Run and waits until it takes effect.
func stop(signal func(*acctest.Run) error) func(*breaker, *http.Request) error {
	return func(b *breaker, _ *http.Request) error {
		if err := signal(b.run); err != nil {
			return err
		}
		return poll("the CLI to stop", func() bool { return !b.run.Running() || b.isStopping() })
	}
}

// isStopping reports whether the CLI has received a signal. During the apply it then calls StopProvider. During the
// plan of an apply it only ends after the plan.
func (b *breaker) isStopping() bool {
	output := b.run.Output()
	isPlanned := strings.Contains(output, "\nPlan: ")
	isStopped := strings.Contains(b.workspace.Read("trace.log"), "tf_rpc=StopProvider")
	return strings.Contains(output, "Interrupt received") && (isStopped || !isPlanned)
}

// waitForNextRequest waits until the client has given up and sends another request to the same path, or the command
// ends.
func waitForNextRequest(b *breaker, r *http.Request) error {
	<-r.Context().Done()
	return poll("the next request", func() bool { return !b.run.Running() || b.sawAfter(r) })
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
