package rental

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// access says whether the key goes with a request.
type access int

const (
	private     access = iota
	public             // never: a bad key must not break it, and it has a rate budget of its own
	optionalKey        // when there is one: the answer then holds more
)

// repeat says what a lost answer allows.
type repeat int

const (
	free     repeat = iota // doing it twice is doing it once
	keyed                  // so too, thanks to the idempotency key, but giving up leaves the outcome unknown
	onlyOnce               // a second request could do it twice
)

// request is an operation in the terms of the document.
type request struct {
	method         string
	path           []string // elements, not escaped
	query          url.Values
	body           any // nil: none
	access         access
	scope          string // that the key needs, as the document tells; empty for none
	repeat         repeat
	idempotencyKey string
	secrets        []string // texts of the body that no error may repeat, besides the API key
	about          string   // the id that the answer must bear; empty for any
}

// response is a complete 2xx answer.
type response struct {
	status int
	header http.Header
}

// call is what the layers know, and learn, about one request of the caller: it travels in the context through all attempts.
type call struct {
	path    string // below the base address, escaped
	scope   string // that the key needs
	access  access
	repeat  repeat
	mask    mask
	attempt int // of the retry layer, counted from 1

	// maybeSent: the present attempt's request may have reached the service.
	maybeSent bool

	// outcomeUnknown: an attempt may have been carried out without our knowing, and nothing since has told.
	outcomeUnknown bool

	// overdue: an attempt was given up while the service may still have been at work on it.
	overdue bool

	// lastFailure is why the latest attempt was to be repeated.
	lastFailure error
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	return ctx.Value(callKey{}).(*call)
}

var (
	errNoAPIKey    = errors.New("this operation needs an API key, and none is configured")
	errEmptyAnswer = errors.New("the answer is empty")
	errNoIdentity  = errors.New("the answer names no identity, so that nothing can be managed by it")
	errNoSecret    = errors.New("the answer holds no secret, which is told only once")
)

// exchange does one operation and decodes its answer into out; a nil out ignores the body.
func (c *Client) exchange(ctx context.Context, req request, out any) (response, error) {
	path, err := escapePath(req.path)
	if err != nil {
		return response{}, c.refuse(req, err)
	}
	if req.access == private && c.apiKey == "" {
		e := c.refuse(req, errNoAPIKey)
		e.Code = CodeUnauthorized
		return response{}, e
	}
	if req.method != http.MethodGet {
		defer c.writesUnder(req.path[0]).Add(1)
	}
	current := &call{path: path, scope: req.scope, access: req.access, repeat: req.repeat, mask: append(mask{c.apiKey}, req.secrets...)}
	httpRequest, err := newHTTPRequest(context.WithValue(ctx, callKey{}, current), resolve(c.base, req.path, path, req.query), req)
	if err != nil {
		return response{}, c.refuse(req, err)
	}
	resp, err := c.transport.RoundTrip(httpRequest)
	if err != nil {
		return response{}, current.networkError(req.method, err)
	}
	if req.access == private {
		c.ahead.observe(resp.Header) // public answers may come from a cache
	}
	body, bodyErr := readBuffered(resp)
	if resp.StatusCode/100 != 2 {
		return response{}, current.serviceError(req.method, resp, body, bodyErr)
	}
	if bodyErr == nil && out != nil {
		bodyErr = decode(resp, body, out)
	}
	if bodyErr == nil && req.about != "" {
		bodyErr = checkSubject(out, req.about)
	}
	if bodyErr != nil {
		return response{}, current.answerError(req.method, resp, bodyErr)
	}
	return response{status: resp.StatusCode, header: resp.Header}, nil
}

// send does an operation whose answer is of no interest.
func (c *Client) send(ctx context.Context, req request) error {
	_, err := c.exchange(ctx, req, nil)
	return err
}

// fetch does an operation that answers with a T.
func fetch[T any](ctx context.Context, c *Client, req request) (T, error) {
	var out, zero T
	if _, err := c.exchange(ctx, req, &out); err != nil {
		return zero, err
	}
	return out, nil
}

func newHTTPRequest(ctx context.Context, target *url.URL, req request) (*http.Request, error) {
	httpRequest := (&http.Request{Method: req.method, URL: target, Host: target.Host, Header: http.Header{}}).WithContext(ctx)
	httpRequest.Header.Set("Accept", "application/json")
	if req.idempotencyKey != "" {
		httpRequest.Header.Set("Idempotency-Key", req.idempotencyKey)
	}
	if req.body == nil {
		return httpRequest, nil
	}
	data, err := json.Marshal(req.body)
	if err != nil {
		return nil, err
	}
	httpRequest.Header.Set("Content-Type", "application/json")
	httpRequest.ContentLength = int64(len(data))
	httpRequest.Body = io.NopCloser(bytes.NewReader(data))
	httpRequest.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return httpRequest, nil
}

// decode reads a 2xx answer. Unknown fields and absent optional ones are fine; an answer without an identity is not. The errors of
// encoding/json are not repeated as they are, for they quote the body.
func decode(resp *http.Response, body []byte, out any) error {
	if text := string(bytes.TrimSpace(body)); text == "" || text == "null" {
		return errEmptyAnswer
	}
	if bounded, ok := out.(interface{ check(body []byte) error }); ok {
		if err := bounded.check(body); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(body, out); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return fmt.Errorf("the answer's field %s is not of type %s", plain(wrong.Field), wrong.Type)
		}
		if kind := resp.Header.Get("Content-Type"); !isJSON(kind) {
			return fmt.Errorf("the answer is not JSON but %q; does the base URL lead to the service?", plain(kind))
		}
		return fmt.Errorf("the answer's JSON is broken (%d bytes)", len(body))
	}
	if named, ok := out.(interface{ identity() string }); ok && named.identity() == "" {
		return errNoIdentity
	}
	if secretive, ok := out.(interface{ secret() string }); ok && secretive.secret() == "" {
		return errNoSecret
	}
	if checked, ok := out.(interface{ validate() error }); ok {
		return checked.validate()
	}
	return nil
}

// checkSubject refuses an answer about another thing than was asked for: it would be taken for the state of ours.
func checkSubject(answer any, id string) error {
	named, ok := answer.(interface{ identity() string })
	if !ok || named.identity() == id {
		return nil
	}
	return fmt.Errorf("the answer is about another thing than was asked for: %s", named.identity())
}

var errIdempotencyKey = errors.New("the idempotency key must be 1 to 64 printable ASCII characters without spaces")

func checkIdempotencyKey(key string) error {
	if key == "" || len(key) > 64 {
		return errIdempotencyKey
	}
	for _, char := range []byte(key) {
		if char <= ' ' || char > '~' {
			return errIdempotencyKey
		}
	}
	return nil
}
