package rental

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The error codes of the API.
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

// ReasonEmailNotVerified is Error.Reason of a 403 if the account's email address is not confirmed.
const ReasonEmailNotVerified = "email_not_verified"

// statusOfCode contains the documented status of each code. A response with another pair does not come from the API.
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

// Error is the error of a call. It contains no secrets, and its texts contain no control characters.
type Error struct {
	Method string // HTTP method
	Path   string // below the base URL, escaped
	Scope  string // scope that the API key needs, for example user:read; empty for none

	Status    int     // HTTP status; 0 if there is no complete response, see Err
	Code      string  // code of the API; empty if Foreign
	Foreign   bool    // the response does not come from the API: status and code are not a documented pair
	Message   string  // for users, in Config.Language
	Reason    string  // details.reason, for example ReasonEmailNotVerified
	ShortKop  int64   // details.short_kop: how many kopecks are missing; 0 if unknown
	Issues    []Issue // details.issues of a 422
	RequestID string  // for the support of the API; empty if unknown
	Attempts  int     // HTTP attempts; 0 if no request was sent

	// RetryAt is when the API accepts requests again, by the local clock. Zero if the response has no Retry-After.
	RetryAt time.Time

	// OutcomeUnknown: the API may have performed the request. See IsOutcomeUnknown.
	OutcomeUnknown bool

	// KeySource is Config.KeySource.
	KeySource string

	// Unanswered: the API had not answered any call of the client. See IsUnreachable.
	Unanswered bool

	// InFlightUntil: until then, the API may still perform an attempt whose response was lost. Zero if none was lost. See
	// IsInFlight.
	InFlightUntil time.Time

	// Err is the cause of an error without a valid response: a network error, the error of the context, an invalid body.
	Err error
}

// Error returns one line: method and path, status and code, message, request id.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: ", e.Method, e.Path)
	if e.Status != 0 {
		text.WriteString(strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, e.Code)) + ": ")
	}
	text.WriteString(e.Message)
	if e.Foreign {
		text.WriteString(" (not a response of the API)")
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&text, " (after %d attempts)", e.Attempts)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&text, " (request id %s)", e.RequestID)
	}
	return text.String()
}

// Issue is one problem of a validation error.
type Issue struct {
	Field   string // dotted path of the invalid field, for example env.HOME; may be empty
	Message string
}

// Unwrap returns Err, so that errors.Is finds context.Canceled.
func (e *Error) Unwrap() error { return e.Err }

// HasCode reports whether err is an Error with this code.
func HasCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && code != "" && e.Code == code
}

// IsNotFound reports that the object does not exist or belongs to another account. It is false for the 404 page of a
// proxy.
func IsNotFound(err error) bool { return HasCode(err, CodeNotFound) }

// IsConflict reports that the status does not allow the operation, the price changed, or a limit is reached.
func IsConflict(err error) bool { return HasCode(err, CodeConflict) }

// IsUnauthorized reports that the key is missing, wrong, revoked or expired.
func IsUnauthorized(err error) bool { return HasCode(err, CodeUnauthorized) }

// IsForbidden reports that the key lacks the scope or the account is blocked. Error.Reason may contain the reason.
func IsForbidden(err error) bool { return HasCode(err, CodeForbidden) }

// IsInsufficientFunds reports that the balance does not cover two hours. Error.ShortKop is the missing amount.
func IsInsufficientFunds(err error) bool { return HasCode(err, CodeInsufficientFunds) }

// IsValidation reports that the input is invalid. Error.Issues lists the fields.
func IsValidation(err error) bool { return HasCode(err, CodeValidation) }

// IsRateLimited reports a 429 that lasted longer than the call could wait.
func IsRateLimited(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Code == CodeRateLimited || e.Status == http.StatusTooManyRequests)
}

// IsUnavailable reports that the last retry had a 5xx, a foreign response or no response, or that the client gave up on
// the API. It is false if the caller's context ended.
func IsUnavailable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return e.Status >= 500 || e.Foreign || e.Unanswered || e.Status == 0 && e.Attempts > 0
}

// IsUnreachable reports that a call failed and that the API had not answered any call of its client: at the base URL
// is no server, not the API, or an API that is down. After 10 s the client gives up, see Client; the call has sent
// nothing if Error.Attempts is 0. IsUnreachable does not exclude IsOutcomeUnknown, and is false if the caller's context
// ended.
func IsUnreachable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Unanswered && IsUnavailable(err)
}

// IsOutcomeUnknown reports that the API may have created the object (or device token), because the response was lost,
// invalid or foreign. Check whether it exists before you repeat the call. CreateInstance can be repeated with the same
// idempotency key.
func IsOutcomeUnknown(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.OutcomeUnknown
}

// IsInFlight reports that the response to an attempt of the call was lost (a network error, a timeout, a 5xx or a
// foreign response) and that the API may still perform it, even if it rejected a later attempt. It is false after
// Error.InFlightUntil.
func IsInFlight(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && time.Now().Before(e.InFlightUntil)
}

// IsDefinitive reports whether the API itself refused a request, or none was sent. After any other error, such as a
// network error or the page of a proxy, the outcome of the request is unknown.
func IsDefinitive(err error) bool {
	apiErr, ok := errors.AsType[*Error](err)
	if !ok || apiErr.Attempts == 0 {
		return true
	}
	return IsNotFound(err) || IsConflict(err) || IsUnauthorized(err) || IsForbidden(err) || IsInsufficientFunds(err) ||
		IsValidation(err)
}
