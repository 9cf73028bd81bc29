package simulator

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// The two moments at which a [Fault] can cut a connection: before the work, or after it is done and before the answer.
const (
	DropBefore = "before"
	DropAfter  = "after"
)

// maxDelayMS is an hour.
const maxDelayMS = int64(time.Hour / time.Millisecond)

// Fault makes matching API requests fail. The first fault that matches a request acts, alone.
type Fault struct {
	// Method is an HTTP method; "" matches every one.
	Method string `json:"method"`
	// Path is relative to the base URL. With {placeholders} it is a pattern that a whole path must fit, such as
	// /instances/{id}/start; without, it matches itself and everything below it. "" matches every path.
	Path string `json:"path"`
	// Status is answered in place of the work, or after it where Drop is DropAfter: with the JSON error of that status where the API has one, else with an
	// HTML page, as a proxy would. 0 lets the request through.
	Status int `json:"status"`
	// DelayMS is milliseconds of real time before anything else happens.
	DelayMS int64 `json:"delay_ms"`
	// Drop cuts the connection: DropBefore or DropAfter; "" does not. With a status, DropAfter drops the response only:
	// the work is done, and the status is answered.
	Drop string `json:"drop"`
	// Times is how many requests the fault acts on; 0 means all until it is cleared.
	Times int `json:"times"`
	// Probability is how likely the fault acts on a matching request, by the seed; 0 means always.
	Probability float64 `json:"probability"`
}

// validate says which field is wrong, as the control API answers it.
func (f Fault) validate() error {
	switch {
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return outOfRange("status", 400, 599)
	case f.Drop != "" && f.Drop != DropBefore && f.Drop != DropAfter:
		return invalid("drop", textOneOf.with(joined([]string{DropBefore, DropAfter})))
	case f.Drop == DropBefore && f.Status != 0:
		return invalid("drop", text{"before и status исключают друг друга: без работы ответ — это status без drop", "before and status exclude each other: a status without drop is answered before the work"})
	case f.DelayMS < 0 || f.DelayMS > maxDelayMS:
		return outOfRange("delay_ms", 0, maxDelayMS)
	case f.Status == 0 && f.Drop == "" && f.DelayMS == 0:
		return invalid("status", text{"укажите status, drop или delay_ms: иначе сбоя нет", "give status, drop or delay_ms: else nothing would happen"})
	case f.Times < 0:
		return outOfRange("times", 0, math.MaxInt32)
	case f.Probability < 0 || f.Probability > 1:
		return outOfRange("probability", 0, 1)
	case f.Path != "" && !strings.HasPrefix(f.Path, "/"):
		return invalid("path", text{"должен начинаться с /", "must begin with /"})
	}
	return nil
}

func (f Fault) matches(method, path string) bool {
	if f.Method != "" && !strings.EqualFold(f.Method, method) {
		return false
	}
	if strings.Contains(f.Path, "{") {
		_, ok := matchPattern(f.Path, path)
		return ok
	}
	prefix := strings.TrimSuffix(f.Path, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// faultPlan holds the faults in the order in which they were added. The simulator's lock guards it.
type faultPlan struct {
	rng    *rand.Rand
	pcg    *rand.PCG
	faults []*armedFault
	// acted counts the requests that faults have acted on, removed faults included.
	acted int
}

type armedFault struct {
	Fault
	Acted int
}

func newFaultPlan(seed uint64) *faultPlan {
	pcg := rand.NewPCG(seed, 3)
	return &faultPlan{rng: rand.New(pcg), pcg: pcg}
}

func (p *faultPlan) add(f Fault) {
	f.Path = strings.TrimPrefix(f.Path, basePath)
	p.faults = append(p.faults, &armedFault{Fault: f})
}

// pick returns the fault that acts on a request; the zero value does nothing.
func (p *faultPlan) pick(method, path string) Fault {
	for _, f := range p.faults {
		if f.Times > 0 && f.Acted >= f.Times || !f.matches(method, path) {
			continue
		}
		if f.Probability > 0 && p.rng.Float64() >= f.Probability {
			continue
		}
		f.Acted++
		p.acted++
		return f.Fault
	}
	return Fault{}
}

// inForce counts the faults that may still act.
func (p *faultPlan) inForce() (n int) {
	for _, f := range p.faults {
		if f.Times == 0 || f.Acted < f.Times {
			n++
		}
	}
	return n
}

// wait lets the fault's delay pass, or gives up when the client does.
func (f Fault) wait(r *http.Request) error {
	if f.DelayMS == 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(f.DelayMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// reply is what the fault answers in place of the operation.
func (f Fault) reply(l language) (*reply, error) {
	code, known := codeFor(f.Status)
	if !known {
		return htmlReply(f.Status), nil
	}
	e := fail(code)
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable {
		e = e.withHeader("Retry-After", "1")
	}
	return errorReply(e, l)
}
