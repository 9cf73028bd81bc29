package rental

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The error codes of the service.
const (
	CodeAuthorizationPending = "authorization_pending" // device login: not yet approved
	CodeSlowDown             = "slow_down"             // device login: polling too often
	CodeAccessDenied         = "access_denied"         // device login: denied in the browser
	CodeExpiredToken         = "expired_token"         // device login: code expired or already used
	CodeUnauthorized         = "unauthorized"
	CodeInsufficientFunds    = "insufficient_funds"
	CodeForbidden            = "forbidden"
	CodeNotFound             = "not_found"
	CodeConflict             = "conflict"
	CodeValidation           = "validation_error"
	CodeRateLimited          = "rate_limited"
	CodeInternal             = "internal"
	CodeProviderUnavailable  = "provider_unavailable"
)

// ReasonEmailNotVerified is Error.Reason of a 403 on renting before the account's e-mail is confirmed.
const ReasonEmailNotVerified = "email_not_verified"

// statusOfCode are the pairs of status and code of the service; an answer with another pair comes from something before it.
var statusOfCode = map[string]int{
	CodeAuthorizationPending: http.StatusBadRequest,
	CodeSlowDown:             http.StatusBadRequest,
	CodeAccessDenied:         http.StatusBadRequest,
	CodeExpiredToken:         http.StatusBadRequest,
	CodeUnauthorized:         http.StatusUnauthorized,
	CodeInsufficientFunds:    http.StatusPaymentRequired,
	CodeForbidden:            http.StatusForbidden,
	CodeNotFound:             http.StatusNotFound,
	CodeConflict:             http.StatusConflict,
	CodeValidation:           http.StatusUnprocessableEntity,
	CodeRateLimited:          http.StatusTooManyRequests,
	CodeInternal:             http.StatusInternalServerError,
	CodeProviderUnavailable:  http.StatusServiceUnavailable,
}

// Error is the failure of a call. It holds no secret, and its texts no control characters.
type Error struct {
	Method string // of HTTP
	Path   string // below the base address, escaped
	Scope  string // what the API key needs for the operation, for example user:read; empty when it needs none

	Status    int            // of HTTP; 0: there was no usable answer, and Err says why
	Code      string         // the service's stable code; empty when Foreign
	Foreign   bool           // the answer is not the service's own: its status and code are not a documented pair
	Message   string         // for people, in the configured language
	Details   map[string]any // extra data of the service; numbers are json.Number
	RequestID string         // for the service's support; empty when not told
	Attempts  int            // HTTP attempts made; 0: refused before any request

	// OutcomeUnknown: the request may or may not have been carried out; see IsOutcomeUnknown.
	OutcomeUnknown bool

	// InFlightUntil: until then, the service may still carry out an attempt whose answer was lost; see IsInFlight. Zero: no answer was lost.
	InFlightUntil time.Time

	// Err is the cause when it is not the service's answer: a network error, the context's error, an unreadable body.
	Err error
}

// Error is one line: method and path, status and code, message, request id.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: ", e.Method, e.Path)
	if e.Status != 0 {
		text.WriteString(strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, e.Code)) + ": ")
	}
	text.WriteString(e.Message)
	if e.Foreign {
		text.WriteString(" (not an answer of the service)")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&text, " (after %d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&text, " (request id %s)", e.RequestID)
	}
	return text.String()
}

// Unwrap returns Err, so that errors.Is finds context.Canceled.
func (e *Error) Unwrap() error { return e.Err }

// Issue is one field that the service finds invalid. Field may be empty.
type Issue struct {
	Field   string // path with dots, for example env.HOME
	Message string
}

// Reason is details.reason, or empty.
func (e *Error) Reason() string {
	reason, _ := e.Details["reason"].(string)
	return reason
}

// ShortKop is details.short_kop: how many kopecks are missing.
func (e *Error) ShortKop() (int64, bool) {
	switch n := e.Details["short_kop"].(type) {
	case json.Number:
		kop, err := strconv.ParseInt(n.String(), 10, 64)
		return kop, err == nil
	case int64:
		return n, true
	case float64:
		return int64(n), n == math.Trunc(n) && math.Abs(n) < 1<<53
	}
	return 0, false
}

// Issues is details.issues of a 422. The document does not give its shape, so the common ones are understood: a list of objects
// with field (or path, name, loc) and message (or msg), a list of texts, and an object from field to text or texts.
func (e *Error) Issues() []Issue {
	switch issues := e.Details["issues"].(type) {
	case []any:
		var found []Issue
		for _, item := range issues {
			if issue := readIssue(item); issue != (Issue{}) {
				found = append(found, issue)
			}
		}
		return found
	case map[string]any:
		var found []Issue
		for _, field := range slices.Sorted(maps.Keys(issues)) {
			found = append(found, Issue{Field: field, Message: joinText(issues[field], "; ")})
		}
		return found
	}
	return nil
}

func readIssue(item any) Issue {
	object, ok := item.(map[string]any)
	if !ok {
		return Issue{Message: joinText(item, "; ")}
	}
	first := func(names ...string) string {
		for _, name := range names {
			if text := joinText(object[name], "."); text != "" {
				return text
			}
		}
		return ""
	}
	return Issue{Field: first("field", "path", "name", "loc"), Message: first("message", "msg", "error", "code")}
}

// joinText reads a text, a number, or a list of them.
func joinText(value any, separator string) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case []any:
		var parts []string
		for _, part := range value {
			if text := joinText(part, separator); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, separator)
	}
	return ""
}

// HasCode reports whether err is an Error with that code.
func HasCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && code != "" && e.Code == code
}

// IsNotFound reports that the service itself says it does not exist or belongs to someone else. A 404 page of a proxy is not that.
func IsNotFound(err error) bool { return HasCode(err, CodeNotFound) }

// IsConflict reports that the state forbids it, the price changed, or a limit is reached.
func IsConflict(err error) bool { return HasCode(err, CodeConflict) }

// IsUnauthorized reports that there is no key, or it is wrong, revoked or expired.
func IsUnauthorized(err error) bool { return HasCode(err, CodeUnauthorized) }

// IsForbidden reports that the key lacks the scope, the account is blocked, or what Error.Reason tells.
func IsForbidden(err error) bool { return HasCode(err, CodeForbidden) }

// IsInsufficientFunds reports that the balance does not cover two hours; Error.ShortKop is what is missing.
func IsInsufficientFunds(err error) bool { return HasCode(err, CodeInsufficientFunds) }

// IsValidation reports that the input is invalid; Error.Issues lists the fields.
func IsValidation(err error) bool { return HasCode(err, CodeValidation) }

// IsRateLimited reports a 429 that lasted until waiting was no longer possible.
func IsRateLimited(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Code == CodeRateLimited || e.Status == http.StatusTooManyRequests)
}

// IsUnavailable reports a 5xx answer, an answer that is not the service's own, or no answer, after all retries. The end of the caller's
// own context is not that.
func IsUnavailable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return e.Status >= 500 || e.Foreign || e.Status == 0 && e.Attempts > 0
}

// IsOutcomeUnknown reports that a create (or the issue of a device token) may or may not have happened, because its answer was lost, was
// unreadable, or was a failure of something between us and the service. Look whether it happened before it is repeated;
// CreateInstance may be repeated with the same idempotency key.
func IsOutcomeUnknown(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.OutcomeUnknown
}

// IsInFlight reports that the answer to an attempt of the call was lost (a network error, a time-out, a 5xx, or an answer that is not the
// service's own), and that the service may still carry it out, even after a later attempt was refused. Error.InFlightUntil is when that
// ends.
func IsInFlight(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && time.Now().Before(e.InFlightUntil)
}
