//go:build linux

package crash

import (
	"net/http"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// kind is what happens at a request.
type kind struct {
	name string
	act  func(*exchange)
	// loses says that what was made may be known to nobody: whoever asked for it
	// died, or gave up. A key or a template, which have no idempotency key, can be
	// left over then.
	loses bool
	// kills says that processes die.
	kills bool
	// survives says that the provider outlives its CLI.
	survives bool
	// unheard says that a CLI has no part in it.
	unheard bool
}

// leaves is how many keys of the run may outlive it at most.
func (k kind) leaves() int {
	if k.kills && !k.survives {
		return 1
	}
	return 0
}

const (
	// arrival is how long a signal may take until the provider has heard of it.
	arrival = 30 * time.Millisecond
	// patience is the request timeout in the configurations; a delay stays well
	// below it.
	patience = 2 * time.Second
	delay    = 100 * time.Millisecond
)

// ends are the ways in which an apply can be broken off.
var ends = []kind{
	{name: "provider-killed/before", act: func(x *exchange) { x.kill((*acctest.Run).KillProvider); x.cut() }, loses: true, kills: true},
	{name: "provider-killed/after", act: func(x *exchange) { x.work(); x.kill((*acctest.Run).KillProvider); x.cut() }, loses: true, kills: true},
	{name: "all-killed/before", act: func(x *exchange) { x.kill((*acctest.Run).KillAll); x.cut() }, loses: true, kills: true},
	{name: "all-killed/after", act: func(x *exchange) { x.work(); x.kill((*acctest.Run).KillAll); x.cut() }, loses: true, kills: true},
	// The provider lives on for a while, and does what nobody hears of.
	{name: "cli-killed/before", act: func(x *exchange) { x.kill((*acctest.Run).KillCLI); x.answer(x.work()) }, loses: true, kills: true, survives: true},
	{name: "cli-killed/after", act: func(x *exchange) { rec := x.work(); x.kill((*acctest.Run).KillCLI); x.answer(rec) }, loses: true, kills: true, survives: true},
	{name: "interrupted/before", act: func(x *exchange) { x.signal((*acctest.Run).Interrupt); x.answer(x.work()) }},
	{name: "interrupted/after", act: func(x *exchange) { rec := x.work(); x.signal((*acctest.Run).Interrupt); x.answer(rec) }},
	{name: "terminated/after", act: func(x *exchange) { rec := x.work(); x.signal((*acctest.Run).Terminate); x.answer(rec) }},
}

// faults are the ways in which the service and the network can fail an apply
// that itself goes on.
var faults = []kind{
	{name: "500/before", unheard: true, act: func(x *exchange) { x.fail(http.StatusInternalServerError, "internal") }},
	{name: "500/after", unheard: true, act: func(x *exchange) { x.work(); x.fail(http.StatusInternalServerError, "internal") }},
	{name: "503/before", unheard: true, act: func(x *exchange) { x.fail(http.StatusServiceUnavailable, "provider_unavailable") }},
	{name: "503/after", unheard: true, act: func(x *exchange) { x.work(); x.fail(http.StatusServiceUnavailable, "provider_unavailable") }},
	{name: "429/before", unheard: true, act: func(x *exchange) {
		x.w.Header().Set("Retry-After", "1")
		x.fail(http.StatusTooManyRequests, "rate_limited")
	}},
	{name: "502/after", unheard: true, act: func(x *exchange) {
		x.work()
		x.say(http.StatusBadGateway, "text/html", "<html><body>502 Bad Gateway</body></html>")
	}},
	{name: "dropped/before", unheard: true, act: func(x *exchange) { x.cut() }},
	{name: "dropped/after", unheard: true, act: func(x *exchange) { x.work(); x.cut() }},
	{name: "delayed/around", unheard: true, act: func(x *exchange) { time.Sleep(delay); rec := x.work(); time.Sleep(delay); x.answer(rec) }},
	// The client has given up when the work is done, and perhaps asked again.
	{name: "late/before", unheard: true, act: func(x *exchange) { <-x.gone; time.Sleep(delay); x.work(); x.cut() }, loses: true},
}
