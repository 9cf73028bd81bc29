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

// Bounds of what is taken over from a foreign answer, in characters.
const (
	maxMessage   = 1000
	maxCode      = 64
	maxRequestID = 128
)

// envelope is the body of every error of the service.
type envelope struct {
	Error *struct {
		Code    string          `json:"code"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// parseEnvelope returns the texts as they came, and the zero values when the body is not the service's own. Details of an unexpected shape are left out, for
// the code counts more.
func parseEnvelope(body []byte) (code, message string, details map[string]any) {
	var answer envelope
	err := json.Unmarshal(body, &answer)
	// A field of a wrong type does not keep encoding/json from reading the others.
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType || answer.Error == nil {
		return "", "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Error.Details))
	decoder.UseNumber()
	if err := decoder.Decode(&details); err != nil {
		details = nil
	}
	return answer.Error.Code, answer.Error.Message, details
}

// refuse is the failure of a call that was not sent.
func (c *Client) refuse(req request, cause error) *Error {
	return &Error{
		Method: req.method, Path: mask{c.apiKey}.printable("/"+strings.Join(req.path, "/"), maxMessage), Scope: req.scope,
		Message: cause.Error(), Err: cause,
	}
}

// networkError is the failure of a call without a usable last answer.
func (c *call) networkError(method string, cause error) *Error {
	// net/http repeats the whole address around the cause; ours is in Path.
	if wrapped, ok := errors.AsType[*url.Error](cause); ok {
		cause = wrapped.Err
	}
	message := cause.Error()
	if c.lastFailure != nil && (errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)) {
		message = fmt.Sprintf("%s; before that: %s", message, c.lastFailure)
	}
	return &Error{
		Method: method, Path: c.mask.printable(c.path, maxMessage), Scope: c.scope, Message: c.mask.printable(message, maxMessage),
		Attempts: c.attempt, OutcomeUnknown: c.outcomeUnknown, InFlightUntil: c.inFlightUntil, Err: maskedError{cause, c.mask},
	}
}

// serviceError is a complete answer that is not a success.
func (c *call) serviceError(method string, resp *http.Response, body []byte, bodyErr error) *Error {
	e := c.answer(method, resp)
	e.OutcomeUnknown = c.outcomeUnknown
	code, message, details := parseEnvelope(body)
	e.Message = c.mask.printable(message, maxMessage)
	if e.Foreign = statusOfCode[code] != resp.StatusCode; !e.Foreign {
		e.Code = code
	}
	if len(details) > 0 {
		e.Details, _ = c.clean(details).(map[string]any)
	}
	if e.RequestID == "" {
		e.RequestID, _ = e.Details["request_id"].(string)
	}
	switch {
	case resp.StatusCode/100 == 3:
		e.Message = "the redirect to " + redirectTarget(resp, c.mask) + " was not followed"
	case resp.StatusCode/100 == 2:
		e.Message = fmt.Sprintf("the answer is not a success of this operation (Content-Type %q)", c.mask.printable(resp.Header.Get("Content-Type"), maxCode))
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

// answerError is a success that cannot be read. The request was carried out, but what came of it is not known.
func (c *call) answerError(method string, resp *http.Response, cause error) *Error {
	e := c.answer(method, resp)
	e.Message, e.Err = c.mask.printable(cause.Error(), maxMessage), maskedError{cause, c.mask}
	e.OutcomeUnknown = c.repeat != free
	return e
}

func (c *call) answer(method string, resp *http.Response) *Error {
	return &Error{
		Method: method, Path: c.mask.printable(c.path, maxMessage), Scope: c.scope, Status: resp.StatusCode, Attempts: c.attempt, InFlightUntil: c.inFlightUntil,
		RequestID: c.mask.printable(resp.Header.Get("X-Request-Id"), maxRequestID),
	}
}

// clean makes every text of the details safe to show.
func (c *call) clean(value any) any {
	switch value := value.(type) {
	case string:
		return c.mask.printable(value, maxMessage)
	case []any:
		for i := range value {
			value[i] = c.clean(value[i])
		}
		return value
	case map[string]any:
		cleaned := make(map[string]any, len(value))
		for name, item := range value {
			cleaned[c.mask.printable(name, maxMessage)] = c.clean(item)
		}
		return cleaned
	}
	return value
}

func redirectTarget(resp *http.Response, m mask) string {
	target, err := resp.Location()
	if err != nil {
		return "an unreadable address"
	}
	return m.printable(target.Scheme+"://"+target.Host, maxRequestID)
}

// maskedError keeps what errors.Is and errors.As can find in a cause, and hides secrets in its text.
type maskedError struct {
	cause error
	mask  mask
}

func (e maskedError) Error() string { return e.mask.printable(e.cause.Error(), maxMessage) }
func (e maskedError) Unwrap() error { return e.cause }
