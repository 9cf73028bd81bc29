package acctest

import "github.com/gpurent/terraform-provider-gpurent/internal/simtest"

// What acceptance tests use of simtest.
type (
	Proxy       = simtest.Proxy
	Rule        = simtest.Rule
	Match       = simtest.Match
	Interceptor = simtest.Interceptor
	Bubble      = simtest.Bubble
)

// See simtest.
var (
	InBubble     = simtest.InBubble
	Request      = simtest.Request
	AnyRequest   = simtest.AnyRequest
	Creates      = simtest.Creates
	Pass         = simtest.Pass
	Before       = simtest.Before
	After        = simtest.After
	Respond      = simtest.Respond
	Refuse       = simtest.Refuse
	Fail         = simtest.Fail
	LoseResponse = simtest.LoseResponse
	Rewrite      = simtest.Rewrite
	RewriteItems = simtest.RewriteItems
	SetField     = simtest.SetField
	Record       = simtest.Record
	Send         = simtest.Send
)

// Intercept puts rules that do not change in front of the simulator.
func Intercept(rules ...Rule) Option {
	p := new(Proxy)
	p.Set(rules...)
	return p.Option()
}
