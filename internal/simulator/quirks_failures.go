package simulator

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
	// cutNext cuts the next attempt as well. If the transport retries by itself, it cuts all attempts until one uses a
	// new connection.
	cutNext bool
}

// failure is a response that does not come from a handler.
type failure struct {
	status int
	// code makes it an error of the API.
	code errorCode
	// body is JSON that is not of the API. Without code and body the response is an HTML page.
	body any
	// cut closes the connection without a response.
	cut bool
}

func (f *failure) reply(l language) *reply {
	switch {
	case f.code != "":
		return errorReply(newError(f.code), l)
	case f.body != nil:
		return jsonReply(f.status, f.body)
	}
	return htmlReply(f.status)
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
	{status: http.StatusInternalServerError, code: codeInternal},
	{status: http.StatusServiceUnavailable, code: codeProviderUnavailable},
	{status: http.StatusBadGateway},
	{status: http.StatusGatewayTimeout},
	{cut: true},
}

// failBefore returns the failure before the work of an operation, nil for none.
func (q *quirkSet) failBefore(op *operation) *failure {
	q.mu.Lock()
	defer q.mu.Unlock()
	past := q.failures[op.key]
	if past != nil && past.cutNext {
		// The client does not see attempts that the transport retries on another used connection.
		if op.newConnection || !op.retriedByTransport {
			past.cutNext = false
			past.consecutive++
		}
		return &failure{cut: true}
	}
	if !q.on[quirkGatewayErrors] || q.randomInt(failOneRequestIn, quirkGatewayErrors, op.key, op.attempt) > 0 {
		return nil
	}
	if past = q.failing(op); past == nil {
		return nil
	}
	choice := len(gatewayFailures)
	if past.foreign4xx {
		choice -= foreign4xxFailures
	}
	f := gatewayFailures[q.randomInt(choice, quirkGatewayErrors, "kind", op.key, op.attempt)]
	past.foreign4xx = past.foreign4xx || f.status < http.StatusInternalServerError
	return &f
}

// failAfter returns the failure that replaces the response of an operation, nil for none.
func (q *quirkSet) failAfter(op *operation, status int) *failure {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.on[quirkStatusAfterWork] && op.writes() && status < http.StatusMultipleChoices &&
		q.randomInt(failOneWriteIn, quirkStatusAfterWork, op.key, op.attempt) == 0 {
		if past := q.failing(op); past != nil {
			f := lateFailures[q.randomInt(len(lateFailures), quirkStatusAfterWork, "kind", op.key, op.attempt)]
			past.cutNext = f.cut && !op.newConnection && past.consecutive < maxFailures
			return &f
		}
	}
	delete(q.failures, op.key)
	return nil
}

// failing counts a failure of an operation. It returns nil if the maximum is reached. The caller holds the lock.
func (q *quirkSet) failing(op *operation) *failures {
	past := q.failures[op.key]
	if past == nil {
		past = &failures{}
		q.failures[op.key] = past
	}
	if past.consecutive >= maxFailures {
		return nil
	}
	past.consecutive++
	return past
}
