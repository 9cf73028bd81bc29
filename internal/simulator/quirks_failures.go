package simulator

import (
	"fmt"
	"net/http"
)

const (
	// maxFailures is how often one operation fails in a row.
	maxFailures = 2
	// Of so many requests, one fails.
	oneOfWrites   = 3
	oneOfRequests = 8
)

// failures are those of one operation since its last success.
type failures struct {
	inRow int
	// foreign4xx is whether a 4xx of a gateway was among them.
	foreign4xx bool
	// refusing cuts the next attempt as well, and if a transport repeats it by itself, every one until it is on a new
	// connection.
	refusing bool
}

// failure is a response of something other than the service's handlers.
type failure struct {
	status int
	// code makes it an error of the API.
	code errorCode
	// body is JSON that is none of the API's; without code and body, the answer is an HTML page.
	body any
	// cut closes the connection without an answer.
	cut bool
}

func (f *failure) reply(l language) (*reply, error) {
	switch {
	case f.code != "":
		return errorReply(fail(f.code), l)
	case f.body != nil:
		return jsonReply(f.status, f.body)
	}
	return htmlReply(f.status), nil
}

// htmlReply is the error page of a proxy.
func htmlReply(status int) *reply {
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	return &reply{
		status: status, header: http.Header{}, contentType: "text/html; charset=utf-8",
		body: fmt.Appendf(nil, "<html><head><title>%[1]s</title></head><body><center><h1>%[1]s</h1></center></body></html>\n", title),
	}
}

// gatewayFailures are what a gateway answers; the last foreign4xxFailures of them are 4xx.
var gatewayFailures = []failure{
	{status: http.StatusBadGateway},
	{status: http.StatusServiceUnavailable},
	{status: http.StatusGatewayTimeout},
	{status: http.StatusInternalServerError, body: map[string]any{"code": "upstream", "message": "upstream connect error"}},
	{status: http.StatusInternalServerError, body: map[string]any{"error": map[string]any{"code": "upstream", "message": "reset"}}},
	{status: http.StatusForbidden},
	{status: http.StatusNotFound, body: map[string]any{"error": map[string]any{"code": "no_route", "message": "no such route"}}},
	{status: http.StatusConflict},
	{status: http.StatusUnprocessableEntity, body: map[string]any{"code": "bad_gateway_config"}},
}

const foreign4xxFailures = 4

// lateFailures are what hides a success.
var lateFailures = []failure{
	{status: http.StatusInternalServerError, code: codeInternal},
	{status: http.StatusServiceUnavailable, code: codeProviderUnavailable},
	{status: http.StatusBadGateway},
	{status: http.StatusGatewayTimeout},
	{cut: true},
}

// failBefore is the failure that comes before the work of an operation, nil for none.
func (q *quirkSet) failBefore(op *operation) *failure {
	q.mu.Lock()
	defer q.mu.Unlock()
	past := q.failures[op.key]
	if past != nil && past.refusing {
		// What a transport repeats by itself on another used connection, the client does not see.
		if op.fresh || !op.repeatable {
			past.refusing = false
			past.inRow++
		}
		return &failure{cut: true}
	}
	if !q.on[quirkGatewayErrors] || q.roll(oneOfRequests, quirkGatewayErrors, op.key, op.asked) > 0 {
		return nil
	}
	if past = q.failing(op); past == nil {
		return nil
	}
	choice := len(gatewayFailures)
	if past.foreign4xx {
		choice -= foreign4xxFailures
	}
	f := gatewayFailures[q.roll(choice, quirkGatewayErrors, "kind", op.key, op.asked)]
	past.foreign4xx = past.foreign4xx || f.status < http.StatusInternalServerError
	return &f
}

// failAfter is the failure that hides the response of an operation, nil for none.
func (q *quirkSet) failAfter(op *operation, status int) *failure {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.on[quirkStatusAfterWork] && op.writes() && status < http.StatusMultipleChoices &&
		q.roll(oneOfWrites, quirkStatusAfterWork, op.key, op.asked) == 0 {
		if past := q.failing(op); past != nil {
			f := lateFailures[q.roll(len(lateFailures), quirkStatusAfterWork, "kind", op.key, op.asked)]
			past.refusing = f.cut && !op.fresh && past.inRow < maxFailures
			return &f
		}
	}
	delete(q.failures, op.key)
	return nil
}

// failing counts one more failure of an operation; nil when it has had enough. The lock is held.
func (q *quirkSet) failing(op *operation) *failures {
	past := q.failures[op.key]
	if past == nil {
		past = &failures{}
		q.failures[op.key] = past
	}
	if past.inRow >= maxFailures {
		return nil
	}
	past.inRow++
	return past
}
