package rental

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
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
		Method: req.method, Path: mask{c.apiKey}.printable("/"+strings.Join(req.path, "/"), maxMessage), Scope: req.scope,
		Message: cause.Error(), Err: cause,
	}
}

// networkError returns the error of a call whose last attempt has no complete response.
func (c *call) networkError(method string, cause error) *Error {
	// url.Error repeats the whole URL, which Error.Path has already.
	if wrapped, ok := errors.AsType[*url.Error](cause); ok {
		cause = wrapped.Err
	}
	message := cause.Error()
	if c.lastFailure != nil && (errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)) {
		message = fmt.Sprintf("%s; before that: %s", message, c.lastFailure)
	}
	return &Error{
		Method: method, Path: c.mask.printable(c.path, maxMessage), Scope: c.scope,
		Message: c.mask.printable(message, maxMessage), Attempts: c.attempt, OutcomeUnknown: c.outcomeUnknown,
		InFlightUntil: c.inFlightUntil, Err: maskedError{cause, c.mask},
	}
}

// apiError returns the error of a response that is not a success. bodyErr is the reason why body is incomplete, if it
// is.
func (c *call) apiError(method string, resp *http.Response, body []byte, bodyErr error) *Error {
	e := c.responseError(method, resp)
	e.OutcomeUnknown = c.outcomeUnknown
	code, message, details := parseErrorBody(body)
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
	case bodyErr != nil:
		e.Message, e.Err = bodyErr.Error(), bodyErr
	case e.Message == "":
		e.Message = strings.ToLower(http.StatusText(resp.StatusCode))
		if e.Message == "" {
			e.Message = "no explanation was given"
		}
	}
	return e
}

// invalidResponse returns the error of a success that cannot be decoded. The API performed the request, but its result
// is unknown.
func (c *call) invalidResponse(method string, resp *http.Response, cause error) *Error {
	e := c.responseError(method, resp)
	e.Message, e.Err = c.mask.printable(cause.Error(), maxMessage), maskedError{cause, c.mask}
	e.OutcomeUnknown = c.idempotency != idempotent
	return e
}

// responseError returns an Error with the fields that do not depend on the body.
func (c *call) responseError(method string, resp *http.Response) *Error {
	return &Error{
		Method: method, Path: c.mask.printable(c.path, maxMessage), Scope: c.scope, Status: resp.StatusCode,
		Attempts: c.attempt, InFlightUntil: c.inFlightUntil,
		RequestID: c.mask.printable(resp.Header.Get("X-Request-Id"), maxRequestID),
	}
}

// sanitizeDetails sanitizes all texts of the details.
func (c *call) sanitizeDetails(value any) any {
	switch value := value.(type) {
	case string:
		return c.mask.printable(value, maxMessage)
	case []any:
		for i := range value {
			value[i] = c.sanitizeDetails(value[i])
		}
		return value
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
