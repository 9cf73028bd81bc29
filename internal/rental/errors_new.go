package rental

import (
	"bytes"
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

// errorBody is the body of every error of the API.
type errorBody struct {
	Error *struct {
		Code    string          `json:"code"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// parseErrorBody returns the fields of an error of the API, not sanitized. They are zero if the body is not one.
// Details that are not an object are ignored.
func parseErrorBody(body []byte) (code, message string, details map[string]any) {
	var parsed errorBody
	err := json.Unmarshal(body, &parsed)
	// After a field of a wrong type, encoding/json still decodes the others.
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType || parsed.Error == nil {
		return "", "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(parsed.Error.Details))
	decoder.UseNumber()
	if err := decoder.Decode(&details); err != nil {
		details = nil
	}
	return parsed.Error.Code, parsed.Error.Message, details
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
		Attempts: c.attempt, InFlightUntil: c.inFlightUntil,
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
	code, message, details := parseErrorBody(body.data)
	e.Message = c.mask.printable(message, maxMessage)
	if e.Foreign = statusOfCode[code] != resp.StatusCode; !e.Foreign {
		e.Code = code
	}
	if len(details) > 0 {
		e.Details, _ = c.sanitizeDetails(details).(map[string]any)
	}
	if e.RequestID == "" {
		e.RequestID, _ = e.Details["request_id"].(string)
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

// sanitizeDetails is mask.printable for all texts and numbers of the details.
func (c *call) sanitizeDetails(value any) any {
	switch value := value.(type) {
	case string:
		return c.mask.printable(value, maxMessage)
	case json.Number:
		if text := value.String(); c.mask.printable(text, maxMessage) != text {
			return hidden
		}
	case []any:
		for i := range value {
			value[i] = c.sanitizeDetails(value[i])
		}
	case map[string]any:
		sanitized := make(map[string]any, len(value))
		for name, item := range value {
			sanitized[c.mask.printable(name, maxMessage)] = c.sanitizeDetails(item)
		}
		return sanitized
	}
	return value
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
