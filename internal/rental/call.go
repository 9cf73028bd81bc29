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

// auth is whether a request carries the API key.
type auth int

const (
	authRequired auth = iota
	authNone          // a bad key must not break the request, and the API counts it against another rate limit
	authOptional      // with a key the response contains more
)

// idempotency decides whether a request may be repeated after its response was lost.
type idempotency int

const (
	idempotent    idempotency = iota
	idempotentKey             // idempotent because of the idempotency key; after the last attempt the outcome is unknown
	notIdempotent
)

// request is one operation of the API.
type request struct {
	method         string
	path           []string // elements, not escaped
	query          url.Values
	body           any // JSON; nil for no body
	auth           auth
	scope          string // scope that the API key needs; empty for none
	idempotency    idempotency
	idempotencyKey string
	wantID         string // id that the response must have; empty for any
	success        []int  // documented success statuses; nil: 200
	urgent         bool   // does not wait for the rate limit
}

// Documented success statuses other than 200.
var (
	created   = []int{http.StatusCreated}
	noContent = []int{http.StatusNoContent}
)

// call is the state of one call of a Client method. The transport layers find it in the context of each attempt.
type call struct {
	request
	client      *Client
	escapedPath string // below the base URL
	mask        mask

	// beforeSend is called before an attempt is sent; nil for none. See BeforeSend.
	beforeSend beforeSend

	// attempt is the number of the current attempt, counted from 1; 0 before the first one begins.
	attempt int

	// maybeSent: the current attempt may have reached the API.
	maybeSent bool

	// outcomeUnknown: the API may have performed an attempt whose response was lost.
	outcomeUnknown bool

	// inFlightUntil: until then the API may still perform an attempt whose response was lost. Zero if none was lost.
	inFlightUntil time.Time

	// lastFailure is the end of the previous attempt; nil during the first one.
	lastFailure error
}

// record updates the call after an attempt.
func (c *call) record(o outcome) {
	switch {
	case o.lost:
		c.responseLost()
		c.outcomeUnknown = c.idempotency != idempotent
	case o.definitive:
		c.outcomeUnknown = false
	}
}

// responseLost records that the current attempt may still be in flight, for at most one more request timeout.
func (c *call) responseLost() { c.inFlightUntil = time.Now().Add(c.client.requestTimeout) }

type callKey struct{}

func callFrom(ctx context.Context) *call {
	return ctx.Value(callKey{}).(*call)
}

var errNoAPIKey = errors.New("this operation requires an API key, and none is configured")

// do performs one operation and decodes the response into out. If out is nil, it ignores the body. replay is not
// NotReplayed if the response is that of an earlier request with the same idempotency key.
func (c *Client) do(ctx context.Context, req request, out any) (replay Replay, err error) {
	path, err := escapePath(req.path)
	if err != nil {
		return NotReplayed, c.requestError(req, err)
	}
	if req.auth == authRequired && c.apiKey == "" {
		e := c.requestError(req, errNoAPIKey)
		e.Code = CodeUnauthorized
		return NotReplayed, e
	}
	if req.method != http.MethodGet {
		defer c.writeCount(req.path[0]).Add(1)
	}
	if req.success == nil {
		req.success = []int{http.StatusOK}
	}
	current := &call{
		request: req, client: c, escapedPath: path, mask: newMask(append(textsOf(req.body), c.apiKey)...),
	}
	current.setBeforeSend(ctx)
	ctx = context.WithValue(ctx, callKey{}, current)
	httpRequest, err := c.newHTTPRequest(ctx, path, req)
	if err != nil {
		return NotReplayed, c.requestError(req, err)
	}
	resp, err := c.transport.RoundTrip(httpRequest)
	if notSent, ok := errors.AsType[NotSent](err); ok {
		return NotReplayed, notSent
	}
	if err != nil {
		return NotReplayed, current.networkError(err)
	}
	if req.auth == authRequired && !isCached(resp.Header) { // public responses may be cached without an Age header
		c.clock.observe(resp.Header)
	}
	if !current.isSuccess(resp) {
		return NotReplayed, current.apiError(resp)
	}
	if resp.Header.Get("Idempotent-Replayed") == "true" || req.idempotencyKey != "" && resp.StatusCode == http.StatusOK {
		if replay = Replayed; !current.inFlightUntil.IsZero() {
			replay = ReplayedAfterLoss
		}
	}
	if err := decodeSuccess(resp, req.wantID, out); err != nil {
		e := current.invalidResponse(resp, err)
		if object, ok := out.(identified); ok && object.identity() != "" {
			e.OutcomeUnknown = false
		}
		return replay, e
	}
	return replay, nil
}

// decodeSuccess decodes the body of a success.
func decodeSuccess(resp *http.Response, wantID string, out any) error {
	body := bodyOf(resp)
	switch {
	case body.err != nil:
		readIdentity(out, body.data)
		return body.err
	case out == nil:
		return nil
	}
	if err := decode(body.data, out); err != nil {
		return err
	}
	return checkID(out, wantID)
}

// isSuccess reports whether a response is a success of the API: a documented status, and a JSON object unless the
// status is 204.
func (c *call) isSuccess(resp *http.Response) bool {
	return slices.Contains(c.success, resp.StatusCode) &&
		(resp.StatusCode == http.StatusNoContent || bytes.HasPrefix(bytes.TrimSpace(bodyOf(resp).data), []byte("{")))
}

// send performs an operation and ignores the body of the response.
func (c *Client) send(ctx context.Context, req request) error {
	_, err := c.do(ctx, req, nil)
	return err
}

// fetch performs an operation and returns its result. With an error it returns the fields that could be decoded.
func fetch[T any](ctx context.Context, c *Client, req request) (T, error) {
	var out T
	_, err := c.do(ctx, req, &out)
	return out, err
}

func (c *Client) newHTTPRequest(ctx context.Context, path string, req request) (*http.Request, error) {
	var body io.Reader
	if req.body != nil {
		data, err := json.Marshal(req.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	httpRequest, err := http.NewRequestWithContext(ctx, req.method, c.base.String()+path, body)
	if err != nil {
		return nil, err
	}
	httpRequest.URL.RawQuery = req.query.Encode()
	if body != nil {
		httpRequest.Header.Set("Content-Type", "application/json")
	}
	httpRequest.Header.Set("Accept", "application/json")
	httpRequest.Header.Set("Accept-Language", c.language)
	httpRequest.Header.Set("User-Agent", c.userAgent)
	if c.apiKey != "" && req.auth != authNone {
		httpRequest.Header.Set("Authorization", "Bearer "+c.apiKey)
		// The API allows templates to be cached for a minute, in which a new template would be missing from the list.
		httpRequest.Header.Set("Cache-Control", "no-cache")
	}
	if req.idempotencyKey != "" {
		httpRequest.Header.Set("Idempotency-Key", req.idempotencyKey)
	}
	return httpRequest, nil
}

// checkID returns an error if a response has another id than the requested one.
func checkID(object any, want string) error {
	named, ok := object.(identified)
	if want == "" || !ok || named.identity() == want {
		return nil
	}
	return fmt.Errorf("the response has the id of another object: %s", named.identity())
}
