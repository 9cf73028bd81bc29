// Package apidoc has the tables of the API document as Go values: operations, errors, fields, and values at the edges
// of all bounds. All of them are derived from openapi.json, so a new type or field is written only there. The package
// is for tests only.
package apidoc

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// Load returns a new copy of openapi.json. It fails if the document, an example or a default is not valid OpenAPI.
func Load() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(contract.Document())
	if err != nil {
		return nil, fmt.Errorf("load the contract: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return nil, fmt.Errorf("validate the contract: %w", err)
	}
	return doc, nil
}

// document is read-only.
var document = func() *openapi3.T {
	doc, err := Load()
	if err != nil {
		panic(err)
	}
	return doc
}()

// Operation is an operation of the API.
type Operation struct {
	ID     string
	Method string
	Path   string // relative to the base address
	Scope  string // scope of the API key; "public": no key is needed; "optional": a key may be sent
	Body   string // name of the schema of the request body, "" without a body
	// Response and Created are the names of the schemas of the responses 200 and 201, "" without one.
	Response, Created string
}

// Operations are all operations of the API, sorted by path and method.
var Operations = func() (all []Operation) {
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			o := Operation{ID: op.OperationID, Method: method, Path: path, Scope: fmt.Sprint(op.Extensions["x-scope"])}
			if op.RequestBody != nil {
				o.Body = schemaName(op.RequestBody.Value.Content.Get("application/json").Schema)
			}
			for status, name := range map[int]*string{200: &o.Response, 201: &o.Created} {
				if resp := op.Responses.Status(status); resp != nil {
					*name = schemaName(resp.Value.Content.Get("application/json").Schema)
				}
			}
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return all
}()

// Errors are the statuses of errors by code.
var Errors = func() map[string]int {
	all := map[string]int{}
	for _, item := range document.Paths.Map() {
		for _, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				for _, code := range Codes(response.Value) {
					all[code] = must(strconv.Atoi(status))
				}
			}
		}
	}
	return all
}()

// Codes returns the codes of an error response; none for other responses.
func Codes(response *openapi3.Response) []string {
	media := response.Content.Get("application/json")
	if media == nil || media.Schema.Value.Properties["error"] == nil {
		return nil
	}
	return texts(media.Schema.Value.Properties["error"].Value.Properties["code"].Value.Enum)
}

// Scopes are the scopes of API keys.
var Scopes = texts(document.Components.Schemas["Scope"].Value.Enum)

// schemaName returns the name of a schema that is a reference, "" for others.
func schemaName(ref *openapi3.SchemaRef) string {
	return strings.TrimPrefix(ref.Ref, "#/components/schemas/")
}

func texts(values []any) (all []string) {
	for _, value := range values {
		all = append(all, fmt.Sprint(value))
	}
	return all
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
