package rental

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Maximum lengths of texts from a response, in characters.
const (
	maxMessage   = 1000
	maxCode      = 64
	maxRequestID = 128
)

// errorBody is an error of the API. Its texts are not sanitized.
type errorBody struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Details errorDetails `json:"details"`
}

type errorDetails struct {
	Reason    string `json:"reason"`
	RequestID string `json:"request_id"`
	ShortKop  int64  `json:"short_kop"`
	Issues    any    `json:"issues"`
}

// parseErrorBody returns an error of the API. It is zero if the body is none. A field of a wrong type counts as
// omitted: encoding/json decodes the others.
func parseErrorBody(body []byte) errorBody {
	var parsed struct {
		Error errorBody `json:"error"`
	}
	err := json.Unmarshal(body, &parsed)
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType {
		return errorBody{}
	}
	return parsed.Error
}

// parseIssues returns the issues of a validation error. The API document does not define the entries. An object with
// field (or path) and message is read as such; any other entry is a message.
func parseIssues(value any) (issues []Issue) {
	entries, ok := value.([]any)
	if !ok && value != nil {
		entries = []any{value}
	}
	for _, entry := range entries {
		issue := Issue{Message: fmt.Sprint(entry)}
		object, _ := entry.(map[string]any)
		if message, ok := object["message"].(string); ok {
			issue = Issue{cmp.Or(dottedPath(object["field"]), dottedPath(object["path"])), message}
		}
		issues = append(issues, issue)
	}
	return issues
}

// dottedPath joins a list of names and indices. A text is a path already.
func dottedPath(value any) string {
	elements, ok := value.([]any)
	if !ok && value != nil {
		elements = []any{value}
	}
	var path []string
	for _, element := range elements {
		path = append(path, fmt.Sprint(element))
	}
	return strings.Join(path, ".")
}

// requestError returns the error of a call that sends no request.
func (c *Client) requestError(req request, cause error) *Error {
	return &Error{
		Method: req.method, Path: newMask(c.apiKey).printable("/"+strings.Join(req.path, "/"), maxMessage), Scope: req.scope,
		Message: cause.Error(), Err: cause,
	}
}

// newError returns an Error with the fields that do not depend on a response.
func (c *call) newError() *Error {
	return &Error{
		Method: c.method, Path: c.mask.printable(c.escapedPath, maxMessage), Scope: c.scope,
		Attempts: c.attempt, InFlightUntil: c.inFlightUntil, KeySource: c.client.keySource,
		Unanswered: !c.client.reach.hasAnswered(),
	}
}

// networkError returns the error of a call whose last attempt has no complete response.
func (c *call) networkError(cause error) *Error {
	message := cause.Error()
	if c.lastFailure != nil && (errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)) {
		message = fmt.Sprintf("%s; before that: %s", message, c.lastFailure)
	}
	e := c.newError()
	e.Message, e.Err = c.mask.printable(message, maxMessage), maskedError{cause, c.mask}
	e.OutcomeUnknown = c.outcomeUnknown
	return e
}

// responseError returns an Error with the fields that do not depend on the body.
func (c *call) responseError(resp *http.Response) *Error {
	e := c.newError()
	e.Status, e.RequestID = resp.StatusCode, c.mask.printable(resp.Header.Get("X-Request-Id"), maxRequestID)
	return e
}

// apiError returns the error of a response that is not a success.
func (c *call) apiError(resp *http.Response) *Error {
	e := c.responseError(resp)
	e.OutcomeUnknown = c.outcomeUnknown
	now := time.Now()
	if wait, ok := retryAfter(resp.Header, now); ok {
		e.RetryAt = now.Add(wait)
	}
	body := bodyOf(resp)
	parsed := parseErrorBody(body.data)
	if e.Foreign = statusOfCode[parsed.Code] != resp.StatusCode; !e.Foreign {
		e.Code = parsed.Code
	}
	e.Message = c.mask.printable(parsed.Message, maxMessage)
	e.RequestID = cmp.Or(e.RequestID, c.mask.printable(parsed.Details.RequestID, maxRequestID))
	e.Reason, e.ShortKop = c.mask.printable(parsed.Details.Reason, maxCode), parsed.Details.ShortKop
	for _, issue := range parseIssues(parsed.Details.Issues) {
		e.Issues = append(e.Issues, Issue{
			Field: c.mask.printable(issue.Field, maxMessage), Message: c.mask.printable(issue.Message, maxMessage),
		})
	}
	switch {
	case resp.StatusCode/100 == 3:
		e.Message = "the client does not follow the redirect to " + redirectTarget(resp, c.mask)
	case resp.StatusCode/100 == 2:
		e.Message = fmt.Sprintf("the response is not a success of this operation (Content-Type %q)",
			c.mask.printable(resp.Header.Get("Content-Type"), maxCode))
	case body.err != nil:
		e.Message, e.Err = body.err.Error(), body.err
	case e.Message == "":
		e.Message = cmp.Or(strings.ToLower(http.StatusText(resp.StatusCode)), "no explanation was given")
	}
	return e
}

// invalidResponse returns the error of a success that cannot be decoded. The API performed the request, but its result
// is unknown.
func (c *call) invalidResponse(resp *http.Response, cause error) *Error {
	e := c.responseError(resp)
	e.Message, e.Err = c.mask.printable(cause.Error(), maxMessage), maskedError{cause, c.mask}
	e.OutcomeUnknown = c.idempotency != idempotent
	return e
}

func redirectTarget(resp *http.Response, m mask) string {
	target, err := resp.Location()
	if err != nil {
		return "an invalid address"
	}
	return m.printable(target.Scheme+"://"+target.Host, maxRequestID)
}

// maskedError hides secrets in the text of an error. errors.Is and errors.As find its cause.
type maskedError struct {
	cause error
	mask  mask
}

func (e maskedError) Error() string { return e.mask.printable(e.cause.Error(), maxMessage) }
func (e maskedError) Unwrap() error { return e.cause }
