package rental

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// doubt is what an attempt does to the question whether the request was carried out.
type doubt int

const (
	unchanged doubt = iota
	raised          // it may have been carried out
	settled         // the service told
)

// verdict is what an attempt's end means.
type verdict struct {
	retry   bool
	limited bool // by the rate limit: waited out, not counted
	few     bool // retry maxForeignRetries times only
	lost    bool // the attempt may have been carried out, or may be carried out yet
	doubt   doubt
}

// judge is the retry policy. The service's own words are a documented success of the operation, and an error with a documented pair of
// status and code. Every other answer comes from something between the service and us, which may have lost the service's answer.
//
//	end of the attempt                            free    keyed           only once
//	not sent (no connection)                      retry   retry           retry
//	network error, time-out, body cut short       retry   retry, doubt    stop, doubt
//	own 429                                       wait    wait            wait
//	own 500 and 503                               retry   retry, doubt    stop, doubt
//	foreign 429 and 5xx                           retry   retry, doubt    stop, doubt
//	other foreign answers, 501, 505               twice   twice, doubt    stop, doubt
//	redirect                                      stop    stop, doubt     stop, doubt
//	certificate or protocol error                 stop    stop            stop
//	own success, own 4xx                          stop    stop            stop
//
// Even the service's own 5xx raises doubt: the service may fail after it did the work, and a server that bills unseen costs more than a
// needless look. A later attempt's 4xx in the service's own words settles it as soon as no earlier attempt is in flight (IsInFlight), for
// had the first attempt succeeded, the repeat would have been a replay. A 401 or 403 settles nothing: it is returned before the
// idempotency key is looked up.
func judge(c *call, resp *http.Response, err error) verdict {
	if err != nil {
		return judgeError(c, err)
	}
	status := resp.StatusCode
	switch own := isOwnError(resp); {
	case c.isSuccess(resp):
		return verdict{doubt: settled}
	case own && status == http.StatusTooManyRequests:
		return verdict{retry: true, limited: true}
	case own && status < 500:
		return verdict{doubt: settles(status)}
	case status/100 == 3:
		return verdict{lost: true, doubt: raised}
	}
	verdict := lost(c.repeat)
	transient := status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
	verdict.few = !transient && status != http.StatusTooManyRequests
	return verdict
}

// settles is what the service's own 4xx does to the doubt.
func settles(status int) doubt {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return unchanged
	}
	return settled
}

func judgeError(c *call, err error) verdict {
	switch {
	case isPermanent(err):
		return verdict{}
	case !c.maybeSent:
		return verdict{retry: true}
	}
	return lost(c.repeat)
}

// lost judges an attempt that may have been carried out, and whose answer is not known.
func lost(kind repeat) verdict {
	return verdict{retry: kind != onlyOnce, lost: true, doubt: raised}
}

// isPermanent: the same attempt would fail the same way, before anything is sent.
func isPermanent(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch) || errors.Is(err, errNotLoopback)
}

// isDialError: no connection was made. It holds for transports that do not report their connections, too.
func isDialError(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && (operation.Op == "dial" || operation.Op == "proxyconnect")
}

// isOwnError reports whether an answer is an error in the service's own words.
func isOwnError(resp *http.Response) bool {
	code, _, _ := parseEnvelope(peek(resp))
	return statusOfCode[code] == resp.StatusCode
}

// retryAfter reads a Retry-After header, seconds or a date. ok is false when there is none that makes sense; a past date is zero.
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
		now = sent // both in the service's time, in case our clock is wrong
	}
	return min(max(date.Sub(now), 0), longest), true
}
