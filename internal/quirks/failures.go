package quirks

import (
	"fmt"
	"net/http"
)

const (
	// maxFailures is the maximum of consecutive failures of one operation.
	maxFailures = 2
	// One in this many requests fails.
	failOneWriteIn   = 3
	failOneRequestIn = 8
)

// failures are the consecutive failures of one operation.
type failures struct {
	consecutive int
	// foreign4xx reports whether one of them was a 4xx response of a gateway.
	foreign4xx bool
}

// failure is a response that does not come from the service.
type failure struct {
	status int
	// body is JSON; nil for an HTML page.
	body any
	// cut closes the connection without a response.
	cut bool
}

// apiFailure returns an error of the API.
func apiFailure(status int, code, message string, issues ...any) *failure {
	body := map[string]any{"code": code, "message": message}
	if len(issues) > 0 {
		body["details"] = map[string]any{"issues": issues}
	}
	return &failure{status: status, body: map[string]any{"error": body}}
}

// write writes the response, or cuts the connection.
func (f *failure) write(w http.ResponseWriter) {
	if f.cut {
		panic(http.ErrAbortHandler)
	}
	send(w, f.status, http.Header{"Content-Type": {f.contentType()}}, f.content())
}

func (f *failure) contentType() string {
	if f.body == nil {
		return "text/html; charset=utf-8"
	}
	return "application/json; charset=utf-8"
}

func (f *failure) content() []byte {
	if f.body != nil {
		return encode(f.body)
	}
	title := fmt.Sprintf("%d %s", f.status, http.StatusText(f.status))
	return fmt.Appendf(nil,
		"<html><head><title>%[1]s</title></head><body><center><h1>%[1]s</h1></center></body></html>\n", title)
}

// gatewayFailures are responses of a gateway. The last foreign4xxFailures of them are 4xx.
var gatewayFailures = []failure{
	{status: http.StatusBadGateway},
	{status: http.StatusServiceUnavailable},
	{status: http.StatusGatewayTimeout},
	{status: http.StatusInternalServerError, body: map[string]any{"code": "upstream",
		"message": "upstream connect error"}},
	{status: http.StatusInternalServerError, body: map[string]any{"error": map[string]any{"code": "upstream",
		"message": "reset"}}},
	{status: http.StatusForbidden},
	{status: http.StatusNotFound, body: map[string]any{"error": map[string]any{"code": "no_route",
		"message": "no such route"}}},
	{status: http.StatusConflict},
	{status: http.StatusUnprocessableEntity, body: map[string]any{"code": "bad_gateway_config"}},
}

const foreign4xxFailures = 4

// lateFailures are responses that replace a success.
var lateFailures = []failure{
	*apiFailure(http.StatusInternalServerError, "internal", "Internal error"),
	*apiFailure(http.StatusServiceUnavailable, "provider_unavailable", "The provider is temporarily unavailable"),
	{status: http.StatusBadGateway},
	{status: http.StatusGatewayTimeout},
	{cut: true},
}

// failBefore returns the failure before the work of an operation, nil for none.
func (a *active) failBefore(op *operation) *failure {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on[gatewayErrors] || op.spared ||
		a.randomInt(failOneRequestIn, gatewayErrors, op.key, op.attempt) > 0 {
		return nil
	}
	past := a.failing(op)
	if past == nil {
		return nil
	}
	choice := len(gatewayFailures)
	if past.foreign4xx {
		choice -= foreign4xxFailures
	}
	f := gatewayFailures[a.randomInt(choice, gatewayErrors, "kind", op.key, op.attempt)]
	past.foreign4xx = past.foreign4xx || f.status < http.StatusInternalServerError
	return &f
}

// failAfter returns the failure that replaces the response of an operation, nil for none. A 429 is no response of the
// service.
func (a *active) failAfter(op *operation, status int) *failure {
	if status == http.StatusTooManyRequests {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.on[statusAfterWork] && op.writes() && !op.spared && status < http.StatusMultipleChoices &&
		a.randomInt(failOneWriteIn, statusAfterWork, op.key, op.attempt) == 0 {
		if a.failing(op) != nil {
			return &lateFailures[a.randomInt(len(lateFailures), statusAfterWork, "kind", op.key, op.attempt)]
		}
	}
	delete(a.failures, op.key)
	return nil
}

// failing counts a failure of an operation. It returns nil if the maximum is reached. The caller holds the lock.
func (a *active) failing(op *operation) *failures {
	past := a.failures[op.key]
	if past == nil {
		past = &failures{}
		a.failures[op.key] = past
	}
	if past.consecutive >= maxFailures {
		return nil
	}
	past.consecutive++
	return past
}
