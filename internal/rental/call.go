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
	"slices"
	"time"
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
	success        []int    // the documented statuses of a success; nil: 200
}

// Documented statuses of a success other than 200 alone.
var (
	created   = []int{http.StatusCreated}
	noContent = []int{http.StatusNoContent}
)

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

	success []int // documented statuses of a success

	// inFlightUntil: until then, an attempt whose answer was lost may still be carried out. Zero when no answer was lost.
	inFlightUntil  time.Time
	requestTimeout time.Duration

	// lastFailure is why the latest attempt was to be repeated.
	lastFailure error
}

// answerLost records that the present attempt may have reached the service and that its answer was lost. Its work may be in flight for
// another request timeout.
func (c *call) answerLost() { c.inFlightUntil = time.Now().Add(c.requestTimeout) }

type callKey struct{}

func callOf(ctx context.Context) *call {
	return ctx.Value(callKey{}).(*call)
}

var errNoAPIKey = errors.New("this operation needs an API key, and none is configured")

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
	current := &call{
		path: path, scope: req.scope, access: req.access, repeat: req.repeat, mask: append(mask{c.apiKey}, req.secrets...),
		success: req.success, requestTimeout: c.patience,
	}
	if current.success == nil {
		current.success = []int{http.StatusOK}
	}
	httpRequest, err := newHTTPRequest(context.WithValue(ctx, callKey{}, current), resolve(c.base, req.path, path, req.query), req)
	if err != nil {
		return response{}, c.refuse(req, err)
	}
	resp, err := c.transport.RoundTrip(httpRequest)
	if err != nil {
		return response{}, current.networkError(req.method, err)
	}
	if req.access == private && !cached(resp.Header) {
		c.ahead.observe(resp.Header) // public answers may come from a cache
	}
	body, bodyErr := readBuffered(resp)
	if !current.isSuccess(resp) {
		return response{}, current.serviceError(req.method, resp, body, bodyErr)
	}
	if bodyErr == nil && out != nil {
		bodyErr = decode(resp, body, out)
	} else if made, ok := out.(interface{ readIdentity([]byte) }); ok {
		made.readIdentity(body)
	}
	if bodyErr == nil && req.about != "" {
		bodyErr = checkSubject(out, req.about)
	}
	if bodyErr != nil {
		e := current.answerError(req.method, resp, bodyErr)
		if made, ok := out.(interface{ identity() string }); ok && made.identity() != "" {
			e.OutcomeUnknown = false
		}
		return response{status: resp.StatusCode, header: resp.Header}, e
	}
	return response{status: resp.StatusCode, header: resp.Header}, nil
}

// isSuccess reports whether an answer is a success in the service's own words: a documented status, with a JSON object unless it is 204.
func (c *call) isSuccess(resp *http.Response) bool {
	return slices.Contains(c.success, resp.StatusCode) &&
		(resp.StatusCode == http.StatusNoContent || bytes.HasPrefix(bytes.TrimSpace(peek(resp)), []byte("{")))
}

// send does an operation whose answer is of no interest.
func (c *Client) send(ctx context.Context, req request) error {
	_, err := c.exchange(ctx, req, nil)
	return err
}

// fetch does an operation that answers with a T. With an error it returns what could be read of the answer.
func fetch[T any](ctx context.Context, c *Client, req request) (T, error) {
	var out T
	_, err := c.exchange(ctx, req, &out)
	return out, err
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
