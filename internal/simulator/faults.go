package simulator

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// Values of [Fault.Drop]: the connection is cut before the work, or after the work and before the response.
const (
	DropBefore = "before"
	DropAfter  = "after"
)

// maxDelayMS is one hour.
const maxDelayMS = int64(time.Hour / time.Millisecond)

// Fault makes matching API requests fail. Only the first matching fault is applied to a request.
type Fault struct {
	// Method is an HTTP method; "" matches all.
	Method string `json:"method"`
	// Path is relative to the base URL. A path with {placeholders}, such as /instances/{id}/start, must match the whole
	// path. Any other path matches itself and everything below it. "" matches all paths.
	Path string `json:"path"`
	// Status is the status of the response, which replaces the work, or follows it if Drop is DropAfter. The body is
	// the JSON error of that status if the API has one, or else an HTML page as of a proxy. 0 passes the request on.
	Status int `json:"status"`
	// DelayMS is a delay in real milliseconds before anything else.
	DelayMS int64 `json:"delay_ms"`
	// Drop is DropBefore or DropAfter and cuts the connection; "" does not. With a status, DropAfter does the work and
	// then returns the status.
	Drop string `json:"drop"`
	// Times is the number of requests that the fault is applied to; 0 means all until it is cleared.
	Times int `json:"times"`
	// Probability is the probability that a matching request fails, from the seed; 0 means always.
	Probability float64 `json:"probability"`
}

// validate returns a validation error if a field is invalid.
func (f Fault) validate() error {
	switch {
	case f.Status != 0 && (f.Status < 400 || f.Status > 599):
		return outOfRange("status", 400, 599)
	case f.Drop != "" && f.Drop != DropBefore && f.Drop != DropAfter:
		return invalid("drop", textOneOf.with(joined([]string{DropBefore, DropAfter})))
	case f.Drop == DropBefore && f.Status != 0:
		return invalid("drop", text{en: "before and status exclude each other: a status without drop needs no work"})
	case f.DelayMS < 0 || f.DelayMS > maxDelayMS:
		return outOfRange("delay_ms", 0, maxDelayMS)
	case f.Status == 0 && f.Drop == "" && f.DelayMS == 0:
		return invalid("status", text{en: "give status, drop or delay_ms: else nothing would happen"})
	case f.Times < 0 || f.Times > math.MaxInt32:
		return outOfRange("times", 0, math.MaxInt32)
	case f.Probability < 0 || f.Probability > 1:
		return outOfRange("probability", 0, 1)
	case f.Path != "" && !strings.HasPrefix(f.Path, "/"):
		return invalid("path", text{en: "must begin with /"})
	}
	return nil
}

func outOfRange(field string, low, high int64) error {
	return invalid(field, textRange.with(low, high))
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

// faultInjector holds the faults in the order in which they were added. The simulator's lock guards it.
type faultInjector struct {
	Dice   dice
	Faults []*activeFault
}

type activeFault struct {
	Fault
	Acted int
}

func (p *faultInjector) add(f Fault) {
	f.Path = strings.TrimPrefix(f.Path, basePath)
	p.Faults = append(p.Faults, &activeFault{Fault: f})
}

// match returns the fault for a request, the zero value for none.
func (p *faultInjector) match(method, path string) Fault {
	for _, f := range p.Faults {
		if f.Times > 0 && f.Acted >= f.Times || !f.matches(method, path) {
			continue
		}
		if f.Probability > 0 && p.Dice.rand().Float64() >= f.Probability {
			continue
		}
		f.Acted++
		return f.Fault
	}
	return Fault{}
}

// active returns the number of faults that can still match.
func (p *faultInjector) active() (n int) {
	for _, f := range p.Faults {
		if f.Times == 0 || f.Acted < f.Times {
			n++
		}
	}
	return n
}

// delay waits for the delay of the fault, or returns an error if the client disconnects.
func (f Fault) delay(r *http.Request) error {
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

// reply returns the response of the fault.
func (f Fault) reply(l language) *reply {
	code, known := codeOfStatus(f.Status)
	if !known {
		return htmlReply(f.Status)
	}
	e := newError(code)
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable {
		e = e.withHeader("Retry-After", "1")
	}
	return errorReply(e, l)
}

// htmlReply returns the error page of a proxy.
func htmlReply(status int) *reply {
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	return &reply{
		status: status, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body: fmt.Appendf(nil,
			"<html><head><title>%[1]s</title></head><body><center><h1>%[1]s</h1></center></body></html>\n", title),
	}
}
