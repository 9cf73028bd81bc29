package rental

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// outcome is what the end of one attempt means for the call. Its zero value ends the call.
type outcome struct {
	retry       bool
	rateLimited bool // a 429 of the API, which does not count against Config.MaxRetries
	foreign     bool // not from the API and not likely to change: at most maxForeignRetries
	lost        bool // the API may have performed the request, or may still perform it
	definitive  bool // the response shows whether the API performed the request
}

// classify is the retry policy. A response comes from the API if it is a documented success of the operation, or an
// error with a documented pair of status and code. All others are foreign: they come from a proxy or a load balancer,
// and the API may have performed the request.
//
//	end of the attempt                          idempotent  with idempotency key  not idempotent
//	not sent (no connection)                    retry       retry                 retry
//	network error, timeout, incomplete body     retry       retry, unknown        stop, unknown
//	429 of the API                              wait        wait                  wait
//	500 and 503 of the API                      retry       retry, unknown        stop, unknown
//	foreign 429 and 5xx                         retry       retry, unknown        stop, unknown
//	other foreign responses, 501, 505           twice       twice, unknown        stop, unknown
//	redirect                                    stop        stop, unknown         stop, unknown
//	certificate or protocol error               stop        stop                  stop
//	success or other 4xx of the API             stop        stop                  stop
//
// "unknown" sets Error.OutcomeUnknown. The API's own 5xx sets it, too, because the API can fail after the work is done.
// A later 4xx of the API clears it: if the first attempt had succeeded, the retry would have returned its result. A 401
// or 403 does not clear it, because the API returns them before it checks the idempotency key.
func classify(c *call, resp *http.Response, err error) outcome {
	if err != nil {
		return classifyError(c, err)
	}
	status := resp.StatusCode
	switch fromAPI := isAPIError(resp); {
	case c.isSuccess(resp):
		return outcome{definitive: true}
	case fromAPI && status == http.StatusTooManyRequests:
		return outcome{retry: true, rateLimited: true}
	case fromAPI && status < 500:
		return outcome{definitive: status != http.StatusUnauthorized && status != http.StatusForbidden}
	case status/100 == 3:
		return outcome{lost: true}
	}
	transient := status == http.StatusTooManyRequests || status >= 500 &&
		status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
	return outcome{retry: c.idempotency != notIdempotent, lost: true, foreign: !transient}
}

func classifyError(c *call, err error) outcome {
	switch {
	case isPermanent(err):
		return outcome{}
	case !c.maybeSent:
		return outcome{retry: true}
	}
	return outcome{retry: c.idempotency != notIdempotent, lost: true}
}

// isPermanent reports an error that each attempt would repeat before it sends anything.
func isPermanent(err error) bool {
	_, isNotSent := errors.AsType[NotSent](err)
	_, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, isNotTLS := errors.AsType[tls.RecordHeaderError](err)
	return isNotSent || isUntrusted || isNotTLS || errors.Is(err, errNotLoopback)
}

// isAnswer reports whether an attempt ended with a response of the API: a documented success of the operation or a
// documented error other than a 5xx.
func (c *call) isAnswer(resp *http.Response) bool {
	return resp != nil && (c.isSuccess(resp) || resp.StatusCode < 500 && isAPIError(resp))
}

// isAPIError reports whether a response is a documented error of the API.
func isAPIError(resp *http.Response) bool {
	return statusOfCode[parseErrorBody(bodyOf(resp).data).Code] == resp.StatusCode
}

// retryAfter parses a Retry-After header: seconds or a date. A date in the past is zero. ok is false if the header is
// missing or invalid.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	const longest = 365 * 24 * time.Hour
	text := header.Get("Retry-After")
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(longest/time.Second))) * time.Second, true
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent // the local clock may be wrong
	}
	return min(max(date.Sub(now), 0), longest), true
}
