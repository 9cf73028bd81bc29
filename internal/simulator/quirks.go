package simulator

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Names of the quirks.
const (
	quirkStatusAfterWork      = "status-after-work"
	quirkPriceMovesOnCreate   = "price-moves-on-create"
	quirkPriceMovesOnStart    = "price-moves-on-start"
	quirkImageSpelling        = "image-spelling"
	quirkOtherGPU             = "other-gpu"
	quirkLaggingList          = "lagging-list"
	quirkLaggingGet           = "lagging-get"
	quirkLaggingStatus        = "lagging-status"
	quirkCachedOffers         = "cached-offers"
	quirkOutbidSoonAfterStart = "outbid-soon-after-start"
	quirkOptionalFieldsAbsent = "optional-fields-absent"
	quirkUnknownFields        = "unknown-fields"
	quirkUnknownEnums         = "unknown-enums"
	quirkStrangeNeighbours    = "strange-neighbours"
	quirkSortedDifferently    = "sorted-differently"
	quirkSmallPages           = "small-pages"
	quirkForbiddenBalance     = "forbidden-balance"
	quirkGatewayErrors        = "gateway-errors"
	quirkLimitHeadersAbsent   = "limit-headers-absent"
	quirkForgottenKeys        = "forgotten-keys"
	quirkFirstAnswerReplays   = "first-answer-replays"
	quirkBusyWhileBooting     = "busy-while-booting"
	quirkFailedIsBilled       = "failed-is-billed"
	quirkRefusedDisks         = "refused-disks"
	quirkPhantomOffers        = "phantom-offers"

	// allQuirks enables all quirks.
	allQuirks = "all"
)

// Quirk is behavior that the API document allows and the simulator can show.
type Quirk struct {
	Name string `json:"name"`
	// Description is what the simulator does while the quirk is on.
	Description string `json:"description"`
	// Sentence is the sentence of the document that allows it.
	Sentence string `json:"sentence"`
}

// quirk is a Quirk with its implementation.
type quirk struct {
	Quirk
	// change changes a successful JSON response. It is nil for quirks that are implemented elsewhere.
	change func(*quirkedResponse)
}

// quirkTable lists all quirks. Those that change responses are applied in this order.
var quirkTable = []quirk{
	{Quirk{
		quirkStatusAfterWork,
		"About every third write other than a login returns 500, 502, 503, 504 or a cut connection after its work, " +
			"at most twice in a row for one operation. With a reused connection, the next new one is cut, too.",
		"Clients should retry 5xx and 429 with exponential backoff.",
	}, nil},
	{Quirk{
		quirkGatewayErrors,
		"About every eighth request returns an error of a gateway before any work: 502, 503 or 504 with HTML, 500 " +
			"with JSON of another format, or once a 4xx with HTML or an unknown code. At most twice in a row for one " +
			"operation.",
		"Every error is an HTTP status with the body `{error: {code, message, details?}}`.",
	}, nil},
	{Quirk{
		quirkLimitHeadersAbsent,
		"Responses have no X-RateLimit headers. A 429 still has Retry-After.",
		"on 429 | wait for Retry-After | all",
	}, nil},
	{Quirk{
		quirkSmallPages,
		"A page has at most three items, even if `limit` is larger.",
		"`next_cursor` is null on the last page.",
	}, nil},
	{Quirk{
		quirkPriceMovesOnCreate,
		"The price that a create locks is up to 4% above or below the price of the offer.",
		"The service quotes the offer, locks the price and creates the instance.",
	}, nil},
	{Quirk{
		quirkPriceMovesOnStart,
		"After a start, the running price is up to 4% above or below the previous one.",
		"running price applies again",
	}, nil},
	{Quirk{
		quirkOutbidSoonAfterStart,
		"Each interruptible instance is outbid once: after its first start, before its SSH address is known.",
		"running (interruptible) | market price rises above the bid | interruptible type | outbid",
	}, nil},
	{Quirk{
		quirkForbiddenBalance,
		"GET /balance returns 403 `forbidden`.",
		"403 `forbidden` when the key lacks the scope or the account is blocked.",
	}, nil},
	{Quirk{
		quirkStrangeNeighbours,
		"Lists contain items of other accounts with unusual content, such as an unknown status, a negative price or " +
			"no template. You cannot rent, change or destroy them.",
		"not found, or it belongs to someone else",
	}, (*quirkedResponse).addNeighbours},
	{Quirk{
		quirkLaggingList,
		"A new item is missing from its list for 3 to 12 seconds after its creation.",
		"state changes are observed by reading the instance.",
	}, (*quirkedResponse).hideNewItems},
	{Quirk{
		quirkLaggingGet,
		"Requests with the id of a new instance return 404 for 1 to 3 seconds after its creation.",
		"state changes are observed by reading the instance.",
	}, nil},
	{Quirk{
		quirkLaggingStatus,
		"For 2 to 8 seconds after a start, stop or delete, `status` and `desired_state` keep their previous " +
			"values.",
		"the status may lag briefly after the 200 response",
	}, (*quirkedResponse).keepOldStatus},
	{Quirk{
		quirkCachedOffers,
		"Offers and GPU models are up to 60 seconds old, so a rented offer can be listed and readable as available.",
		"Public GET endpoints (`/gpus`, `/offers`, `/templates`) send CORS headers and are cached for 60 seconds.",
	}, nil},
	{Quirk{
		quirkForgottenKeys,
		"A create with the idempotency key of a destroyed instance rents a new instance.",
		"A repeat with the same Idempotency-Key does not create a second instance: it returns the existing one with " +
			"status 200 and the response header `Idempotent-Replayed: true`.",
	}, nil},
	{Quirk{
		quirkFirstAnswerReplays,
		"A repeated create returns the first response again, with the status `creating`, even if the instance runs, " +
			"has failed or is destroyed. GET returns its current state.",
		"`Idempotent-Replayed: true`",
	}, nil},
	{Quirk{
		quirkBusyWhileBooting,
		"DELETE returns 409 `conflict` while the instance is creating or starting.",
		"A state that forbids the action gives 409 `conflict`",
	}, nil},
	{Quirk{
		quirkFailedIsBilled,
		"`burn_kop_h` of the balance includes the running price of failed instances. They are not charged.",
		"total burn over all instances, kopecks per hour",
	}, nil},
	{Quirk{
		quirkRefusedDisks,
		"About every third offer is listed and readable, and a create with it returns 422 `validation_error` for " +
			"`disk_gb`.",
		"404 when the offer or template is not found; 409 when the price changed or a limit is reached; 422 invalid " +
			"input",
	}, nil},
	{Quirk{
		quirkPhantomOffers,
		"Each list of offers contains one more offer: a copy of the cheapest server with the requested properties, " +
			"available or not, at a lower price. It is readable as available, and a create with it returns 409 " +
			"`conflict`.",
		"GPU availability data refreshes about every minute.",
	}, nil},
	{Quirk{
		quirkImageSpelling,
		"The image of an instance or a template has another spelling of the same reference, such as " +
			"`docker.io/library/ubuntu:24.04`.",
		"image | string | no | container image",
	}, (*quirkedResponse).respellImages},
	{Quirk{
		quirkOtherGPU,
		"The GPU of an instance has a different slug and name than in its offer, with the same count and VRAM.",
		"slug string, name string, count integer, vram_gb integer nullable",
	}, (*quirkedResponse).renameGPUs},
	{Quirk{
		quirkUnknownEnums,
		"`tier`, `source`, `stop_reason`, the `type` of a transaction, the `launch_mode` of a catalog template " +
			"and the `status` of an instance in transition have values that the document does not list.",
		"Deprecation policy, compatibility guarantees and the way future versions are announced: not shown.",
	}, (*quirkedResponse).unknownEnums},
	{Quirk{
		quirkOptionalFieldsAbsent,
		"Fields that are not required are missing if they are null, and sometimes if they have a value.",
		"Columns: name, type, required, meaning. 'Nullable' means the value may be null.",
	}, (*quirkedResponse).dropOptionalFields},
	{Quirk{
		quirkSortedDifferently,
		"Arrays without a defined order have a different order in each response: lists other than offers and " +
			"transactions, and `scopes`, `ports` and `urls`.",
		"scopes | array of enum: user:read, user:write, instances:read, instances:write, billing:read | permissions",
	}, (*quirkedResponse).reorder},
	{Quirk{
		quirkUnknownFields,
		"Every object has additional fields of all JSON types.",
		"Deprecation policy, compatibility guarantees and the way future versions are announced: not shown.",
	}, (*quirkedResponse).addFields},
}

// AllQuirks returns all quirks.
func AllQuirks() []Quirk {
	list := make([]Quirk, 0, len(quirkTable))
	for _, q := range quirkTable {
		list = append(list, q.Quirk)
	}
	return list
}

func quirkNames() []string {
	names := make([]string, 0, len(quirkTable))
	for _, q := range quirkTable {
		names = append(names, q.Name)
	}
	return names
}

// expandQuirks validates names of quirks and replaces "all" by all names.
func expandQuirks(names []string) ([]string, error) {
	known := quirkNames()
	var expanded []string
	for _, name := range names {
		switch {
		case name == allQuirks:
			expanded = append(expanded, known...)
		case slices.Contains(known, name):
			expanded = append(expanded, name)
		default:
			return nil, fmt.Errorf("quirk %q: must be %s, or %s", name, allQuirks, strings.Join(known, ", "))
		}
	}
	slices.Sort(expanded)
	return slices.Compact(expanded), nil
}

// quirkSet are the active quirks with their state. A nil set has none.
type quirkSet struct {
	seed uint64
	on   map[string]bool

	mu sync.Mutex // guards the fields below
	// counts are the numbers of requests by operation and of price changes by offer.
	counts map[string]int
	// failures are the consecutive failures by operation.
	failures map[string]*failures
	// listedFrom is when lists show a new item, by id.
	listedFrom map[string]time.Time
	// oldStatus is the outdated status that instances show, by id.
	oldStatus map[string]oldStatus
	// cached are responses with offers and GPU models, by operation.
	cached map[string]*cachedReply
}

// newQuirkSet returns nil without names. The names must be valid.
func newQuirkSet(seed uint64, names []string) *quirkSet {
	if len(names) == 0 {
		return nil
	}
	q := &quirkSet{
		seed: seed, on: map[string]bool{}, counts: map[string]int{}, failures: map[string]*failures{},
		listedFrom: map[string]time.Time{}, oldStatus: map[string]oldStatus{}, cached: map[string]*cachedReply{},
	}
	for _, name := range names {
		q.on[name] = true
	}
	return q
}

func (q *quirkSet) has(name string) bool { return q != nil && q.on[name] }

// increment increments a counter and returns its previous value.
func (q *quirkSet) increment(what string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counts[what]++
	return q.counts[what] - 1
}

// randomInt returns a random number below sides. It depends only on the seed and the arguments.
func (q *quirkSet) randomInt(sides int, quirk string, about ...any) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", q.seed, quirk)
	for _, a := range about {
		fmt.Fprintf(h, "\x00%v", a)
	}
	return rand.New(rand.NewPCG(q.seed, h.Sum64())).IntN(sides)
}

// SetQuirks enables the named quirks, or all for "all", and disables all others. It returns an error if a name is
// unknown.
func (s *Simulator) SetQuirks(names ...string) error {
	names, err := expandQuirks(names)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setQuirks(names)
	return nil
}

// setQuirks replaces the active quirks. The caller holds the lock.
func (s *Simulator) setQuirks(names []string) {
	s.engine.quirks = newQuirkSet(s.config.Seed, names)
}

// Quirks returns the sorted names of the active quirks.
func (s *Simulator) Quirks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine.quirks.names()
}

func (q *quirkSet) names() []string {
	if q == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(q.on))
}
