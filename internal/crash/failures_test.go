//go:build linux

package crash

import (
	"net/http"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// failure is an event at a request.
type failure struct {
	name string
	act  func(*exchange)
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

// interruptions end the apply, before or after the service has processed the request. A provider whose CLI was killed
// runs on for a while, but no CLI saves its results.
var interruptions = slices.Concat(
	killed("provider-killed", (*acctest.Run).KillProvider),
	killed("all-killed", (*acctest.Run).KillAll),
	[]failure{
		{name: "cli-killed/before", orphans: true, kills: true, act: func(x *exchange) {
			x.withRun((*acctest.Run).KillCLI)
			x.respond(x.process())
		}},
		{name: "cli-killed/after", orphans: true, kills: true, act: func(x *exchange) {
			response := x.process()
			x.withRun((*acctest.Run).KillCLI)
			x.respond(response)
		}},
		{name: "interrupted/before", act: func(x *exchange) {
			x.stop((*acctest.Run).Interrupt)
			x.respond(x.process())
		}},
		stopped("interrupted/after", (*acctest.Run).Interrupt),
		stopped("terminated/after", (*acctest.Run).Terminate),
	},
)

// killed returns the failures in which the provider is killed and gets no response.
func killed(name string, processes func(*acctest.Run) (int, error)) []failure {
	before := failure{name: name + "/before", orphans: true, kills: true, maxOpenKeys: 1, act: func(x *exchange) {
		x.withRun(processes)
		x.cut()
	}}
	after := before
	after.name, after.act = name+"/after", func(x *exchange) {
		x.process()
		before.act(x)
	}
	return []failure{before, after}
}

// stopped returns a failure in which the CLI gets a signal.
func stopped(name string, signal func(*acctest.Run) error) failure {
	return failure{name: name, act: func(x *exchange) {
		response := x.process()
		x.stop(signal)
		x.respond(response)
	}}
}

// faults are errors of the service and the network; the apply continues.
var faults = slices.Concat(
	fault("500", func(x *exchange) { x.fail(http.StatusInternalServerError, "internal") }),
	fault("503", func(x *exchange) { x.fail(http.StatusServiceUnavailable, "provider_unavailable") }),
	fault("dropped", (*exchange).cut),
	fault("502", func(x *exchange) {
		x.write(http.StatusBadGateway, "text/html", "<html><body>502 Bad Gateway</body></html>")
	}),
	[]failure{
		{name: "429/before", anyCLI: true, act: func(x *exchange) {
			x.w.Header().Set("Retry-After", "1")
			x.fail(http.StatusTooManyRequests, "rate_limited")
		}},
		// The API processes the request when the client has given up and has already sent the next one.
		{name: "late/before", anyCLI: true, orphans: true, maxOpenKeys: 1, act: func(x *exchange) {
			<-x.gone
			x.waitForNextRequest()
			x.process()
			x.cut()
		}},
	},
)

// fault returns a response in place of the service's, before and after the service has processed the request.
func fault(name string, respond func(*exchange)) []failure {
	return []failure{
		{name: name + "/before", anyCLI: true, act: respond},
		{name: name + "/after", anyCLI: true, orphans: true, maxOpenKeys: 1, act: func(x *exchange) {
			x.process()
			respond(x)
		}},
	}
}
