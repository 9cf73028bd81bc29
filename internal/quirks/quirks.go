// Package quirks makes a simulator respond in all ways that the API document allows: each freedom is a quirk. It is for
// tests only. No package of the binary may import it.
//
//	set := quirks.New("small-pages", "lagging-list")
//	server, err := set.Start(ctx, simulator.Config{Seed: 1})
//
// A Set is middleware outside of [simulator.Config.Wrap], so that a contract check sees the responses of the service,
// and inside of the faults, the rate limit and the request log. It keeps what it learns about instances from the
// responses to their creation. Two quirks of prices and the search for a phantom offer need the engine: the Set is also
// the [simulator.Hooks] of its simulator.
//
// The seed of the simulator and the requests determine all quirks. POST /control/reset does not reset them. The tests
// are in the package simulator, with its client for plain HTTP.
package quirks

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Names of the quirks: what the simulator does, and the sentence of the document that allows it.
const (
	// About every third write, other than a login or a spared creation, returns 500, 502, 503, 504 or a cut connection
	// after its work, at most twice in a row for one operation. No connection is used twice.
	// Document: "Clients should retry 5xx and 429 with exponential backoff."
	statusAfterWork = "status-after-work"
	// About every eighth request, other than a spared creation, returns an error of a gateway before any work: 502, 503
	// or 504 with HTML, 500 with JSON of another format, or once a 4xx with HTML or an unknown code. At most twice in a
	// row for one operation.
	// Document: "Every error is an HTTP status with the body `{error: {code, message, details?}}`."
	gatewayErrors = "gateway-errors"
	// Responses have no X-RateLimit headers. A 429 still has Retry-After. Document: "on 429 | wait for Retry-After |
	// all"
	limitHeadersAbsent = "limit-headers-absent"
	// A page has at most three items, even if `limit` is larger. Document: "`next_cursor` is null on the last page."
	smallPages = "small-pages"
	// The price that a create locks is up to 4% above or below the price of the offer. Document: "The service quotes
	// the offer, locks the price and creates the instance."
	priceMovesOnCreate = "price-moves-on-create"
	// After a start, the running price is up to 4% above or below the previous one. Document: "running price applies
	// again"
	priceMovesOnStart = "price-moves-on-start"
	// Each interruptible instance is outbid once: after its first start, before its SSH address is known. Document:
	// "running (interruptible) | market price rises above the bid | interruptible type | outbid"
	outbidSoonAfterStart = "outbid-soon-after-start"
	// GET /balance returns 403 `forbidden`. Document: "403 `forbidden` when the key lacks the scope or the account is
	// blocked."
	forbiddenBalance = "forbidden-balance"
	// Lists contain items of other accounts, as many as fit on the last page, with unusual content, such as an unknown
	// status, a negative price or no template. You cannot rent, change or destroy them. Document: "not found, or it
	// belongs to someone else"
	strangeNeighbours = "strange-neighbours"
	// A new item is missing from its list for 3 to 12 seconds after its creation. Document: "state changes are observed
	// by reading the instance."
	laggingList = "lagging-list"
	// Requests with the id of a new instance return 404 for 1 to 3 seconds after its creation. Document: "state changes
	// are observed by reading the instance."
	laggingGet = "lagging-get"
	// For 2 to 8 seconds after a start, stop or delete, `status` and `desired_state` keep their previous values.
	// Document: "the status may lag briefly after the 200 response"
	laggingStatus = "lagging-status"
	// Offers and GPU models are up to 60 seconds old, so a rented offer can be listed and readable as available.
	// Document: "Public GET endpoints (`/gpus`, `/offers`, `/templates`) send CORS headers and are cached for 60
	// seconds."
	cachedOffers = "cached-offers"
	// A create with the idempotency key of a destroyed instance rents a new instance. Document: "A repeat with the same
	// Idempotency-Key does not create a second instance: it returns the existing one with status 200 and the response
	// header `Idempotent-Replayed: true`."
	forgottenKeys = "forgotten-keys"
	// A repeated create returns the first response again, with the status `creating`, even if the instance runs, has
	// failed or is destroyed. GET returns its current state. Document: "`Idempotent-Replayed: true`"
	firstAnswerReplays = "first-answer-replays"
	// DELETE returns 409 `conflict` while the instance is creating or starting. Document: "A state that forbids the
	// action gives 409 `conflict`"
	busyWhileBooting = "busy-while-booting"
	// `burn_kop_h` of the balance includes the running price of failed instances. They are not charged. Document:
	// "total burn over all instances, kopecks per hour"
	failedIsBilled = "failed-is-billed"
	// About every third offer is listed and readable, and a create with it returns 422 `validation_error` for
	// `disk_gb`. Document: "404 when the offer or template is not found; 409 when the price changed or a limit is
	// reached; 422 invalid input"
	refusedDisks = "refused-disks"
	// Each list of offers, except by falling price and in pages of one, begins with one more offer: a copy of the first
	// server with the requested properties, available or not, at a lower price. It is readable as available, and a
	// create with it returns 409 `conflict`.
	// Document: "GPU availability data refreshes about every minute."
	phantomOffers = "phantom-offers"
	// The image of an instance or a template has another spelling of the same reference, such as
	// `docker.io/library/ubuntu:24.04`. Document: "image | string | no | container image"
	imageSpelling = "image-spelling"
	// The GPU of an instance has a different slug and name than in its offer, with the same count and VRAM. Document:
	// "slug string, name string, count integer, vram_gb integer nullable"
	otherGPU = "other-gpu"
	// `tier`, `source`, `stop_reason`, the `type` of a transaction, the `launch_mode` of a catalog template and the
	// `status` of an instance in transition have values that the document does not list. Document: "Deprecation policy,
	// compatibility guarantees and the way future versions are announced: not shown."
	unknownEnums = "unknown-enums"
	// Fields that are not required are missing if they are null, and sometimes if they have a value. Document:
	// "Columns: name, type, required, meaning. 'Nullable' means the value may be null."
	optionalFieldsAbsent = "optional-fields-absent"
	// Arrays without a defined order have a different order in each response: lists other than offers and transactions,
	// and `scopes`, `ports` and `urls`. Document: "scopes | array of enum: user:read, user:write, instances:read,
	// instances:write, billing:read | permissions"
	sortedDifferently = "sorted-differently"
	// Every object has additional fields of all JSON types. Document: "Deprecation policy, compatibility guarantees and
	// the way future versions are announced: not shown."
	unknownFields = "unknown-fields"

	// all is the name of all quirks.
	all = "all"
)

// table lists all quirks. The functions change successful responses, in this order; other quirks are nil.
var table = []struct {
	name   string
	change func(*response)
}{
	{statusAfterWork, nil},
	{gatewayErrors, nil},
	{limitHeadersAbsent, nil},
	{smallPages, nil},
	{priceMovesOnCreate, nil},
	{priceMovesOnStart, nil},
	{outbidSoonAfterStart, nil},
	{forbiddenBalance, nil},
	{strangeNeighbours, (*response).addNeighbours},
	{laggingList, (*response).hideNewItems},
	{laggingGet, nil},
	{laggingStatus, (*response).keepOldStatus},
	{cachedOffers, nil},
	{forgottenKeys, nil},
	{firstAnswerReplays, nil},
	{busyWhileBooting, nil},
	{failedIsBilled, (*response).billFailed},
	{refusedDisks, nil},
	{phantomOffers, nil},
	{imageSpelling, (*response).respellImages},
	{otherGPU, (*response).renameGPUs},
	{unknownEnums, (*response).unknownEnums},
	{optionalFieldsAbsent, (*response).dropOptionalFields},
	{sortedDifferently, (*response).reorder},
	{unknownFields, (*response).addFields},
}

// Names returns the names of all quirks.
func Names() []string {
	names := make([]string, 0, len(table))
	for _, q := range table {
		names = append(names, q.name)
	}
	return names
}

// Set are the quirks of one simulator.
type Set struct {
	seed      uint64
	simulator atomic.Pointer[simulator.Simulator]

	mu     sync.Mutex // guards the fields below. No method of the simulator is called while it is held.
	active *active
	// creations are the successful creations of instances by the idempotency key of the client.
	creations map[string]creation
	// instances are the ids of the created instances. beforeStart are those that may be outbid after their first start.
	instances, beforeStart []string
	createdAt              map[string]time.Time // by id
	// phantoms are the phantom offers that were listed, by id.
	phantoms map[string]map[string]any
}

// New returns a set with these quirks on. "all" means all of them. It panics if a name is unknown.
func New(names ...string) *Set {
	q := &Set{
		creations: map[string]creation{}, createdAt: map[string]time.Time{}, phantoms: map[string]map[string]any{},
	}
	q.Switch(names...)
	return q
}

// NewSimulator creates a simulator. It has quirks if its Hooks are a Set.
func NewSimulator(c simulator.Config) (*simulator.Simulator, error) {
	q, has := c.Hooks.(*Set)
	if !has {
		return simulator.New(c)
	}
	s, err := simulator.New(q.configure(c))
	q.simulator.Store(s)
	return s, err
}

// Start starts a simulator with the quirks.
func (q *Set) Start(ctx context.Context, c simulator.Config) (*simulator.Server, error) {
	server, err := simulator.Start(ctx, q.configure(c))
	if err != nil {
		return nil, err
	}
	q.simulator.Store(server.Simulator)
	return server, nil
}

func (q *Set) configure(c simulator.Config) simulator.Config {
	if q.simulator.Load() != nil {
		panic("quirks: a set is for one simulator, because it records its instances")
	}
	q.seed, c.Hooks = c.Seed, q
	inner := c.Wrap
	c.Wrap = func(service http.Handler) http.Handler {
		if inner != nil {
			service = inner(service)
		}
		return q.wrap(service)
	}
	return c
}

// Switch turns the named quirks on and all others off. It panics if a name is unknown.
func (q *Set) Switch(names ...string) {
	on := map[string]bool{}
	for _, name := range names {
		switch {
		case name == all:
			for _, each := range Names() {
				on[each] = true
			}
		case slices.Contains(Names(), name):
			on[name] = true
		default:
			panic(fmt.Sprintf("quirks: unknown quirk %q: want %s, or %s", name, all, strings.Join(Names(), ", ")))
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active = &active{
		Set: q, on: on, counts: map[string]int{}, failures: map[string]*failures{},
		listedFrom: map[string]time.Time{}, oldStatus: map[string]oldStatus{}, cached: map[string]cachedResponse{},
	}
}

// On returns the sorted names of the quirks that are on.
func (q *Set) On() []string { return slices.Sorted(maps.Keys(q.now().on)) }

func (q *Set) now() *active {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.active
}

// active are the quirks that are on, with their state since they were switched on.
type active struct {
	*Set
	on map[string]bool

	// The mutex of the Set guards the fields below.
	// counts are the numbers of requests by operation and of price changes by offer.
	counts map[string]int
	// failures are the consecutive failures by operation.
	failures map[string]*failures
	// listedFrom is when lists show a new item, by id.
	listedFrom map[string]time.Time
	// oldStatus is the outdated status that instances show, by id.
	oldStatus map[string]oldStatus
	// cached are responses with offers and GPU models, by operation.
	cached map[string]cachedResponse
}

// has reports whether a quirk is on. A nil active has none.
func (a *active) has(name string) bool { return a != nil && a.on[name] }

// increment increments a counter and returns its previous value.
func (a *active) increment(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[what]++
	return a.counts[what] - 1
}

// randomInt returns a random number below sides. It depends only on the seed and the arguments.
func (q *Set) randomInt(sides int, quirk string, about ...any) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", q.seed, quirk)
	for _, each := range about {
		fmt.Fprintf(h, "\x00%v", each)
	}
	return rand.New(rand.NewPCG(q.seed, h.Sum64())).IntN(sides)
}
