package contracttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// exchange is one request, held against the contract before the handler may
// change it, and what is needed to judge the response to it.
type exchange struct {
	doc   *document
	route *routers.Route // nil where the contract has no such operation
	input *openapi3filter.RequestValidationInput
	keyed bool // an Authorization header was sent

	broken []string // how the request violates the contract
	odd    []string // what the contract does not forbid a server to ignore, but our client must not send
}

func newExchange(doc *document, r *http.Request, body []byte) *exchange {
	x := &exchange{doc: doc, keyed: r.Header.Get("Authorization") != ""}
	// The base address is relative: whatever host the test server has is right.
	route, params, err := doc.router.FindRoute(r)
	if err != nil {
		x.broken = []string{err.Error()}
		return x
	}
	x.route = route
	x.input = &openapi3filter.RequestValidationInput{
		Request: &http.Request{
			Method:        r.Method,
			URL:           r.URL,
			Header:        r.Header,
			Body:          io.NopCloser(bytes.NewReader(body)),
			ContentLength: int64(len(body)),
		},
		PathParams: params,
		Route:      route,
		Options:    doc.options,
	}
	x.checkRequest(r, body)
	x.odd = append(oddQuery(r.URL.RawQuery, route), oddBody(body, route)...)
	return x
}

// id names the operation in messages.
func (x *exchange) id() string {
	if x.route == nil {
		return "no operation"
	}
	return x.route.Operation.OperationID
}

func (x *exchange) checkRequest(r *http.Request, body []byte) {
	if err := openapi3filter.ValidateRequest(r.Context(), x.input); err != nil {
		x.broken = append(x.broken, err.Error())
	} else if len(body) > 0 && !json.Valid(body) {
		// The decoder stops after the first value and misses what follows it.
		x.broken = append(x.broken, "the body is not one JSON value")
	}
}

// oddQuery reports query parameters that the operation does not have, has
// twice, or that only a lenient parser understands.
func oddQuery(raw string, route *routers.Route) []string {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return []string{fmt.Sprintf("query: %v", err)}
	}
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parameter := route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name)
		switch values := query[name]; {
		case parameter == nil:
			odd = append(odd, fmt.Sprintf("query parameter %q is not documented", name))
		case len(values) > 1:
			odd = append(odd, fmt.Sprintf("query parameter %q is sent %d times", name, len(values)))
		case parameter.Schema.Value.Type.Is(openapi3.TypeBoolean) && values[0] != "true" && values[0] != "false":
			odd = append(odd, fmt.Sprintf("query parameter %q is neither true nor false", name))
		}
	}
	return odd
}

// oddBody reports members of a body that the operation does not have.
func oddBody(body []byte, route *routers.Route) []string {
	if route.Operation.RequestBody == nil {
		return nil
	}
	media := route.Operation.RequestBody.Value.Content.Get("application/json")
	var members map[string]json.RawMessage
	if media == nil || json.Unmarshal(body, &members) != nil {
		return nil
	}
	var odd []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if media.Schema.Value.Properties[name] == nil {
			odd = append(odd, fmt.Sprintf("body field %q is not documented", name))
		}
	}
	return odd
}

// checkResponse returns how the response violates the contract.
func (x *exchange) checkResponse(ctx context.Context, status int, header http.Header, body []byte) []string {
	var broken []string
	if len(x.broken) > 0 && (status < 400 || status > 499) {
		broken = append(broken, fmt.Sprintf("status %d for a request that violates the contract (%s), want 4xx", status,
			x.broken[0]))
	}
	if x.route == nil {
		return append(broken, x.doc.checkError(header, body)...)
	}
	op := x.route.Operation
	if op.Extensions["x-scope"] != "public" && op.Extensions["x-scope"] != "optional" && !x.keyed && status < 400 {
		broken = append(broken, "a private operation was served without a key")
	}
	response := op.Responses.Status(status)
	if response == nil {
		return append(broken, fmt.Sprintf("status %d is not documented", status))
	}
	err := openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: x.input,
		Status:                 status,
		Header:                 header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                x.doc.options,
	})
	switch {
	case err != nil:
		broken = append(broken, err.Error())
	case len(response.Value.Content) == 0 && len(body) > 0:
		broken = append(broken, fmt.Sprintf("status %d has a body of %d bytes, want none", status, len(body)))
	case len(response.Value.Content) > 0 && !json.Valid(body):
		broken = append(broken, "the body is not one JSON value")
	}
	return broken
}

// checkError holds the answer to an operation that does not exist against the
// form that every error has.
func (d *document) checkError(header http.Header, body []byte) []string {
	media := d.errorContent.Get(header.Get("Content-Type"))
	if media == nil {
		return []string{fmt.Sprintf("Content-Type %q, want JSON", header.Get("Content-Type"))}
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{fmt.Sprintf("the body is not JSON: %v", err)}
	}
	if err := media.Schema.Value.VisitJSON(value, schemaOptions...); err != nil {
		return []string{err.Error()}
	}
	return nil
}
