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

// exchange is a request with its validation result. It is created before the handler can change the request.
type exchange struct {
	doc    *document
	route  *routers.Route // nil if the contract has no such operation
	input  *openapi3filter.RequestValidationInput
	hasKey bool // an Authorization header was sent

	violations   []string // contract violations of the request
	undocumented []string // what a server may ignore, but the client must not send
}

func newExchange(doc *document, r *http.Request, body []byte) *exchange {
	x := &exchange{doc: doc, hasKey: r.Header.Get("Authorization") != ""}
	// The base address is relative, so the host of the test server does not matter.
	route, params, err := doc.router.FindRoute(r)
	if err != nil {
		x.violations = []string{err.Error()}
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
	x.undocumented = append(undocumentedQuery(r.URL.RawQuery, route), undocumentedFields(body, route)...)
	return x
}

// operationID is the name of the operation in messages.
func (x *exchange) operationID() string {
	if x.route == nil {
		return "no operation"
	}
	return x.route.Operation.OperationID
}

func (x *exchange) checkRequest(r *http.Request, body []byte) {
	if err := openapi3filter.ValidateRequest(r.Context(), x.input); err != nil {
		x.violations = append(x.violations, err.Error())
	} else if len(body) > 0 && !json.Valid(body) {
		// The decoder stops after the first value and ignores the rest.
		x.violations = append(x.violations, "the body is not one JSON value")
	}
}

// undocumentedQuery reports unknown and repeated query parameters, and values that only a lenient parser accepts.
func undocumentedQuery(raw string, route *routers.Route) []string {
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

// undocumentedFields reports unknown members of a body.
func undocumentedFields(body []byte, route *routers.Route) []string {
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

// checkResponse returns the contract violations of a response.
func (x *exchange) checkResponse(ctx context.Context, status int, header http.Header, body []byte) []string {
	var broken []string
	if len(x.violations) > 0 && (status < 400 || status > 499) {
		broken = append(broken, fmt.Sprintf("status %d for a request that violates the contract (%s), want 4xx", status,
			x.violations[0]))
	}
	if x.route == nil {
		return append(broken, x.doc.checkError(status, body)...)
	}
	op := x.route.Operation
	if op.Extensions["x-scope"] != "public" && op.Extensions["x-scope"] != "optional" && !x.hasKey && status < 400 {
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

// checkError validates the response to an unknown operation. With a status of createInstance, which has most of them,
// it must be that error, and with another one, such as 405, it must be the error not_found.
func (d *document) checkError(status int, body []byte) []string {
	responses := d.Paths.Value("/instances").Post.Responses
	response := responses.Status(status)
	if response == nil {
		response = responses.Status(http.StatusNotFound)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{fmt.Sprintf("the body is not JSON: %v", err)}
	}
	schema := response.Value.Content.Get("application/json").Schema.Value
	if err := schema.VisitJSON(value, schemaOptions...); err != nil {
		return []string{err.Error()}
	}
	return nil
}
