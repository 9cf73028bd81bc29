// Package rentaltest has a scripted transport, for tests of packages that use a client of the API without Terraform.
// [Transport] is an http.RoundTripper whose responses a test sets, and which records the requests:
//
//	api := new(rentaltest.Transport)
//	api.Script("GET /offers/*", rentaltest.Respond(200, offer))
//	api.Script("POST /instances", rentaltest.InTurn(rentaltest.Cut, rentaltest.Fail(409)))
//	client := rentaltest.Client(t, api)
//	...
//	n := len(api.Sent("POST /instances"))
//
// A pattern is a method and a path below the base URL, in which an asterisk is any part between two slashes. The last
// pattern that was set and that matches decides, so that a test can replace a response of its set-up. A request without
// a script is an error that the client reports.
//
// A response is any function of the request. It may change what the test observes, sleep, or wait for the end of the
// context. [Respond], [Fail], [Cut] and [InTurn] make the usual ones, and an [http.RoundTripper] can be one, too: its
// method RoundTrip is a function of the same type.
//
// [Service] is a transport that is set up for one instance: it is rented, started, stopped and destroyed, and reads
// return it, perhaps with a lag. Its field On sets how a request changes the instance, and Later changes it at a time.
// Everything else is scripted as above.
//
// Tests run in a synctest bubble ([Run], or synctest.Test with [Client]), so that waits of hours take no time.
// What needs the whole service, such as offers that others rent, prices that rise or the balance, is tested with the
// simulator instead, which simtest runs in a bubble.
package rentaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Transport is a scripted http.RoundTripper, see above. The zero value has no responses.
type Transport struct {
	lock   sync.Mutex
	script []scripted
	sent   []string // methods and paths
}

type scripted struct {
	pattern string
	respond Response
}

// Response returns the response to a request, or an error if the connection fails.
type Response func(req *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (r Response) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// Script sets the response to the requests that match a pattern.
func (t *Transport) Script(pattern string, respond Response) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.script = append(t.script, scripted{pattern, respond})
}

// Sent returns the methods and paths of the requests so far that match a pattern, in order; all without a pattern.
func (t *Transport) Sent(pattern string) []string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(t.sent), func(request string) bool {
		return pattern != "" && !matches(pattern, request)
	})
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	request := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/api/v1")
	t.lock.Lock()
	t.sent = append(t.sent, request)
	var respond Response
	for _, each := range t.script {
		if matches(each.pattern, request) {
			respond = each.respond
		}
	}
	t.lock.Unlock()
	if respond == nil {
		return nil, fmt.Errorf("no script for %s", request)
	}
	return respond(req)
}

func matches(pattern, request string) bool {
	matched, err := path.Match(pattern, request)
	return matched && err == nil
}

// Respond returns a status and a body, which becomes JSON.
func Respond(status int, body any) Response {
	return func(req *http.Request) (*http.Response, error) { return JSONResponse(req, status, body) }
}

// Fail returns an error of the API.
func Fail(status int) Response { return Respond(status, Failure(status)) }

// Cut cuts the connection.
func Cut(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// InTurn returns the responses to successive requests. The last one is for all later requests.
func InTurn(responses ...Response) Response {
	var lock sync.Mutex
	next := 0
	return func(req *http.Request) (*http.Response, error) {
		lock.Lock()
		respond := responses[next]
		next = min(next+1, len(responses)-1)
		lock.Unlock()
		return respond(req)
	}
}

// JSONResponse returns a response with a JSON body.
func JSONResponse(req *http.Request, status int, response any) (*http.Response, error) {
	body, err := json.Marshal(response)
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

// Failure returns the error of the API for a status.
func Failure(status int) any {
	code := map[int]string{
		401: "unauthorized", 402: "insufficient_funds", 403: "forbidden", 404: "not_found", 409: "conflict",
		422: "validation_error", 429: "rate_limited", 500: "internal", 503: "provider_unavailable",
	}[status]
	return map[string]any{"error": map[string]any{"code": code, "message": "no"}}
}

// Page returns a list of items on one page.
func Page(items ...any) any {
	return map[string]any{"data": append([]any{}, items...), "next_cursor": nil}
}

// Key is an API key.
var Key = "test" + strings.Repeat("0", 40)

// PublicKey is a line of a public key file.
const PublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop"

// ErrorName is the type of an error without its package; empty without an error.
func ErrorName(err error) string { return strings.TrimPrefix(path.Ext(fmt.Sprintf("%T", err)), ".") }

// Within returns a context that ends after some time.
func Within(t *testing.T, timeout time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// Client returns a client of a service with two retries.
func Client(t *testing.T, transport http.RoundTripper) *rental.Client {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: Key, Transport: transport, MaxRetries: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
