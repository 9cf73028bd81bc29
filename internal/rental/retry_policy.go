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
	doubt   doubt
}

// judge is the retry policy.
//
//	end of the attempt                            free    keyed           only once
//	not sent (no connection)                      retry   retry           retry
//	network error, time-out, body cut short       retry   retry, doubt    stop, doubt
//	429                                           wait    wait            wait
//	500 and 503 in the service's own words        retry   retry, doubt    retry
//	other 5xx: something between us may have      retry   retry, doubt    stop, doubt
//	lost the answer
//	501, 505: will not change                     stop    stop            stop
//	certificate or protocol error                 stop    stop            stop
//	anything else                                 stop    stop            stop
//
// For a keyed create even the service's own 5xx raises doubt: a server that bills unseen costs more than a needless look. A later
// attempt's 4xx in the service's own words settles it, for had the first attempt succeeded, the repeat would have been a replay. A
// 401 or 403 settles nothing: it is said before the idempotency key is looked up.
func judge(c *call, resp *http.Response, err error) verdict {
	if err != nil {
		return judgeError(c, err)
	}
	own := isOwnError(resp)
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests:
		return verdict{retry: true, limited: true}
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return verdict{}
	case status >= 500:
		ownFailure := own && (status == http.StatusInternalServerError || status == http.StatusServiceUnavailable)
		return lost(c.repeat, ownFailure)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return verdict{}
	case status/100 == 2 || own:
		return verdict{doubt: settled}
	}
	return verdict{}
}

func judgeError(c *call, err error) verdict {
	switch {
	case isPermanent(err):
		return verdict{}
	case !c.maybeSent:
		return verdict{retry: true}
	}
	return lost(c.repeat, false)
}

// lost judges an attempt without a usable answer. saidSo: the service itself said that it failed.
func lost(kind repeat, saidSo bool) verdict {
	switch {
	case kind == keyed:
		return verdict{retry: true, doubt: raised}
	case kind == onlyOnce && !saidSo:
		return verdict{doubt: raised}
	}
	return verdict{retry: true}
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
	if resp.StatusCode < 400 {
		return false
	}
	code, _, _ := parseEnvelope(peek(resp))
	return plain(code) != ""
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
