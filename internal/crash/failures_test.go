//go:build linux

package crash

import (
	"net/http"
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
	// providerSurvives is set if the CLI is killed and the provider is not.
	providerSurvives bool
	// anyCLI is set if the CLI makes no difference.
	anyCLI bool
}

// maxOpenKeys returns how many ephemeral API keys may be left after the failure.
func (f failure) maxOpenKeys() int {
	if f.kills && !f.providerSurvives {
		return 1
	}
	return 0
}

// requestTimeout is the request timeout in the configurations.
const requestTimeout = 2 * time.Second

// interruptions end the apply.
var interruptions = []failure{
	{name: "provider-killed/before", orphans: true, kills: true, act: func(x *exchange) {
		x.kill((*acctest.Run).KillProvider)
		x.cut()
	}},
	{name: "provider-killed/after", orphans: true, kills: true, act: func(x *exchange) {
		x.process()
		x.kill((*acctest.Run).KillProvider)
		x.cut()
	}},
	{name: "all-killed/before", orphans: true, kills: true, act: func(x *exchange) {
		x.kill((*acctest.Run).KillAll)
		x.cut()
	}},
	{name: "all-killed/after", orphans: true, kills: true, act: func(x *exchange) {
		x.process()
		x.kill((*acctest.Run).KillAll)
		x.cut()
	}},
	// The provider runs on for a while, but no CLI saves its results.
	{name: "cli-killed/before", orphans: true, kills: true, providerSurvives: true, act: func(x *exchange) {
		x.kill((*acctest.Run).KillCLI)
		x.respond(x.process())
	}},
	{name: "cli-killed/after", orphans: true, kills: true, providerSurvives: true, act: func(x *exchange) {
		response := x.process()
		x.kill((*acctest.Run).KillCLI)
		x.respond(response)
	}},
	{name: "interrupted/before", act: func(x *exchange) {
		x.stop((*acctest.Run).Interrupt)
		x.respond(x.process())
	}},
	{name: "interrupted/after", act: func(x *exchange) {
		response := x.process()
		x.stop((*acctest.Run).Interrupt)
		x.respond(response)
	}},
	{name: "terminated/after", act: func(x *exchange) {
		response := x.process()
		x.stop((*acctest.Run).Terminate)
		x.respond(response)
	}},
}

// faults are errors of the service and the network; the apply continues.
var faults = []failure{
	{name: "500/before", anyCLI: true, act: func(x *exchange) {
		x.fail(http.StatusInternalServerError, "internal")
	}},
	{name: "500/after", anyCLI: true, act: func(x *exchange) {
		x.process()
		x.fail(http.StatusInternalServerError, "internal")
	}},
	{name: "503/before", anyCLI: true, act: func(x *exchange) {
		x.fail(http.StatusServiceUnavailable, "provider_unavailable")
	}},
	{name: "503/after", anyCLI: true, act: func(x *exchange) {
		x.process()
		x.fail(http.StatusServiceUnavailable, "provider_unavailable")
	}},
	{name: "429/before", anyCLI: true, act: func(x *exchange) {
		x.w.Header().Set("Retry-After", "1")
		x.fail(http.StatusTooManyRequests, "rate_limited")
	}},
	{name: "502/after", anyCLI: true, act: func(x *exchange) {
		x.process()
		x.write(http.StatusBadGateway, "text/html", "<html><body>502 Bad Gateway</body></html>")
	}},
	{name: "dropped/before", anyCLI: true, act: func(x *exchange) { x.cut() }},
	{name: "dropped/after", anyCLI: true, act: func(x *exchange) {
		x.process()
		x.cut()
	}},
	// The API processes the request when the client has given up and has already sent the next one.
	{name: "late/before", anyCLI: true, orphans: true, act: func(x *exchange) {
		<-x.gone
		x.waitForNextRequest()
		x.process()
		x.cut()
	}},
}
